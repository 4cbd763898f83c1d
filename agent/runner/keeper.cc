#include "keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "processes.h"

namespace kernelfleet::runner {
namespace {

constexpr size_t kStageBytes = 32;
// How often the attempt's processes are counted.
constexpr double kCountPeriod = 0.05;
// Above any number of processes that the attempt may start. Without the right
// to it, the keeper gets its turn when theirs is over.
constexpr int kKeeperNice = -20;
// For what SIGKILL cannot end at once: a process inside a driver call.
constexpr double kKillPatience = 10;
constexpr size_t kMaxSpecBytes = 128 << 10;

// Shared with the worker, so that it outlives it.
char* stage_page = nullptr;

void MakePipe(int ends[2]) {
  if (::pipe2(ends, O_CLOEXEC) != 0) ::_exit(71);
}

void Limit(int resource, int64_t bytes) {
  const rlimit limit = {static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

// What a spec says about the worker itself, from inside it.
void ApplyLimits(const AttemptSpec& spec) {
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_FSIZE, spec.file_bytes);
  if (spec.memory_bytes > 0) Limit(RLIMIT_AS, spec.memory_bytes);
  // A file at its limit is an error of write(), which Python reports.
  std::signal(SIGXFSZ, SIG_IGN);
}

std::string SpecText(const AttemptSpec& spec) {
  JsonObject environment;
  for (const auto& [name, value] : spec.environment) {
    environment.Add(name, value);
  }
  return JsonObject()
      .Add("id", spec.id)
      .Add("dir", spec.dir)
      .Add("memory_bytes", spec.memory_bytes)
      .Add("file_bytes", spec.file_bytes)
      .AddObject("environment", environment)
      .text();
}

// Waits for the spec, then runs the attempt. `socket` is 3.
[[noreturn]] void RunWorker(int socket, const Worker& worker) {
  std::string text(kMaxSpecBytes, '\0');
  const ssize_t size = ::recv(socket, text.data(), text.size(), 0);
  ::close(socket);
  if (size <= 0) ::_exit(0);
  text.resize(static_cast<size_t>(size));
  const std::optional<Json> command = Json::Parse(text);
  if (!command) ::_exit(70);
  const AttemptSpec spec = SpecFromCommand(*command);
  ApplyLimits(spec);
  ::_exit(worker(spec));
}

}  // namespace

void NoteStage(const std::string& stage) {
  if (stage_page == nullptr) return;
  std::strncpy(stage_page, stage.c_str(), kStageBytes - 1);
}

Keeper::Keeper(int control, const Worker& worker) : control_(control) {
  AdoptOrphans();
  // A worker that closes its end early is no reason to die.
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  ::sigprocmask(SIG_SETMASK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  void* page = ::mmap(nullptr, kStageBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  stage_page = page == MAP_FAILED ? nullptr : static_cast<char*>(page);
  ForkWorker(worker);
  ::setpriority(PRIO_PROCESS, 0, kKeeperNice);
}

void Keeper::ForkWorker(const Worker& worker) {
  int out[2], err[2], sockets[2];
  MakePipe(out);
  MakePipe(err);
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    ::_exit(71);
  }
  const pid_t keeper = ::getpid();
  worker_ = ::fork();
  if (worker_ < 0) ::_exit(71);
  if (worker_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != keeper) ::_exit(0);
    ::setsid();
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    std::signal(SIGPIPE, SIG_DFL);
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    CloseDescriptors(sockets[1]);
    RunWorker(sockets[1], worker);
  }
  ::close(out[1]);
  ::close(err[1]);
  ::close(sockets[1]);
  out_.pipe = out[0];
  err_.pipe = err[0];
  spec_socket_ = sockets[0];
  for (const int fd : {out[0], err[0]}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
}

void Keeper::OpenLogs(const std::string& dir) {
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
  out_.file = ::open((dir + "/stdout.txt").c_str(), flags, 0644);
  err_.file = ::open((dir + "/stderr.txt").c_str(), flags, 0644);
}

void Keeper::SendSpec(const AttemptSpec& spec) {
  const std::string text = SpecText(spec);
  ::send(spec_socket_, text.data(), text.size(), MSG_NOSIGNAL);
  ::close(spec_socket_);
}

AttemptEnd Keeper::Run(const AttemptSpec& spec) {
  const double begin = Now();
  deadline_ = begin + spec.run_s;
  grace_s_ = spec.grace_s;
  output_cap_ = output_left_ = spec.output_bytes;
  next_count_ = begin + kCountPeriod;
  OpenLogs(spec.dir);
  SendSpec(spec);
  while (!worker_ended_) {
    double next = std::min(next_count_, deadline_);
    if (kill_at_ > 0) next = std::min(next_count_, kill_at_);
    WaitForEvents(next - Now());
    CheckClocks();
  }
  KillTrees([](pid_t) { return false; }, kKillPatience,
            [this](pid_t pid, int status, const rusage& usage) {
              Reap(pid, status, usage);
            });
  Pump(&out_);
  Pump(&err_);
  end_.wall_ms = (Now() - begin) * 1e3;
  if (stage_page) end_.stage = std::string(stage_page);
  return end_;
}

void Keeper::WaitForEvents(double seconds) {
  pollfd fds[] = {{out_.pipe, POLLIN, 0},
                  {err_.pipe, POLLIN, 0},
                  {signals_, POLLIN, 0},
                  {control_, POLLIN, 0}};
  const int ms = static_cast<int>(std::max(seconds, 0.0) * 1e3) + 1;
  if (::poll(fds, 4, ms) <= 0) return;
  if (fds[0].revents) Pump(&out_);
  if (fds[1].revents) Pump(&err_);
  if (fds[2].revents) ReadSignals();
  if (fds[3].revents) ReadControl();
}

// Reads at most a few buffers a turn, so that an endless stream cannot keep
// the clocks from being looked at.
void Keeper::Pump(Stream* stream) {
  char buffer[64 << 10];
  for (int turn = 0; turn < 16 && stream->pipe >= 0; ++turn) {
    const ssize_t size = ::read(stream->pipe, buffer, sizeof buffer);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      ::close(stream->pipe);
      stream->pipe = -1;
      return;
    }
    const int64_t kept = std::min<int64_t>(size, output_left_);
    output_left_ -= kept;
    if (kept > 0) {
      (void)!::write(stream->file, buffer, static_cast<size_t>(kept));
    }
    if (kept < size && !stream->truncated) {
      stream->truncated = end_.output_truncated = true;
      const std::string marker = "\n[kernelfleet: output beyond " +
                                 std::to_string(output_cap_) +
                                 " bytes was dropped]\n";
      (void)!::write(stream->file, marker.data(), marker.size());
    }
  }
}

void Keeper::ReadControl() {
  char text[4096];
  const ssize_t size = ::recv(control_, text, sizeof text, MSG_DONTWAIT);
  if (size < 0) return;
  double grace_s = 0;
  if (size > 0) {
    const auto command = Json::Parse({text, static_cast<size_t>(size)});
    grace_s = command ? (*command)["grace_s"].AsDouble(grace_s_) : grace_s_;
  }
  end_.cancelled = true;
  BeginStop(grace_s);
}

void Keeper::ReadSignals() {
  signalfd_siginfo info;
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGCHLD) {
      end_.cancelled = true;
      BeginStop(grace_s_);
    }
  }
  ReapEnded([this](pid_t pid, int status, const rusage& usage) {
    Reap(pid, status, usage);
  });
}

void Keeper::CheckClocks() {
  const double now = Now();
  if (worker_ended_) return;
  if (kill_at_ > 0) {
    if (now >= kill_at_) SignalAll(SIGKILL);
  } else if (now >= deadline_) {
    end_.timed_out = true;
    BeginStop(grace_s_);
  }
  if (now < next_count_) return;
  next_count_ = now + kCountPeriod;
  if (Descendants(::getpid()).size() > kMaxProcesses) {
    end_.process_limit = true;
    ::kill(-worker_, SIGKILL);
  }
}

void Keeper::BeginStop(double grace_s) {
  const double kill_at = Now() + grace_s;
  kill_at_ = kill_at_ > 0 ? std::min(kill_at_, kill_at) : kill_at;
  SignalAll(SIGTERM);
}

void Keeper::SignalAll(int signal) {
  for (const pid_t pid : Descendants(::getpid())) ::kill(pid, signal);
}

void Keeper::Reap(pid_t pid, int status, const rusage& usage) {
  if (pid != worker_) return;
  worker_ended_ = true;
  end_.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end_.peak_rss_bytes = int64_t{usage.ru_maxrss} << 10;
}

}  // namespace kernelfleet::runner
