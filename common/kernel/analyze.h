// From a Python file to what its Triton kernels do. Pure and thread-safe.
//
//   v1::SourceFacts facts = Analyze("softmax.py", text);
//   for (const v1::JitFunction& kernel : facts.kernels()) {
//     v1::Classification c = Classify(kernel);
//     fmt::print("{}: {}\n", kernel.name(), c.classification());
//   }
//
// Comments, strings and host code never count: what is reported was called by
// a jit function, under whatever name the file imported it.
#ifndef KERNELFLEET_COMMON_KERNEL_ANALYZE_H_
#define KERNELFLEET_COMMON_KERNEL_ANALYZE_H_

#include <string_view>

#include "kernelfleet/v1/kernel.pb.h"

namespace kernelfleet::kernel {

class Syntax;

// Finds every jit function of one file and describes it. Never fails: text
// that is not Python is listed in `problems` with line and column, and the
// functions around it are still found.
v1::SourceFacts Analyze(std::string_view file_name, std::string_view text);

// The same over a tree that the caller keeps, for edits and slices.
v1::SourceFacts Analyze(std::string_view file_name, const Syntax& syntax);

// The class of one function and why, from its facts.
v1::Classification Classify(const v1::JitFunction& kernel);

// All of a file, in file order.
v1::FileClassification ClassifyAll(const v1::SourceFacts& facts);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_ANALYZE_H_
