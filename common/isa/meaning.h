// The one vocabulary that all dialects are reduced to.
//
// A Meaning says what one instruction does: which memory it touches, in which
// direction, how many bytes per lane, and which family it belongs to beside
// that. The tables (ptx_table.h, sass_table.h, amdgcn_table.h) map mnemonics
// to Meanings; nothing after them knows how an instruction is spelled.
#ifndef KERNELFLEET_COMMON_ISA_MEANING_H_
#define KERNELFLEET_COMMON_ISA_MEANING_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernelfleet::isa {

enum class Space : uint8_t {
  kNone,
  kGlobal,
  // AMD: through a resource descriptor, bounds-checked by the hardware.
  kBuffer,
  // AMD: the address decides between global, LDS and scratch.
  kFlat,
  kShared,
  // NVIDIA: shared memory of another block of the cluster.
  kClusterShared,
  // AMD: a lane's private memory.
  kScratch,
  kConstant,
  kKernarg,
  // NVIDIA: the address decides.
  kGeneric,
  // NVIDIA: a thread's private memory.
  kLocal,
  kTensorMemory,
};

enum class Direction : uint8_t { kLoad, kStore, kAtomic, kAsyncCopy };

enum class Family : uint8_t {
  kNone,
  // Matrix units, most specific name first: see IsMatrix.
  kMfma,
  kMmac,
  kWmma,
  kHmma,
  kImma,
  kDmma,
  kBmma,
  kQmma,
  kOmma,
  kWgmma,
  kTcgen05,
  // Moves between memory and shared memory by a copy engine.
  kTmaLoad,
  kTmaStore,
  kTmaReduce,
  kBulkCopy,
  kTensorLoad,
  kTensorStore,
  kMatrixLoad,
  kMatrixStore,
  // Atomics and lanes.
  kCompareSwap,
  kCasLoop,
  kLaneExchange,
  kVote,
  kMulticast,
  // Order.
  kBarrier,
  kBarrierArrive,
  kMbarrier,
  kWait,
  kFence,
  kCacheControl,
  kPrefetch,
  kAsyncGroup,
  // Registers and special memory.
  kAccMove,
  kTmemAllocate,
  kTmemCommit,
  kSetRegisters,
  kPacked,
  kDot,
  kCall,
  kTrap,
};
inline constexpr size_t kFamilies = static_cast<size_t>(Family::kTrap) + 1;

// How control leaves an instruction.
enum class Flow : uint8_t {
  kNext,
  // To its target only.
  kJump,
  // To its target or the next.
  kBranch,
  // To the next, after a routine of the same text ran.
  kCall,
  // To a table of targets.
  kIndirect,
  kExit,
};

// What else the dialect must read from the operands; private to the dialect.
enum class Look : uint8_t {
  kNothing,
  kBufferOperands,
  kScalarLoad,
  kScalarWrite,
  kScalarCopy,
  kConstantBank,
  kCopyBytes,
  kTarget,
};

struct Meaning {
  Space space = Space::kNone;
  Direction direction = Direction::kLoad;
  Family family = Family::kNone;
  Flow flow = Flow::kNext;
  Look look = Look::kNothing;
  bool d16 = false;
  bool to_lds = false;
  bool spill = false;
  // Bytes per lane; 0: not said.
  uint16_t bytes = 0;
  // False: not an instruction of this dialect.
  bool known = true;

  friend bool operator==(const Meaning&, const Meaning&) = default;
};
inline constexpr Meaning kUnknownInstruction{.known = false};

// The words of isa.proto.
std::string_view NameOf(Space space);
std::string_view NameOf(Direction direction);
std::string_view NameOf(Family family);

constexpr bool IsMatrix(Family family) {
  return family >= Family::kMfma && family <= Family::kTcgen05;
}

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_MEANING_H_
