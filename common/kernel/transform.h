// Rewrites a Python file so that its Triton kernels are tuned for the TileIR
// backend, with the smallest edits. Pure and thread-safe.
//
//   v1::TransformResult result = Transform("softmax.py", text, {});
//   for (const v1::Change& change : result.changes_declined()) …
//
// Promises: everything outside the edits is kept byte for byte; a second run
// changes nothing; the result parses; on stock Triton each kernel keeps its
// configs, in their order, and no driver is asked. docs/tileir-rules.md lists
// the rules.
#ifndef KERNELFLEET_COMMON_KERNEL_TRANSFORM_H_
#define KERNELFLEET_COMMON_KERNEL_TRANSFORM_H_

#include <string>
#include <string_view>

#include "kernelfleet/v1/transform.pb.h"

namespace kernelfleet::kernel {

struct TransformOptions {
  // Only this jit function; empty: all.
  std::string kernel;
  // Give an autotuner to kernels without one, where every launch in the file
  // allows it.
  bool add_autotuner = false;
  // Write tl.sigmoid out, for builds of Triton that lack it. Same numbers.
  bool expand_sigmoid = false;
  // exp(x) as exp2(x · log2 e). The numbers change.
  bool fold_exp2 = false;
};

// Never fails: a file that cannot be edited (not UTF-8, not Python) comes back
// as it is, with the reason among the declined changes.
v1::TransformResult Transform(std::string_view file_name, std::string_view text,
                              const TransformOptions& options);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_TRANSFORM_H_
