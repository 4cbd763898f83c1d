// The autotuners of a file. Private to the room.
#ifndef KERNELFLEET_COMMON_KERNEL_TUNERS_H_
#define KERNELFLEET_COMMON_KERNEL_TUNERS_H_

#include <string>
#include <vector>

#include "common/kernel/transform_rules.h"

namespace kernelfleet::kernel {

// One call that makes an autotuner, and the kernels that it decorates.
struct Tuner {
  NodeId call = kNoNode;
  // The list of configs; kNoNode: not to be seen.
  NodeId configs = kNoNode;
  // How many configs the list shows; -1: it is computed.
  int count = -1;
  // Arguments that the tuner zeroes or restores between trial runs.
  std::vector<std::string> restored;
  // They are computed.
  bool restored_unknown = false;
  std::vector<const Subject*> subjects;
};

// Triton's own, and projects' functions of that shape: "autotune" in the name
// and an argument `configs`.
std::vector<Tuner> FindTuners(const Draft& draft);

// Some decorator tunes the function, of whatever make.
bool IsTuned(const Subject& subject);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_TUNERS_H_
