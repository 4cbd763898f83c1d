#include "cli/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "common/base/check.h"

namespace kernelfleet::cli {
namespace {

constexpr char kSignal = 's';
constexpr char kStop = 'q';

// A signal handler has no other way to reach its object.
std::atomic<int> pipe_for_signals = -1;

void Handle(int) {
  const int saved = errno;
  (void)!::write(pipe_for_signals.load(), &kSignal, 1);
  errno = saved;
}

void SetHandlers(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt(std::function<void()> on_signal)
    : on_signal_(std::move(on_signal)) {
  int fds[2];
  KF_CHECK(::pipe2(fds, O_CLOEXEC) == 0);
  read_ = Fd(fds[0]);
  write_ = Fd(fds[1]);
  KF_CHECK(pipe_for_signals.exchange(write_.get()) == -1);
  SetHandlers(&Handle);
  thread_ = std::thread([this] { Listen(); });
}

Interrupt::~Interrupt() {
  SetHandlers(SIG_DFL);
  KF_CHECK(::write(write_.get(), &kStop, 1) == 1);
  thread_.join();
  pipe_for_signals = -1;
}

void Interrupt::Listen() {
  char what = 0;
  for (int seen = 0; what != kStop;) {
    if (::read(read_.get(), &what, 1) != 1 || what != kSignal) continue;
    if (++seen > 1) ::_exit(130);
    on_signal_();
  }
}

}  // namespace kernelfleet::cli
