#include "common/base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "common/base/clock.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet {
namespace {

std::vector<std::string> EnvironmentOf(const ProcessOptions& options) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; !options.clear_environment && *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    merged[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : options.environment) merged[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : merged) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

// Reads what is there into `text`, keeping at most `limit`; false at the end.
bool Drain(int fd, std::string& text, int64_t limit) {
  char buffer[65536];
  const ssize_t n = ::read(fd, buffer, sizeof buffer);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  const int64_t room = limit - static_cast<int64_t>(text.size());
  if (room > 0) {
    text.append(buffer, static_cast<size_t>(std::min<int64_t>(room, n)));
  }
  return n > 0;
}

// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void ExecChild(const char* program, char** argv, char** env,
                            const char* directory,
                            const Process::Streams& streams, int error_fd,
                            pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  // Lift everything above 2 first, so that no dup2 below overwrites a source.
  const int wanted[3] = {streams.in, streams.out, streams.err};
  int lifted[3];
  for (int i = 0; i < 3; ++i) {
    lifted[i] = ::fcntl(wanted[i] < 0 ? null : wanted[i], F_DUPFD_CLOEXEC, 10);
  }
  for (int i = 0; i < 3; ++i) ::dup2(lifted[i], i);
  if (streams.inherit >= 0) ::fcntl(streams.inherit, F_SETFD, 0);
  // What remains is close-on-exec by flag; this catches what was not.
  const unsigned first = 3;
  const auto close_range_cloexec = [](unsigned from, unsigned to) {
    if (from <= to) ::syscall(SYS_close_range, from, to, CLOSE_RANGE_CLOEXEC);
  };
  if (streams.inherit >= 3) {
    const auto keep = static_cast<unsigned>(streams.inherit);
    close_range_cloexec(first, keep - 1);
    close_range_cloexec(keep + 1, ~0u);
  } else {
    close_range_cloexec(first, ~0u);
  }
  if (directory != nullptr && ::chdir(directory) != 0) {
    const int error = errno;
    (void)!::write(error_fd, &error, sizeof error);
    ::_exit(127);
  }
  ::execve(program, argv, env);
  const int error = errno;
  (void)!::write(error_fd, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

std::optional<std::string> FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) == 0) return name;
    return {};
  }
  const char* path = std::getenv("PATH");
  for (std::string_view folder : Split(path ? path : "/usr/bin:/bin", ':')) {
    std::string candidate = JoinPath(folder.empty() ? "." : folder, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

absl::StatusOr<Process> Process::Start(const ProcessOptions& options,
                                       const Streams& streams) {
  if (options.argv.empty()) return InvalidArgument("empty command");
  const std::optional<std::string> program = FindProgram(options.argv[0]);
  if (!program) {
    return NotFound(
        fmt::format("{}: no such program", Printable(options.argv[0])));
  }
  std::vector<std::string> argv = options.argv;
  std::vector<std::string> env = EnvironmentOf(options);
  std::vector<char*> argv_pointers = Pointers(argv);
  std::vector<char*> env_pointers = Pointers(env);
  KF_ASSIGN_OR_RETURN(Pipe errors, MakePipe());

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return ErrnoError("fork", errno);
  if (pid == 0) {
    ExecChild(program->c_str(), argv_pointers.data(), env_pointers.data(),
              options.directory.empty() ? nullptr : options.directory.c_str(),
              streams, errors.write.get(), parent);
  }
  ::setpgid(pid, pid);
  errors.write.Reset();
  int error = 0;
  ssize_t n = 0;
  while ((n = ::read(errors.read.get(), &error, sizeof error)) < 0 &&
         errno == EINTR) {
  }
  if (n == sizeof error) {
    ::waitpid(pid, nullptr, 0);
    return ErrnoError(Printable(options.argv[0]), error);
  }
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return Process(pid, std::move(pidfd));
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

Process::~Process() {
  if (pid_ < 0) return;
  Signal(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Process::Signal(int signal) {
  if (pid_ > 0) ::kill(-pid_, signal);
}

std::optional<ProcessResult> Process::Wait(absl::Duration timeout) {
  if (pid_ < 0) return {};
  struct pollfd poll_fd = {pidfd_.get(), POLLIN, 0};
  const absl::Duration deadline = RealClock().Steady() + timeout;
  for (;;) {
    const absl::Duration left =
        std::max(absl::ZeroDuration(), deadline - RealClock().Steady());
    const int ready = ::poll(
        &poll_fd, 1,
        static_cast<int>(std::min<int64_t>(
            absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1))),
            1 << 30)));
    if (ready > 0) break;
    if (ready == 0 && RealClock().Steady() >= deadline) return {};
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  // The leader is gone; whatever it left in its group goes too.
  ::kill(-pid_, SIGKILL);
  pid_ = -1;
  ProcessResult result;
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

absl::StatusOr<ProcessResult> RunProcess(const ProcessOptions& options) {
  KF_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  KF_ASSIGN_OR_RETURN(Pipe err, MakePipe());
  Process::Streams streams;
  streams.out = out.write.get();
  streams.err = err.write.get();
  KF_ASSIGN_OR_RETURN(Process process, Process::Start(options, streams));
  out.write.Reset();
  err.write.Reset();

  std::string out_text;
  std::string err_text;
  bool timed_out = false;
  const absl::Duration deadline = RealClock().Steady() + options.timeout;
  std::optional<ProcessResult> ended;
  while (out.read.valid() || err.read.valid()) {
    const absl::Duration left = deadline - RealClock().Steady();
    if (left <= absl::ZeroDuration()) {
      timed_out = true;
      break;
    }
    struct pollfd fds[3] = {{out.read.get(), POLLIN, 0},
                            {err.read.get(), POLLIN, 0},
                            {ended ? -1 : process.pidfd(), POLLIN, 0}};
    if (::poll(fds, 3,
               static_cast<int>(std::min<int64_t>(
                   absl::ToInt64Milliseconds(left) + 1, 1 << 30))) < 0) {
      continue;
    }
    if (fds[0].revents && !Drain(fds[0].fd, out_text, options.max_output_bytes))
      out.read.Reset();
    if (fds[1].revents && !Drain(fds[1].fd, err_text, options.max_output_bytes))
      err.read.Reset();
    // Once the leader ended its group is killed, which closes the pipes that
    // grandchildren hold.
    if (fds[2].revents) ended = process.Wait(absl::ZeroDuration());
  }
  if (!ended && !timed_out) {
    ended = process.Wait(deadline - RealClock().Steady());
    timed_out = !ended;
  }
  if (!ended) {
    process.Signal(SIGKILL);
    ended = process.Wait(absl::InfiniteDuration());
  }
  ProcessResult result = ended.value_or(ProcessResult());
  result.timed_out = timed_out;
  result.out = std::move(out_text);
  result.err = std::move(err_text);
  return result;
}

}  // namespace kernelfleet
