// kernelfleet-server: parse, start, wait for a signal, stop.
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rpc/setup.h"
#include "server/flags.h"
#include "server/server.h"

namespace {

constexpr int kExitUsage = 2;
constexpr int kExitFailed = 3;
// A shutdown that takes longer is stuck; dying loses nothing acknowledged.
constexpr unsigned kShutdownSeconds = 14;

int Fail(const absl::Status& status, int code) {
  fmt::print(stderr, "kernelfleet-server: {}\n", kernelfleet::Text(status));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace kernelfleet;
  absl::StatusOr<server::Flags> flags = server::ParseFlags(argc, argv);
  if (!flags.ok()) return Fail(flags.status(), kExitUsage);
  if (!flags->say.empty()) return fmt::print("{}", flags->say), 0;
  SetLogLevel(flags->log_level);
  rpc::SetUpGrpc();

  // Blocked before any thread starts, so that only sigwait sees them.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  signal(SIGPIPE, SIG_IGN);

  auto server = server::Server::Start(flags->server);
  if (!server.ok()) return Fail(server.status(), kExitFailed);
  const rpc::Address& address = (*server)->address();
  LogInfo("listening on " + rpc::ToString(address));
  if (!flags->port_file.empty()) {
    const absl::Status written =
        WriteFileAtomic(flags->port_file, fmt::format("{}\n", address.port));
    if (!written.ok()) return Fail(written, kExitFailed);
  }
  int signal = 0;
  sigwait(&stop, &signal);
  LogInfo("shutting down", {{"signal", signal}});
  alarm(kShutdownSeconds);
  (*server)->Shutdown();
  LogInfo("stopped");
  return 0;
}
