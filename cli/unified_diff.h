// The difference of two texts as `diff -u` prints it.
#ifndef KERNELFLEET_CLI_UNIFIED_DIFF_H_
#define KERNELFLEET_CLI_UNIFIED_DIFF_H_

#include <string>
#include <string_view>

namespace kernelfleet::cli {

// With three lines of context; empty when the texts are equal. Made for few
// differences: time and memory grow with their square.
std::string UnifiedDiff(std::string_view before, std::string_view after,
                        std::string_view before_name,
                        std::string_view after_name);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_UNIFIED_DIFF_H_
