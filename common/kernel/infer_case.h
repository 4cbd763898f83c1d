// One case from the evidence, under one set of assumptions. Private to the
// room.
#ifndef KERNELFLEET_COMMON_KERNEL_INFER_CASE_H_
#define KERNELFLEET_COMMON_KERNEL_INFER_CASE_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/kernel/infer_types.h"
#include "common/kernel/infer_uses.h"
#include "common/kernel/infer_values.h"

namespace kernelfleet::kernel {

// What one case assumes where the evidence leaves a choice.
struct Assumptions {
  // Elements of pointers to reals: empty for each by its own evidence.
  std::string_view real = {};
  std::string_view whole = "i32";
  // Flags that nothing sets.
  bool flags = false;
  // Optional pointers are None.
  bool none = false;
  // Tile sizes; 0: by the shape of the kernel.
  int tile = 0;
  // Of sizes that no tile has, in tiles.
  int size = 1;
  // Use the values of autotune configurations, launches and defaults.
  bool said = true;
  // Which of the literals that a parameter is compared with.
  size_t choice = 0;
  // Scalars without strong evidence are the other kind.
  bool flip = false;
};

struct Evidence {
  const InferRequest* request = nullptr;
  const Flow* flow = nullptr;
  Uses uses;
  std::vector<ParamTypes> types;
};

v1::CompileCase MakeCase(const Evidence& evidence, const Assumptions& assume);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_INFER_CASE_H_
