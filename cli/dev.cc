// A coordinator and an agent on this machine, in the foreground.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/interrupt.h"
#include "cli/server_address.h"
#include "cli/siblings.h"
#include "cli/verbs.h"
#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/base/subprocess.h"
#include "common/rpc/address.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--data-dir", "DIR", "Where everything is kept (the user's data folder)"},
    {"--listen", "HOST:PORT",
     "Loopback address of the coordinator (127.0.0.1:7411); port 0: any free "
     "one"},
    {"--python", "EXE", "Interpreter that has Triton (the active one)",
     Repeat::kYes},
    {"--slots", "N", "Compiles at once (the number of cores)"},
    {"--address-file", "FILE", "Write HOST:PORT here once it listens"},
};

constexpr absl::Duration kStartTime = absl::Seconds(30);
constexpr absl::Duration kStopTime = absl::Seconds(20);
constexpr absl::Duration kPoll = absl::Milliseconds(20);

absl::StatusOr<Process> StartChild(const std::string& name,
                                   std::vector<std::string> argv) {
  const std::optional<std::string> program = FindSibling(name);
  if (!program) {
    return FailedPrecondition(fmt::format(
        "{} is not beside this program: install or build it", name));
  }
  argv.insert(argv.begin(), *program);
  ProcessOptions options;
  options.argv = std::move(argv);
  Process::Streams streams;
  streams.out = STDERR_FILENO;
  streams.err = STDERR_FILENO;
  return Process::Start(options, streams);
}

std::string HowItEnded(const ProcessResult& result) {
  return result.signal != 0
             ? fmt::format("died of signal {}", result.signal)
             : fmt::format("ended with exit status {}", result.exit_status);
}

struct Child {
  std::string name;
  std::optional<Process> process;
  std::optional<ProcessResult> ended;

  bool running() const { return process && !ended; }
  void Reap(absl::Duration timeout) {
    if (running()) ended = process->Wait(timeout);
  }
  // TERM, then KILL for what does not listen.
  void Stop() {
    if (!running()) return;
    process->Signal(SIGTERM);
    Reap(kStopTime);
    if (!running()) return;
    process->Signal(SIGKILL);
    Reap(absl::InfiniteDuration());
  }
};

class Dev {
 public:
  Dev(const Arguments& args, Terminal& terminal)
      : args_(args),
        terminal_(terminal),
        stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    KF_CHECK(stop_.valid());
  }
  absl::StatusOr<Exit> Run();

 private:
  absl::Status StartServer();
  absl::Status StartAgent();
  absl::StatusOr<Exit> Wait();
  bool Stopped() const;

  const Arguments& args_;
  Terminal& terminal_;
  Fd stop_;
  std::string folder_;
  rpc::Address address_;
  Child server_ = {"kernelfleet-server", {}, {}};
  Child agent_ = {"kernelfleet-agent", {}, {}};
};

bool Dev::Stopped() const {
  struct pollfd poll_fd = {stop_.get(), POLLIN, 0};
  return ::poll(&poll_fd, 1, 0) > 0;
}

absl::Status Dev::StartServer() {
  const std::string port_file = JoinPath(folder_, "port");
  ::unlink(port_file.c_str());
  KF_ASSIGN_OR_RETURN(
      server_.process,
      StartChild(server_.name,
                 {"--listen", rpc::ToString(address_), "--data-dir",
                  JoinPath(folder_, "server"), "--port-file", port_file,
                  "--log-level", "warning"}));
  const absl::Duration deadline = RealClock().Steady() + kStartTime;
  while (!PathExists(port_file)) {
    server_.Reap(kPoll);
    if (Stopped()) return Error(absl::StatusCode::kCancelled, "stopped");
    if (server_.ended) {
      return Unavailable(
          fmt::format("{} {}", server_.name, HowItEnded(*server_.ended)));
    }
    if (RealClock().Steady() > deadline) {
      return Unavailable(fmt::format("{} does not listen after {}",
                                     server_.name,
                                     absl::FormatDuration(kStartTime)));
    }
  }
  KF_ASSIGN_OR_RETURN(const std::string text, ReadFile(port_file, 64));
  const std::optional<int64_t> port = ParseInt(Trim(text));
  if (!port) return Internal("the server wrote no port");
  address_.port = static_cast<int>(*port);
  return absl::OkStatus();
}

