// A warm runner process: it has imported Triton for one Python, one target and
// one set of toggles, and forks one child per attempt.
#ifndef KERNELFLEET_AGENT_ZYGOTE_H_
#define KERNELFLEET_AGENT_ZYGOTE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/phase_runner.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/subprocess.h"
#include "kernelfleet/v1/runner.pb.h"

namespace kernelfleet::agent {

struct ZygoteOptions {
  // Command line and environment of the process.
  ProcessOptions process;
  // From start to "ready".
  absl::Duration start_limit = absl::Seconds(120);
  // Stops by itself after so long without work.
  absl::Duration idle_limit = absl::Minutes(5);
  // From TERM to KILL of a cancelled attempt.
  absl::Duration grace = absl::Seconds(2);
  // An attempt that outlives its own limit by this much means that the process
  // is broken: it is killed.
  absl::Duration overrun = absl::Seconds(30);
};

// Thread-safe. One thread owns the process, so that the process dies with the
// agent and with nothing less.
class Zygote {
 public:
  explicit Zygote(ZygoteOptions options);
  // Ends the process and all that it runs; waits for it.
  ~Zygote();
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  // As PhaseRunner::Run. ABORTED: the process had stopped before it took the
  // run. FAILED_PRECONDITION: it never became ready. UNAVAILABLE: it died.
  absl::StatusOr<PhaseEnd> Run(const PhaseRun& run, std::stop_token stop);

  // False once the process takes no more runs.
  bool alive();
  int running();

 private:
  struct Flight {
    absl::StatusOr<PhaseEnd> end = PhaseEnd();
    bool ended = false;
    absl::Duration deadline;
  };
  enum class State { kStarting, kReady, kEnded };

  // On the thread.
  void Serve();
  absl::Status Start();
  void Loop();
  bool ReadEvents();
  void Obey(const std::string& line);
  bool WriteCommands();
  // What is wrong by the clock, or empty.
  std::string Overdue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int PollTimeout() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(absl::Status why);

  void Send(const v1::RunnerCommand& command)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Wake();

  const ZygoteOptions options_;
  Fd wake_;

  // The thread's own.
  std::optional<Process> process_;
  Fd in_;
  Fd out_;
  Fd err_;
  std::string unread_;
  std::string last_words_;

  Mutex mutex_;
  CondVar changed_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kStarting;
  absl::Status ended_why_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Flight*> flights_ ABSL_GUARDED_BY(mutex_);
  std::string unsent_ ABSL_GUARDED_BY(mutex_);
  absl::Duration started_ ABSL_GUARDED_BY(mutex_);
  absl::Duration idle_since_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_ZYGOTE_H_
