// Ctrl-C as an event instead of an end.
#ifndef KERNELFLEET_CLI_INTERRUPT_H_
#define KERNELFLEET_CLI_INTERRUPT_H_

#include <functional>
#include <thread>

#include "common/base/file.h"

namespace kernelfleet::cli {

// While it lives, the first SIGINT or SIGTERM runs `on_signal` on another
// thread; the second ends the process. One at a time.
class Interrupt {
 public:
  explicit Interrupt(std::function<void()> on_signal);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

 private:
  void Listen();

  std::function<void()> on_signal_;
  Fd read_;
  Fd write_;
  std::thread thread_;
};

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_INTERRUPT_H_
