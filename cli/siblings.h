// The other programs of this installation.
#ifndef KERNELFLEET_CLI_SIBLINGS_H_
#define KERNELFLEET_CLI_SIBLINGS_H_

#include <optional>
#include <string>

namespace kernelfleet::cli {

// The program of that name in the folder of this executable; nothing when it
// is not there.
std::optional<std::string> FindSibling(const std::string& name);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_SIBLINGS_H_
