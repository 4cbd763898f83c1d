// The parts of v1::SourceFacts, each from the tree and the flow. Private to
// the room.
#ifndef KERNELFLEET_COMMON_KERNEL_DESCRIBE_H_
#define KERNELFLEET_COMMON_KERNEL_DESCRIBE_H_

#include <string>

#include "common/kernel/flow.h"
#include "common/kernel/lanes.h"
#include "kernelfleet/v1/kernel.pb.h"

namespace kernelfleet::kernel {

// Source text of a node on one line, shortened.
std::string Quote(const Syntax& syntax, NodeId node);

void SetRange(const Syntax& syntax, NodeId node, v1::SourceRange* range);

// Decorators, autotune and heuristics.
void DescribeDecorators(const SourceFile& source, const Function& function,
                        v1::JitFunction& out);

// Accesses with their address expressions, and the arguments read and written.
void DescribeAccesses(const SourceFile& source, const Flow& flow,
                      const Lanes& lanes, v1::JitFunction& out);

// Operations and hints.
void DescribeCalls(const SourceFile& source, const Flow& flow,
                   v1::JitFunction& out);

// Host code that launches the kernels already in `out`.
void DescribeLaunches(const SourceFile& source, v1::SourceFacts& out);

// TorchInductor's metadata decorators.
void DescribeInductor(const SourceFile& source, v1::SourceFacts& out);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_DESCRIBE_H_
