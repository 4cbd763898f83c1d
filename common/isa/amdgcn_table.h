// AMD's instruction names, and Hygon's.
//
// A wave of 64 (GFX9, Hygon) or 32 (RDNA) lanes has scalar registers s0…,
// vector registers v0… and, on CDNA, accumulators a0…. The name's first part
// says which unit executes it:
//   s_        scalar: control flow, addresses, waits; s_load reads through the
//             scalar cache, nearly always kernel arguments
//   v_        vector arithmetic; v_mfma / v_smfmac (CDNA), v_wmma (RDNA, gfx12)
//             and v_mmac (Hygon, never called MFMA) are the matrix units
//   buffer_   vector memory through a 128-bit descriptor in s[n:n+3], offsets
//             of 32 bits, out of range is dropped; global_ takes 64-bit
//             addresses; flat_ lets the address decide; tbuffer_ converts types
//   scratch_  a lane's private memory (gfx94x and later; before that the
//             compiler spills with buffer_ through the scratch descriptor)
//   ds_       LDS, the shared memory of a work group
// GFX9 names widths in dwords (dword, dwordx2…), ubyte, sshort; RDNA 3 and
// later in bits (b32, b64, u8, i16) and calls LDS accesses load and store.
// Waits count outstanding memory: s_waitcnt on GFX9, s_wait_loadcnt and its
// kin on gfx12.
//
// Sources: LLVM's AMDGPU operand and instruction syntax pages for GFX9, 90a,
// 940, 10, 11, 12; names that LLVM 22 printed for our own kernels on gfx90a,
// 942, 950, 1201, 1250; Hygon's from assembly published by its users (gfx936,
// 938, 946).
#ifndef KERNELFLEET_COMMON_ISA_AMDGCN_TABLE_H_
#define KERNELFLEET_COMMON_ISA_AMDGCN_TABLE_H_

#include <string_view>

#include "common/isa/meaning.h"