absl::Status Dev::StartAgent() {
  std::vector<std::string> argv = {
      "--server",        rpc::ToString(address_),
      "--data-dir",      JoinPath(folder_, "agent"),
      "--drain-seconds", "2",
      "--log-level",     "warning"};
  for (const std::string& python : args_.All("--python")) {
    argv.insert(argv.end(), {"--python", python});
  }
  if (args_.Has("--slots")) {
    argv.insert(argv.end(), {"--slots", args_.Get("--slots")});
  }
  KF_ASSIGN_OR_RETURN(agent_.process, StartChild(agent_.name, std::move(argv)));
  return absl::OkStatus();
}

absl::StatusOr<Exit> Dev::Wait() {
  while (server_.running() && agent_.running() && !Stopped()) {
    struct pollfd fds[3] = {{server_.process->pidfd(), POLLIN, 0},
                            {agent_.process->pidfd(), POLLIN, 0},
                            {stop_.get(), POLLIN, 0}};
    (void)::poll(fds, 3, -1);
    server_.Reap(absl::ZeroDuration());
    agent_.Reap(absl::ZeroDuration());
  }
  const Child* died = server_.ended  ? &server_
                      : agent_.ended ? &agent_
                                     : nullptr;
  // The agent first: it hands in what it has.
  agent_.Stop();
  server_.Stop();
  if (died == nullptr) {
    terminal_.Print("Stopped.\n");
    return Exit::kYes;
  }
  return Unavailable(fmt::format("{} {}; the other one was stopped", died->name,
                                 HowItEnded(*died->ended)));
}

absl::StatusOr<Exit> Dev::Run() {
  KF_ASSIGN_OR_RETURN(address_,
                      rpc::ParseAddress(args_.Get("--listen", kDefaultServer)));
  if (!rpc::IsLoopback(address_)) {
    return InvalidArgument(
        "dev listens on loopback only; run kernelfleet-server for others");
  }
  if (args_.Has("--data-dir")) {
    folder_ = args_.Get("--data-dir");
  } else {
    KF_ASSIGN_OR_RETURN(const std::string data, DataFolder());
    folder_ = JoinPath(data, "dev");
  }
  KF_RETURN_IF_ERROR(MakeDirectories(folder_));
  const Interrupt interrupt([this] {
    const uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
  });
  absl::Status status = StartServer();
  if (status.ok()) status = StartAgent();
  if (!status.ok()) {
    server_.Stop();
    if (status.code() == absl::StatusCode::kCancelled) return Exit::kYes;
    return status;
  }
  const std::string address = rpc::ToString(address_);
  terminal_.Print(
      fmt::format("Coordinator and agent are running; Ctrl-C stops both.\n"
                  "  listening on  {}\n  state in      {}\n",
                  address, Printable(folder_)));
  if (address != kDefaultServer) {
    terminal_.Print(
        fmt::format("  use it with   export KERNELFLEET_SERVER={}\n", address));
  }
  (void)terminal_.Flush();
  if (args_.Has("--address-file")) {
    const absl::Status written =
        WriteFileAtomic(args_.Get("--address-file"), address + "\n");
    if (!written.ok())
      terminal_.Say(fmt::format("kernelfleet: {}\n", Text(written)));
  }
  return Wait();
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  return Dev(args, terminal).Run();
}

}  // namespace

const Verb kDevVerb = {
    "dev",
    "",
    "Run a coordinator and an agent on this machine",
    kFlags,
    0,
    0,
    "Both run in the foreground, on loopback, until Ctrl-C. Jobs and results "
    "are kept\nin the data folder and are there again next time.",
    "  kernelfleet dev\n"
    "  kernelfleet dev --python .venv/bin/python3 --data-dir /tmp/fleet\n",
    &Run};

}  // namespace kernelfleet::cli
