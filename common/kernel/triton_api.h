// What each function of Triton's language does to its operands, as a table.
#ifndef KERNELFLEET_COMMON_KERNEL_TRITON_API_H_
#define KERNELFLEET_COMMON_KERNEL_TRITON_API_H_

#include <cstdint>
#include <string_view>

namespace kernelfleet::kernel {

enum class Effect : uint8_t {
  kUnknown,
  kLoad,
  kStore,
  kAtomic,
  // Compare-and-swap and exchange: synchronisation, not combining.
  kAtomicSync,
  kDot,
  kReduce,
  // A whole row normalised by one call (tl.softmax).
  kNormalize,
  kScan,
  // Moves values between lanes: sort, topk, gather, flip.
  kPermuteLanes,
  kHistogram,
  kArange,
  kFull,
  kProgramId,
  kElementwise,
  kWhere,
  kCast,
  // Same values, other shape.
  kReshape,
  kTranspose,
  kBroadcastTo,
  kExpandDims,
  kJoin,
  kHint,
  kRandom,
  kDebug,
  kBarrier,
  kInlineAsm,
  kMakeBlockPointer,
  kAdvance,
  kMakeDescriptor,
  kRange,
  // A compile-time value: dtypes, cdiv, constexpr.
  kStatic,
  kLibdevice,
};

// The effect of a canonical path ("triton.language.dot", "libdevice.tanh",
// "triton_helpers.max2"); kUnknown for what is not Triton's.
Effect EffectOfPath(std::string_view path);

// The effect of a method called on a tensor, pointer or descriptor value:
// x.sum(0), desc.load([...]); kUnknown for no such method.
Effect EffectOfMethod(std::string_view name);

// The effect of a bare name in triton.language, wherever it came from.
Effect EffectOfName(std::string_view name);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_TRITON_API_H_
