#include "zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "processes.h"
#include "python_host.h"

namespace kernelfleet::runner {
namespace {

constexpr size_t kMaxLine = 128 << 10;
constexpr double kStopPatience = 15;

}  // namespace

Zygote::Zygote(int commands, int events, Worker worker)
    : commands_(commands), events_(events), worker_(std::move(worker)) {
  AdoptOrphans();
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void Zygote::Emit(const std::string& event) {
  const std::string line = event + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t size =
        ::write(events_, line.data() + done, line.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      stopping_ = true;  // Nobody listens any more.
      return;
    }
    done += static_cast<size_t>(size);
  }
}

void Zygote::Serve() {
  ForkKeeper();
  while (!stopping_) WaitForEvents();
  Stop();
}

// The next attempt's keeper and worker are forked while nobody waits for them.
void Zygote::ForkKeeper() {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    return;
  }
  BeforeFork();
  const pid_t pid = ::fork();
  if (pid == 0) RunKeeper(sockets[1]);
  AfterForkInParent();
  ::close(sockets[1]);
  if (pid < 0) {
    ::close(sockets[0]);
    return;
  }
  keepers_[pid].socket = sockets[0];
  spare_ = pid;
}

// In the keeper's process: waits for the command, keeps one attempt, tells.
void Zygote::RunKeeper(int socket) {
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, 0);
  ::dup2(null, 1);
  CloseDescriptors(socket);
  const auto send = [socket](const std::string& event) {
    ::send(socket, event.data(), event.size(), MSG_NOSIGNAL);
  };
  Keeper keeper(socket, [this](const AttemptSpec& spec) {
    AfterForkInChild();
    return worker_(spec);
  });
  std::string line(kMaxLine, '\0');
  const ssize_t size = ::recv(socket, line.data(), line.size(), 0);
  line.resize(size > 0 ? static_cast<size_t>(size) : 0);
  const std::optional<Json> command = Json::Parse(line);
  // The zygote has stopped; the worker sees its socket close and ends.
  if (!command) ::_exit(0);
  const AttemptSpec spec = SpecFromCommand(*command);
  send(JsonObject()
           .Add("event", "started")
           .Add("id", spec.id)
           .Add("pid", int64_t{keeper.worker()})
           .text());
  const AttemptEnd end = keeper.Run(spec);
  SettleResult(spec, end);
  send(EndedEvent(spec.id, end));
  ::_exit(0);
}

void Zygote::WaitForEvents() {
  std::vector<pollfd> fds = {{commands_, POLLIN, 0}, {signals_, POLLIN, 0}};
  std::vector<pid_t> owners;
  for (const auto& [pid, kept] : keepers_) {
    fds.push_back({kept.socket, POLLIN, 0});
    owners.push_back(pid);
  }
  if (::poll(fds.data(), fds.size(), -1) <= 0) return;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (fds[i + 2].revents) Relay(owners[i]);
  }
  // By the signals read, not by what poll saw: one may come in between, and
  // is gone once it is read.
  bool child_ended = false;
  signalfd_siginfo info;
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    (info.ssi_signo == SIGCHLD ? child_ended : stopping_) = true;
  }
  if (child_ended) {
    ReapEnded(
        [this](pid_t pid, int status, const rusage&) { Reap(pid, status); });
  }
  if (fds[0].revents) ReadCommands();
}

void Zygote::ReadCommands() {
  char buffer[16 << 10];
  const ssize_t size = ::read(commands_, buffer, sizeof buffer);
  if (size < 0 && errno == EINTR) return;
  if (size <= 0) {
    stopping_ = true;
    return;
  }
  unread_.append(buffer, static_cast<size_t>(size));
  for (size_t end; (end = unread_.find('\n')) != std::string::npos;) {
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    Obey(line);
  }
  if (unread_.size() <= kMaxLine) return;
  Emit(JsonObject()
           .Add("event", "refused")
           .Add("message", "a command longer than 128 KiB")
           .text());
  stopping_ = true;
}

