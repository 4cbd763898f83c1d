// The shipped kernelfleet-server as a child process on a loopback port.
#ifndef KERNELFLEET_TESTS_SUPPORT_SERVER_PROCESS_H_
#define KERNELFLEET_TESTS_SUPPORT_SERVER_PROCESS_H_

#include <signal.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/base/subprocess.h"
#include "common/rpc/address.h"

namespace kernelfleet::testing {

// Killed by its destructor. Its log goes to our standard error.
class ServerProcess {
 public:
  // Returns once the server listens. Port 0: any. Start it on the thread that
  // outlives it: the child dies with that thread.
  static absl::StatusOr<ServerProcess> Start(
      const std::string& binary, const std::string& data_dir, int port = 0,
      const std::vector<std::string>& more = {}) {
    const std::string port_file = data_dir + ".port";
    ::unlink(port_file.c_str());
    ProcessOptions options;
    options.argv = {binary,
                    "--data-dir",
                    data_dir,
                    "--port-file",
                    port_file,
                    "--listen",
                    rpc::ToString({"127.0.0.1", port})};
    options.argv.insert(options.argv.end(), more.begin(), more.end());
    KF_ASSIGN_OR_RETURN(Process process,
                        Process::Start(options, {.err = STDERR_FILENO}));
    const absl::Duration give_up = RealClock().Steady() + absl::Seconds(60);
    while (RealClock().Steady() < give_up) {
      if (process.Wait(absl::Milliseconds(1))) {
        return Unavailable("the server ended before it listened");
      }
      const absl::StatusOr<std::string> text = ReadFile(port_file);
      if (!text.ok()) continue;
      const auto number = ParseInt(Trim(*text));
      if (!number) return Internal("the port file holds no number");
      return ServerProcess(std::move(process), static_cast<int>(*number));
    }
    return Error(absl::StatusCode::kDeadlineExceeded,
                 "the server never listened");
  }

  rpc::Address address() const { return {"127.0.0.1", port_}; }
  pid_t pid() const { return process_.pid(); }

  void Kill() {
    process_.Signal(SIGKILL);
    (void)process_.Wait(absl::InfiniteDuration());
  }

  // SIGTERM. The exit status, or -1 if it still runs after `patience`.
  int Stop(absl::Duration patience = absl::Seconds(15)) {
    process_.Signal(SIGTERM);
    const auto result = process_.Wait(patience);
    return result ? result->exit_status : -1;
  }

 private:
  ServerProcess(Process process, int port)
      : process_(std::move(process)), port_(port) {}
  Process process_;
  int port_;
};

}  // namespace kernelfleet::testing

#endif  // KERNELFLEET_TESTS_SUPPORT_SERVER_PROCESS_H_
