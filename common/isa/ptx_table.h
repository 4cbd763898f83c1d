// PTX, NVIDIA's portable assembly.
//
// Statements end with ';', may span lines and may share one; Triton puts whole
// blocks of them between "begin inline asm" comments. A statement is an
// optional guard (@%p1), an operation with its modifiers between dots, and
// operands. Registers are virtual: nothing spills here, ld.local and st.local
// are the stack. State spaces: param (kernel arguments), global, shared (of
// the block, or of another one of the cluster), local, const; without one the
// address is generic. Widths multiply: ld.global.v4.b32 moves 16 bytes.
// Matrix units: mma.sync (warp, registers), wgmma (four warps, sm_90a),
// tcgen05 (sm_100, through tensor memory). cp.async copies to shared memory
// past the registers; cp.async.bulk.tensor is TMA.
//
// Source: the PTX ISA manual, 8.0 to 9.4, and what LLVM's NVPTX back end and
// Triton print for our own kernels on sm_80, 90, 100 and 120.
#ifndef KERNELFLEET_COMMON_ISA_PTX_TABLE_H_
#define KERNELFLEET_COMMON_ISA_PTX_TABLE_H_

#include <string_view>

#include "common/isa/meaning.h"

namespace kernelfleet::isa {

// How an operation says what it moves.
enum class PtxShape : uint8_t {
  // The meaning is all there is.
  kPlain,
  // A space, a vector and a type among the modifiers.
  kTyped,
  // The same, and .cas among the operations.
  kAtomic,
  // ldmatrix.x4: one register each.
  kMatrix,
  // mma.sync: the family follows the type.
  kMma,
  // tcgen05.ld.16x64b.x32.
  kTensorMemory,
};

struct PtxRule {
  // The operation's name, up to a dot, a colon or its end. The first that
  // fits.
  std::string_view name;
  Meaning meaning;
  PtxShape shape = PtxShape::kPlain;
};

inline constexpr PtxRule kPtxRules[] = {
    {"ld", {.space = Space::kGeneric}, PtxShape::kTyped},
    {"ldu", {.space = Space::kGeneric}, PtxShape::kTyped},
    {"st.async",
     {.space = Space::kClusterShared, .direction = Direction::kAsyncCopy},
     PtxShape::kTyped},
    {"st.bulk", {.space = Space::kShared, .direction = Direction::kStore}},
    {"st",
     {.space = Space::kGeneric, .direction = Direction::kStore},
     PtxShape::kTyped},
    {"atom",
     {.space = Space::kGeneric, .direction = Direction::kAtomic},
     PtxShape::kAtomic},
    {"red",
     {.space = Space::kGeneric, .direction = Direction::kAtomic},
     PtxShape::kAtomic},
    {"multimem.ld_reduce",
     {.space = Space::kGlobal, .family = Family::kMulticast},
     PtxShape::kTyped},
    {"multimem.st",
     {.space = Space::kGlobal,
      .direction = Direction::kStore,
      .family = Family::kMulticast},
     PtxShape::kTyped},
    {"multimem.red",
     {.space = Space::kGlobal,
      .direction = Direction::kAtomic,
      .family = Family::kMulticast},
     PtxShape::kAtomic},
    {"ldmatrix", {.space = Space::kShared}, PtxShape::kMatrix},
    {"stmatrix",
     {.space = Space::kShared, .direction = Direction::kStore},
     PtxShape::kMatrix},

    {"cp.async.bulk.prefetch", {.family = Family::kPrefetch}},
    {"cp.async.bulk.commit_group", {.family = Family::kAsyncGroup}},
    {"cp.async.bulk.wait_group", {.family = Family::kWait}},
    // Into shared memory or out of it: the first space named is the target.
    {"cp.async.bulk.tensor", {.family = Family::kTmaLoad}},
    {"cp.async.bulk", {.family = Family::kBulkCopy}},
    {"cp.reduce.async.bulk", {.family = Family::kTmaReduce}},
    {"cp.async.commit_group", {.family = Family::kAsyncGroup}},
    {"cp.async.wait_group", {.family = Family::kWait}},
    {"cp.async.wait_all", {.family = Family::kWait}},
    {"cp.async.mbarrier", {.family = Family::kMbarrier}},
    // Its width is its third operand; the reader fills it in.
    {"cp.async",
     {.space = Space::kGlobal,
      .direction = Direction::kAsyncCopy,
      .look = Look::kCopyBytes,
      .to_lds = true}},

    {"mma", {.family = Family::kHmma}, PtxShape::kMma},
    {"wmma.mma", {.family = Family::kWmma}},
    {"wmma.load", {}},
    {"wmma.store", {}},
    {"wgmma.mma_async", {.family = Family::kWgmma}},
    {"wgmma.fence", {.family = Family::kFence}},
    {"wgmma.commit_group", {.family = Family::kAsyncGroup}},
    {"wgmma.wait_group", {.family = Family::kWait}},
    {"tcgen05.mma", {.family = Family::kTcgen05}},
    {"tcgen05.ld", {.space = Space::kTensorMemory}, PtxShape::kTensorMemory},
    {"tcgen05.st",
     {.space = Space::kTensorMemory, .direction = Direction::kStore},
     PtxShape::kTensorMemory},
    {"tcgen05.cp",
     {.space = Space::kTensorMemory, .direction = Direction::kAsyncCopy}},
    {"tcgen05.alloc", {.family = Family::kTmemAllocate}},
    {"tcgen05.dealloc", {.family = Family::kTmemAllocate}},
    {"tcgen05.commit", {.family = Family::kTmemCommit}},
    {"tcgen05.wait", {.family = Family::kWait}},
    {"tcgen05.fence", {.family = Family::kFence}},

    {"shfl", {.family = Family::kLaneExchange}},
    {"redux", {.family = Family::kLaneExchange}},
    {"match", {.family = Family::kLaneExchange}},
    {"vote", {.family = Family::kVote}},
    {"mbarrier", {.family = Family::kMbarrier}},
    {"bar.arrive", {.family = Family::kBarrierArrive}},
    {"bar.warp", {}},
    {"bar", {.family = Family::kBarrier}},
    {"barrier.cluster.arrive", {.family = Family::kBarrierArrive}},
    {"barrier.cta.arrive", {.family = Family::kBarrierArrive}},
    {"barrier.arrive", {.family = Family::kBarrierArrive}},
    {"barrier", {.family = Family::kBarrier}},
    {"fence", {.family = Family::kFence}},
    {"membar", {.family = Family::kFence}},
    {"prefetch", {.family = Family::kPrefetch}},
    {"prefetchu", {.family = Family::kPrefetch}},
    {"applypriority", {.family = Family::kCacheControl}},
    {"discard", {.family = Family::kCacheControl}},
    {"setmaxnreg", {.family = Family::kSetRegisters}},
    {"dp4a", {.family = Family::kDot}},
    {"dp2a", {.family = Family::kDot}},

    {"bra", {.flow = Flow::kJump}},
    {"brx", {.flow = Flow::kIndirect}},
    {"call", {.family = Family::kCall}},
    {"ret", {.flow = Flow::kExit}},
    {"exit", {.flow = Flow::kExit}},
    {"trap", {.family = Family::kTrap, .flow = Flow::kExit}},
};

struct PtxSpace {
  std::string_view word;
  Space space;
};
// "shared::cta" and "param::entry" stand between one pair of dots.
inline constexpr PtxSpace kPtxSpaces[] = {
    {"global", Space::kGlobal},
    {"shared", Space::kShared},
    {"shared::cta", Space::kShared},
    {"shared::cluster", Space::kClusterShared},
    {"local", Space::kLocal},
    {"const", Space::kConstant},
    {"param", Space::kKernarg},
    {"param::entry", Space::kKernarg},
    // Of a call: neither memory nor an argument of the kernel.
    {"param::func", Space::kNone},
};

// The type that an mma multiplies, by its first input type.
struct PtxMmaType {
  std::string_view type;
  Family family;
};
inline constexpr PtxMmaType kPtxMmaTypes[] = {
    {"f64", Family::kDmma},  {"s8", Family::kImma},   {"u8", Family::kImma},
    {"s4", Family::kImma},   {"u4", Family::kImma},   {"b1", Family::kBmma},
    {"e4m3", Family::kQmma}, {"e5m2", Family::kQmma}, {"e3m2", Family::kQmma},
    {"e2m3", Family::kQmma}, {"e2m1", Family::kOmma},
};

// Registers per lane of one .x1 of a tensor-memory shape.
struct PtxTensorShape {
  std::string_view shape;
  int registers;
};
inline constexpr PtxTensorShape kPtxTensorShapes[] = {
    {"32x32b", 1},  {"16x64b", 1},   {"16x128b", 2},
    {"16x256b", 4}, {"16x32bx2", 1},
};

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_PTX_TABLE_H_
