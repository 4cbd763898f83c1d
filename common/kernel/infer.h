// What to compile a kernel with when nobody said: argument types, constexpr
// values and options, from the source alone. Pure and thread-safe.
//
//   for (const v1::CompileCase& one : Infer({.slice = slice.text,
//                                            .kernel = &facts.kernels(0),
//                                            .launches = launches})) …
//
// Evidence, strongest first: annotations, data flow (what becomes an address,
// an index, an operand of a dot …), launches, autotune configurations,
// defaults, and last the name of a parameter.
#ifndef KERNELFLEET_COMMON_KERNEL_INFER_H_
#define KERNELFLEET_COMMON_KERNEL_INFER_H_

#include <string_view>
#include <vector>

#include "kernelfleet/v1/case.pb.h"
#include "kernelfleet/v1/kernel.pb.h"

namespace kernelfleet::kernel {

struct InferRequest {
  // A module with the kernel and all that it calls: Slice::text.
  std::string_view slice;
  // The kernel's facts from the user's file; its decorators count.
  const v1::JitFunction* kernel = nullptr;
  // Host code that launches it, from any file of the package.
  std::vector<const v1::Launch*> launches;
};

// Cases to try, best first; the others are for when one fails to compile. Every
// argument says in `guessed_from` what it was inferred from. Empty when the
// slice has no such kernel.
std::vector<v1::CompileCase> Infer(const InferRequest& request);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_INFER_H_
