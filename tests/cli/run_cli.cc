#include "tests/cli/run_cli.h"

#include <cstdlib>
#include <utility>

#include "common/base/check.h"
#include "common/base/file.h"

namespace kernelfleet::testing {
namespace {

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  KF_CHECK(value != nullptr);
  return value;
}

}  // namespace

std::string BinDir() { return Env("KERNELFLEET_BIN_DIR"); }
std::string SourceDir() { return Env("KERNELFLEET_SOURCE_DIR"); }

ProcessResult RunCli(std::vector<std::string> args,
                     std::map<std::string, std::string> environment) {
  ProcessOptions options;
  options.argv = std::move(args);
  options.argv.insert(options.argv.begin(), JoinPath(BinDir(), "kernelfleet"));
  options.environment = std::move(environment);
  // Port 1 is nobody's: what must not reach a server would say so.
  options.environment.emplace("KERNELFLEET_SERVER", "127.0.0.1:1");
  options.environment.emplace("HOME", "/nonexistent");
  options.environment.emplace("XDG_CONFIG_HOME", "");
  options.timeout = absl::Minutes(2);
  options.max_output_bytes = 8 << 20;
  absl::StatusOr<ProcessResult> result = RunProcess(options);
  KF_CHECK(result.ok());
  return *std::move(result);
}

}  // namespace kernelfleet::testing
