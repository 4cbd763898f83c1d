// What the data flow says of each parameter: pointer or number, whole or real,
// and the elements behind a pointer. Private to the room.
#ifndef KERNELFLEET_COMMON_KERNEL_INFER_TYPES_H_
#define KERNELFLEET_COMMON_KERNEL_INFER_TYPES_H_

#include <string>
#include <vector>

#include "common/kernel/flow.h"

namespace kernelfleet::kernel {

// The kind of number a value is, as far as known.
enum class Number : uint8_t {
  kUnknown,
  kBool,
  kInt,
  kReal,
  kFp16,
  kBf16,
  kFp32
};

// How strongly the uses of a value ask for each kind; 0: not at all.
struct Wants {
  int integer = 0;
  int boolean = 0;
  int real = 0;
  // An operand of a function that takes fp32 alone.
  int fp32 = 0;
  // An operand of a dot, as it was loaded.
  int dot = 0;
  // Read or written by an atomic.
  int atomic = 0;
  // Made an address of its own.
  int address = 0;
  // Widened or narrowed by a cast beside the access.
  int cast = 0;
  // Line of the strongest, in the slice.
  int line = 0;
};

struct ParamTypes {
  bool pointer = false;
  bool descriptor = false;
  // Number of offsets of the descriptor's accesses.
  int descriptor_rank = 0;
  int pointer_line = 0;
  // Of the scalar itself, or of the elements behind the pointer.
  Wants wants;
  // What is stored through the pointer.
  Number stored = Number::kUnknown;
};

// For every parameter of the flow. `constants` says which numbers the constexpr
// parameters are.
std::vector<ParamTypes> FindTypes(const SourceFile& source, const Flow& flow,
                                  const std::vector<Number>& constants);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_INFER_TYPES_H_