void Zygote::Obey(const std::string& line) {
  const std::optional<Json> command = Json::Parse(line);
  const std::string op = command ? (*command)["op"].AsString() : "";
  if (op == "run") {
    Start(*command, line);
  } else if (op == "cancel") {
    Cancel(*command, line);
  } else if (op == "exit") {
    stopping_ = true;
  } else {
    Emit(JsonObject()
             .Add("event", "refused")
             .Add("id", command ? (*command)["id"].AsString() : "")
             .Add("message", "not a command: " + line.substr(0, 200))
             .text());
  }
}

void Zygote::Start(const Json& command, const std::string& line) {
  const AttemptSpec spec = SpecFromCommand(command);
  std::string problem;
  if (spec.id.empty() || spec.dir.empty() || spec.dir[0] != '/') {
    problem = "run needs an id and an absolute dir";
  } else if (line.size() > kMaxLine) {
    problem = "a command longer than 128 KiB";
  } else if (spare_ < 0) {
    ForkKeeper();
    if (spare_ < 0) problem = "cannot fork";
  }
  if (!problem.empty()) {
    Emit(JsonObject()
             .Add("event", "refused")
             .Add("id", spec.id)
             .Add("message", problem)
             .text());
    return;
  }
  Kept& kept = keepers_[spare_];
  kept.spec = spec;
  ::send(kept.socket, line.data(), line.size(), MSG_NOSIGNAL);
  spare_ = -1;
  ForkKeeper();
}

void Zygote::Cancel(const Json& command, const std::string& line) {
  const std::string id = command["id"].AsString();
  for (auto& [pid, kept] : keepers_) {
    if (!id.empty() && kept.spec.id == id) {
      ::send(kept.socket, line.data(), line.size(), MSG_NOSIGNAL);
    }
  }
}

// Passes the keeper's events on as they are.
void Zygote::Relay(pid_t keeper) {
  const auto it = keepers_.find(keeper);
  if (it == keepers_.end()) return;
  char event[4096];
  const ssize_t size =
      ::recv(it->second.socket, event, sizeof event, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    // Stop polling it; SIGCHLD says how it ended.
    ::close(std::exchange(it->second.socket, -1));
    return;
  }
  const std::string text(event, static_cast<size_t>(size));
  const auto parsed = Json::Parse(text);
  it->second.ended |= parsed && (*parsed)["event"].AsString() == "ended";
  Emit(text);
}

void Zygote::Reap(pid_t pid, int status) {
  const auto it = keepers_.find(pid);
  if (it == keepers_.end()) return;
  while (it->second.socket >= 0 && !it->second.ended) Relay(pid);
  const Kept kept = it->second;
  keepers_.erase(it);
  if (kept.socket >= 0) ::close(kept.socket);
  if (pid == spare_) {
    spare_ = -1;
    ForkKeeper();
  }
  if (kept.spec.id.empty()) return;
  // What a keeper had no patience for, or no life left to kill, fell to us.
  KillStrays();
  if (kept.ended) return;
  // The attempt killed its own keeper.
  AttemptEnd end;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  end.stage = "keeper";
  if (end.exit_status == 0) end.exit_status = 70;
  SettleResult(kept.spec, end);
  Emit(EndedEvent(kept.spec.id, end));
}

void Zygote::KillStrays() {
  // Keepers that end meanwhile are reaped here: their turn comes after.
  std::vector<std::pair<pid_t, int>> ended;
  KillTrees([this](pid_t pid) { return keepers_.count(pid) > 0; },
            kStopPatience,
            [&](pid_t pid, int status, const rusage&) {
              ended.emplace_back(pid, status);
            });
  for (const auto& [pid, status] : ended) Reap(pid, status);
}

void Zygote::Stop() {
  // Keepers see their sockets close, kill what they keep, and end.
  for (auto& [pid, kept] : keepers_) {
    if (kept.socket >= 0) ::shutdown(kept.socket, SHUT_WR);
  }
  const double deadline = Now() + kStopPatience;
  while (Now() < deadline && ReapEnded([](pid_t, int, const rusage&) {})) {
    pollfd child = {signals_, POLLIN, 0};
    ::poll(&child, 1, 100);
    signalfd_siginfo info;
    while (::read(signals_, &info, sizeof info) == sizeof info) {
    }
  }
  KillTrees([](pid_t) { return false; }, kStopPatience,
            [](pid_t, int, const rusage&) {});
}

}  // namespace kernelfleet::runner