namespace kernelfleet::isa {

struct PrefixRule {
  std::string_view prefix;
  Meaning meaning;
};

// The first prefix that fits decides.
inline constexpr PrefixRule kScalarRules[] = {
    {"s_load_", {.space = Space::kConstant, .look = Look::kScalarLoad}},
    {"s_buffer_load_", {.space = Space::kConstant, .look = Look::kScalarWrite}},
    {"s_buffer_store_",
     {.space = Space::kConstant, .direction = Direction::kStore}},
    {"s_store_", {.space = Space::kConstant, .direction = Direction::kStore}},
    {"s_scratch_load_",
     {.space = Space::kScratch, .look = Look::kScalarWrite, .spill = true}},
    {"s_scratch_store_",
     {.space = Space::kScratch, .direction = Direction::kStore, .spill = true}},
    {"s_buffer_atomic_",
     {.space = Space::kConstant, .direction = Direction::kAtomic}},
    {"s_atomic_", {.space = Space::kConstant, .direction = Direction::kAtomic}},
    {"s_mov_b32", {.look = Look::kScalarCopy}},
    {"s_mov_b64", {.look = Look::kScalarCopy}},
    {"s_branch", {.flow = Flow::kJump}},
    {"s_cbranch_", {.flow = Flow::kBranch}},
    {"s_subvector_loop_", {.flow = Flow::kBranch}},
    {"s_endpgm", {.flow = Flow::kExit}},
    {"s_setpc_b64", {.flow = Flow::kExit}},
    {"s_rfe_", {.flow = Flow::kExit}},
    {"s_swappc_b64", {.family = Family::kCall, .flow = Flow::kCall}},
    {"s_call_b64", {.family = Family::kCall, .flow = Flow::kCall}},
    // Waits for the arithmetic pipeline, not for memory.
    {"s_wait_alu", {}},
    {"s_waitcnt", {.family = Family::kWait}},
    {"s_wait_", {.family = Family::kWait}},
    {"s_barrier_signal", {.family = Family::kBarrierArrive}},
    {"s_barrier_init", {}},
    {"s_barrier", {.family = Family::kBarrier}},
    // Hygon.
    {"s_abarrier_", {.family = Family::kBarrier}},
    {"s_ebarrier_", {.family = Family::kBarrier}},
    {"s_set_vgpr_size", {.family = Family::kSetRegisters}},
    {"s_alloc_vgpr", {.family = Family::kSetRegisters}},
    {"s_prefetch_", {.family = Family::kPrefetch}},
    {"s_dcache_", {.family = Family::kCacheControl}},
    {"s_icache_", {.family = Family::kCacheControl}},
    {"s_gl1_inv", {.family = Family::kCacheControl}},
    {"s_trap", {.family = Family::kTrap}},
    // Their first operand is read.
    {"s_cmp", {}},
    {"s_bitcmp", {}},
    {"s_", {.look = Look::kScalarWrite}},
};

inline constexpr PrefixRule kVectorRules[] = {
    {"v_mfma_", {.family = Family::kMfma}},
    {"v_smfmac_", {.family = Family::kMfma}},
    // Hygon, with v_mmac_scale_.
    {"v_mmac_", {.family = Family::kMmac}},
    {"v_wmma_", {.family = Family::kWmma}},
    {"v_swmmac_", {.family = Family::kWmma}},
    {"v_accvgpr_", {.family = Family::kAccMove}},
    {"v_permlane", {.family = Family::kLaneExchange}},
    {"v_readlane_",
     {.family = Family::kLaneExchange, .look = Look::kScalarWrite}},
    {"v_readfirstlane_", {.look = Look::kScalarWrite}},
    {"v_cmp_", {.look = Look::kScalarWrite}},
    {"v_dot", {.family = Family::kDot}},
    {"v_pk_mov", {}},
    {"v_pk_", {.family = Family::kPacked}},
    {"v_", {}},
};

// What stands behind buffer_, tbuffer_, global_, flat_, scratch_, cluster_.
inline constexpr PrefixRule kVectorMemoryRules[] = {
    {"load_async_", {.direction = Direction::kAsyncCopy}},
    {"store_async_", {.direction = Direction::kAsyncCopy}},
    {"load_", {.direction = Direction::kLoad}},
    {"store_", {.direction = Direction::kStore}},
    {"atomic_cmpswap",
     {.direction = Direction::kAtomic, .family = Family::kCompareSwap}},
    {"atomic_fcmpswap",
     {.direction = Direction::kAtomic, .family = Family::kCompareSwap}},
    {"atomic_", {.direction = Direction::kAtomic}},
};

// Cache maintenance has the same first part, but moves no data.
inline constexpr PrefixRule kCacheRules[] = {
    {"buffer_wb", {.family = Family::kCacheControl}},
    {"buffer_inv", {.family = Family::kCacheControl}},
    {"buffer_gl", {.family = Family::kCacheControl}},
    {"global_wb", {.family = Family::kCacheControl}},
    {"global_inv", {.family = Family::kCacheControl}},
    {"global_prefetch_", {.family = Family::kPrefetch}},
    {"flat_prefetch_", {.family = Family::kPrefetch}},
};

inline constexpr PrefixRule kSpaceRules[] = {
    {"buffer_", {.space = Space::kBuffer, .look = Look::kBufferOperands}},
    {"tbuffer_", {.space = Space::kBuffer, .look = Look::kBufferOperands}},
    {"global_", {.space = Space::kGlobal}},
    {"flat_", {.space = Space::kFlat}},
    {"scratch_", {.space = Space::kScratch, .spill = true}},
    // gfx1250: one load answers all blocks of a cluster.
    {"cluster_", {.space = Space::kGlobal, .family = Family::kMulticast}},
};

// What stands behind ds_. Anything else there is an LDS atomic.
inline constexpr PrefixRule kSharedRules[] = {
    {"bpermute", {.family = Family::kLaneExchange}},
    {"permute", {.family = Family::kLaneExchange}},
    {"swizzle", {.family = Family::kLaneExchange}},
    {"nop", {}},
    {"gws_", {.family = Family::kBarrier}},
    {"bvh_", {}},
    // Hygon.
    {"scale_copy", {}},
    {"atomic_async_barrier", {.family = Family::kMbarrier}},
    {"atomic_barrier", {.family = Family::kMbarrier}},
    {"read", {.space = Space::kShared}},
    {"load", {.space = Space::kShared}},
    {"write", {.space = Space::kShared, .direction = Direction::kStore}},
    {"storexchg", {.space = Space::kShared, .direction = Direction::kAtomic}},
    {"store", {.space = Space::kShared, .direction = Direction::kStore}},
    {"cmpst",
     {.space = Space::kShared,
      .direction = Direction::kAtomic,
      .family = Family::kCompareSwap}},
    {"", {.space = Space::kShared, .direction = Direction::kAtomic}},
};

inline constexpr PrefixRule kOtherRules[] = {
    {"tensor_load", {.family = Family::kTensorLoad}},
    {"tensor_store", {.family = Family::kTensorStore}},
    // Hygon: whole matrix tiles.
    {"matrix_load_", {.family = Family::kMatrixLoad}},
    {"matrix_store_", {.family = Family::kMatrixStore}},
    {"multimem_", {.family = Family::kMulticast}},
    {"image_", {}},
    {"exp", {}},
    {"export_", {}},
    {"lds_", {}},
};

// Words of a name, between underscores, that say how wide it is. The first
// one counts: ds_read_b64_tr_b16 reads 8 bytes.
struct WidthWord {
  std::string_view word;
  int bytes;
};
inline constexpr WidthWord kWidthWords[] = {
    {"dword", 4},
    {"dwordx2", 8},
    {"dwordx3", 12},
    {"dwordx4", 16},
    {"dwordx8", 32},
    {"dwordx16", 64},
    {"b8", 1},
    {"b16", 2},
    {"b32", 4},
    {"b64", 8},
    {"b96", 12},
    {"b128", 16},
    {"b192", 24},
    {"b256", 32},
    {"b512", 64},
    {"u8", 1},
    {"i8", 1},
    {"u16", 2},
    {"i16", 2},
    {"u32", 4},
    {"i32", 4},
    {"u64", 8},
    {"i64", 8},
    {"f32", 4},
    {"f64", 8},
    {"f16", 4},
    {"bf16", 4},
    {"ubyte", 1},
    {"sbyte", 1},
    {"byte", 1},
    {"ushort", 2},
    {"sshort", 2},
    {"short", 2},
    {"x2", 8},
    // Formatted accesses: components of 32 bits, or of 16 with d16.
    {"x", 4},
    {"xy", 8},
    {"xyz", 12},
    {"xyzw", 16},
};

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_AMDGCN_TABLE_H_
