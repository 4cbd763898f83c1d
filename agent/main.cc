// kernelfleet-agent: parse, run until a signal, drain.
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <cstdio>

#include "agent/agent.h"
#include "agent/flags.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rpc/setup.h"

namespace {

constexpr int kExitUsage = 2;
constexpr int kExitFailed = 3;

int Fail(const absl::Status& status, int code) {
  fmt::print(stderr, "kernelfleet-agent: {}\n", kernelfleet::Text(status));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace kernelfleet;
  const absl::StatusOr<agent::Flags> flags = agent::ParseFlags(argc, argv);
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
  if (const absl::Status status = agent::RunAgent(*flags); !status.ok()) {
    return Fail(status, kExitFailed);
  }
  return 0;
}
