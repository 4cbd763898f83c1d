// Child processes by argv, never through a shell.
//
//   ProcessOptions options;
//   options.argv = {"/usr/bin/nvidia-smi", "-L"};
//   options.timeout = absl::Seconds(5);
//   KF_ASSIGN_OR_RETURN(ProcessResult result, RunProcess(options));
//
// The child leads its own process group and gets SIGKILL when the thread that
// started it dies. On timeout the whole group is killed. Descriptors other
// than 0, 1 and 2 are closed in the child.
#ifndef KERNELFLEET_COMMON_BASE_SUBPROCESS_H_
#define KERNELFLEET_COMMON_BASE_SUBPROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file.h"

namespace kernelfleet {

struct ProcessOptions {
  // argv[0] with a slash is the program; without, it is looked up on PATH.
  std::vector<std::string> argv;
  // Empty: the parent's.
  std::string directory;
  // Added to, or replacing entries of, the parent's environment.
  std::map<std::string, std::string> environment;
  // Start from an empty environment instead of the parent's.
  bool clear_environment = false;
  absl::Duration timeout = absl::Seconds(30);
  // Kept of stdout and of stderr; the rest is read and dropped.
  int64_t max_output_bytes = 1 << 20;
};

struct ProcessResult {
  // Exit status; -1 when a signal ended it.
  int exit_status = -1;
  int signal = 0;
  bool timed_out = false;
  std::string out;
  std::string err;
  bool ok() const { return exit_status == 0; }
};

// Runs to the end. Errors: NOT_FOUND no such program, others could not start.
// A non-zero exit and a timeout are results, not errors. Blocking.
absl::StatusOr<ProcessResult> RunProcess(const ProcessOptions& options);

// The absolute path of a program on PATH, or nothing.
std::optional<std::string> FindProgram(const std::string& name);

// A child with files or pipes as its standard streams; kills the group and
// reaps in the destructor.
class Process {
 public:
  struct Streams {
    // -1: /dev/null.
    int in = -1;
    int out = -1;
    int err = -1;
    // Stays open in the child under the same number; -1: none.
    int inherit = -1;
  };
  static absl::StatusOr<Process> Start(const ProcessOptions& options,
                                       const Streams& streams);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  // Readable (poll) when the child has ended.
  int pidfd() const { return pidfd_.get(); }
  // Reaps if it ended; waits at most `timeout`.
  std::optional<ProcessResult> Wait(absl::Duration timeout);
  // Signals the whole group.
  void Signal(int signal);

 private:
  Process(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  pid_t pid_ = -1;
  Fd pidfd_;
};

}  // namespace kernelfleet

#endif  // KERNELFLEET_COMMON_BASE_SUBPROCESS_H_
