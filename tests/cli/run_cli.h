// Runs the built `kernelfleet` as a user would.
#ifndef KERNELFLEET_TESTS_CLI_RUN_CLI_H_
#define KERNELFLEET_TESTS_CLI_RUN_CLI_H_

#include <map>
#include <string>
#include <vector>

#include "common/base/subprocess.h"

namespace kernelfleet::testing {

// Without a home, a config file or a server unless `environment` names them.
ProcessResult RunCli(std::vector<std::string> args,
                     std::map<std::string, std::string> environment = {});

// The folder of the built programs, and the root of the source tree.
std::string BinDir();
std::string SourceDir();

}  // namespace kernelfleet::testing

#endif  // KERNELFLEET_TESTS_CLI_RUN_CLI_H_
