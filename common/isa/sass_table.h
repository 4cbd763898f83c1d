// SASS, what an NVIDIA GPU executes.
//
// One instruction is 16 bytes and prints as an address, an optional guard
// (@P0, @!UP2), a base mnemonic with modifiers between dots, and operands.
// Registers R are per thread, UR uniform over the warp; c[0x0][…] is the
// constant bank that holds the kernel's arguments. The base says the unit:
// LDG/STG global, LDS/STS shared, LDL/STL local (spills and stack), LDC and
// friends constants, LD/ST generic; the width is a modifier (.64, .128, .U8,
// .U16), 32 bits without one. LDGSTS copies global to shared past the
// registers; UTMALDG and UTMASTG are TMA, UBLKCP its plain form. Matrix units:
// HMMA and kin (one warp, registers), HGMMA and kin (four warps, sm_90a),
// UTC*MMA (sm_100, through tensor memory: LDTM, STTM, UTCCP).
// A kernel ends with EXIT, then a branch to itself and NOPs that nobody runs.
//
// Sources: NVIDIA's instruction set reference in the CUDA binary utilities
// manual (Volta to Blackwell), and what nvdisasm 13 prints for our own kernels
// on sm_80, 90, 100 and 120.
#ifndef KERNELFLEET_COMMON_ISA_SASS_TABLE_H_
#define KERNELFLEET_COMMON_ISA_SASS_TABLE_H_

#include <string_view>

#include "common/isa/meaning.h"

