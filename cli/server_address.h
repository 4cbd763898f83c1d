// Where the coordinator is: --server, then KERNELFLEET_SERVER, then `server`
// in the config file, then loopback.
#ifndef KERNELFLEET_CLI_SERVER_ADDRESS_H_
#define KERNELFLEET_CLI_SERVER_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cli/flags.h"

namespace kernelfleet::cli {

inline constexpr std::string_view kDefaultServer = "127.0.0.1:7411";

// INVALID_ARGUMENT for a config file that cannot be read, with its place. A
// config file that is not there is no error.
absl::StatusOr<std::string> FindServer(const Arguments& args);

// $XDG_CONFIG_HOME/kernelfleet/config.toml, else ~/.config/…; empty without
// either variable.
std::string ConfigPath();

// $XDG_DATA_HOME/kernelfleet, else ~/.local/share/kernelfleet.
absl::StatusOr<std::string> DataFolder();

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_SERVER_ADDRESS_H_