namespace kernelfleet::isa {

enum class SassWidth : uint8_t {
  kNone,
  // .U8 .S8 .U16 .S16 .64 .128 .256; 32 bits without one.
  kModifier,
  // LDSM.16.M88.4: that many registers.
  kMatrices,
  // LDTM.x64, LDTM.16dp256bit.x8.
  kTensorMemory,
};

struct SassRule {
  std::string_view base;
  Meaning meaning;
  SassWidth width = SassWidth::kNone;
};

// By base mnemonic, in the order of the alphabet (checked).
inline constexpr SassRule kSassRules[] = {
    {"ACQBULK", {.family = Family::kWait}},
    {"ATOM",
     {.space = Space::kGeneric, .direction = Direction::kAtomic},
     SassWidth::kModifier},
    {"ATOMG",
     {.space = Space::kGlobal, .direction = Direction::kAtomic},
     SassWidth::kModifier},
    {"ATOMS",
     {.space = Space::kShared, .direction = Direction::kAtomic},
     SassWidth::kModifier},
    {"BAR", {.family = Family::kBarrier}},
    {"BARRIER", {.family = Family::kBarrier}},
    {"BGMMA", {.family = Family::kWgmma}},
    {"BMMA", {.family = Family::kBmma}},
    {"BPT", {.family = Family::kTrap}},
    {"BRA", {.flow = Flow::kJump, .look = Look::kTarget}},
    {"BRX", {.flow = Flow::kIndirect}},
    {"BRXU", {.flow = Flow::kIndirect}},
    {"CALL",
     {.family = Family::kCall, .flow = Flow::kCall, .look = Look::kTarget}},
    {"CCTL", {.family = Family::kCacheControl}},
    {"CCTLL", {.family = Family::kCacheControl}},
    {"CREDUX", {.family = Family::kLaneExchange}},
    {"DEPBAR", {.family = Family::kWait}},
    {"DMMA", {.family = Family::kDmma}},
    {"ERRBAR", {.family = Family::kFence}},
    {"EXIT", {.flow = Flow::kExit}},
    {"FENCE", {.family = Family::kFence}},
    {"HGMMA", {.family = Family::kWgmma}},
    {"HMMA", {.family = Family::kHmma}},
    {"IDP", {.family = Family::kDot}},
    {"IGMMA", {.family = Family::kWgmma}},
    {"IMMA", {.family = Family::kImma}},
    {"JMP", {.flow = Flow::kJump, .look = Look::kTarget}},
    {"JMX", {.flow = Flow::kIndirect}},
    {"JMXU", {.flow = Flow::kIndirect}},
    {"KILL", {.flow = Flow::kExit}},
    {"LD", {.space = Space::kGeneric}, SassWidth::kModifier},
    {"LDC",
     {.space = Space::kConstant, .look = Look::kConstantBank},
     SassWidth::kModifier},
    {"LDCU",
     {.space = Space::kConstant, .look = Look::kConstantBank},
     SassWidth::kModifier},
    {"LDG", {.space = Space::kGlobal}, SassWidth::kModifier},
    {"LDGDEPBAR", {.family = Family::kAsyncGroup}},
    {"LDGMC",
     {.space = Space::kGlobal, .family = Family::kMulticast},
     SassWidth::kModifier},
    {"LDGSTS",
     {.space = Space::kGlobal,
      .direction = Direction::kAsyncCopy,
      .to_lds = true},
     SassWidth::kModifier},
    {"LDL", {.space = Space::kLocal, .spill = true}, SassWidth::kModifier},
    {"LDS", {.space = Space::kShared}, SassWidth::kModifier},
    {"LDSM", {.space = Space::kShared}, SassWidth::kMatrices},
    {"LDT", {.space = Space::kTensorMemory}, SassWidth::kTensorMemory},
    {"LDTM", {.space = Space::kTensorMemory}, SassWidth::kTensorMemory},
    {"MATCH", {.family = Family::kLaneExchange}},
    {"MEMBAR", {.family = Family::kFence}},
    {"OMMA", {.family = Family::kOmma}},
    {"QGMMA", {.family = Family::kWgmma}},
    {"QMMA", {.family = Family::kQmma}},
    {"RED",
     {.space = Space::kGeneric, .direction = Direction::kAtomic},
     SassWidth::kModifier},
    {"REDG",
     {.space = Space::kGlobal, .direction = Direction::kAtomic},
     SassWidth::kModifier},
    {"REDS",
     {.space = Space::kShared, .direction = Direction::kAtomic},
     SassWidth::kModifier},
    {"REDUX", {.family = Family::kLaneExchange}},
    {"RET", {.flow = Flow::kExit}},
    {"SHFL", {.family = Family::kLaneExchange}},
    {"ST",
     {.space = Space::kGeneric, .direction = Direction::kStore},
     SassWidth::kModifier},
    {"STAS",
     {.space = Space::kClusterShared, .direction = Direction::kAsyncCopy},
     SassWidth::kModifier},
    {"STG",
     {.space = Space::kGlobal, .direction = Direction::kStore},
     SassWidth::kModifier},
    {"STL",
     {.space = Space::kLocal, .direction = Direction::kStore, .spill = true},
     SassWidth::kModifier},
    {"STS",
     {.space = Space::kShared, .direction = Direction::kStore},
     SassWidth::kModifier},
    {"STSM",
     {.space = Space::kShared, .direction = Direction::kStore},
     SassWidth::kMatrices},
    {"STT",
     {.space = Space::kTensorMemory, .direction = Direction::kStore},
     SassWidth::kTensorMemory},
    {"STTM",
     {.space = Space::kTensorMemory, .direction = Direction::kStore},
     SassWidth::kTensorMemory},
    {"SYNCS", {.family = Family::kMbarrier}},
    {"UBLKCP", {.family = Family::kBulkCopy}},
    {"UBLKPF", {.family = Family::kPrefetch}},
    {"UBLKRED", {.family = Family::kTmaReduce}},
    {"UCGABAR_ARV", {.family = Family::kBarrierArrive}},
    {"UCGABAR_GET", {}},
    {"UCGABAR_SET", {}},
    {"UCGABAR_WAIT", {.family = Family::kBarrier}},
    {"ULDC",
     {.space = Space::kConstant, .look = Look::kConstantBank},
     SassWidth::kModifier},
    {"UREDGR",
     {.space = Space::kGlobal, .direction = Direction::kAtomic},
     SassWidth::kModifier},
    {"USETMAXREG", {.family = Family::kSetRegisters}},
    {"UTCATOMSWS", {.family = Family::kTmemAllocate}},
    {"UTCBAR", {.family = Family::kTmemCommit}},
    {"UTCCP",
     {.space = Space::kTensorMemory, .direction = Direction::kAsyncCopy}},
    {"UTCHMMA", {.family = Family::kTcgen05}},
    {"UTCIMMA", {.family = Family::kTcgen05}},
    {"UTCOMMA", {.family = Family::kTcgen05}},
    {"UTCQMMA", {.family = Family::kTcgen05}},
    {"UTCSHIFT", {}},
    {"UTMACCTL", {.family = Family::kCacheControl}},
    {"UTMACMDFLUSH", {.family = Family::kAsyncGroup}},
    {"UTMALDG", {.family = Family::kTmaLoad}},
    {"UTMAPF", {.family = Family::kPrefetch}},
    {"UTMAREDG", {.family = Family::kTmaReduce}},
    {"UTMASTG", {.family = Family::kTmaStore}},
    {"VOTE", {.family = Family::kVote}},
    {"VOTEU", {.family = Family::kVote}},
    {"WARPGROUP", {.family = Family::kWait}},
    {"WARPSYNC", {.look = Look::kTarget}},
};

struct SassWidthWord {
  std::string_view word;
  int bytes;
};
inline constexpr SassWidthWord kSassWidths[] = {
    {"U8", 1},   {"S8", 1},    {"U16", 2}, {"S16", 2}, {"64", 8},  {"128", 16},
    {"256", 32}, {"ENL2", 32}, {"F64", 8}, {"U64", 8}, {"S64", 8},
};

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_SASS_TABLE_H_
