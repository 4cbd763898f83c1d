// One attempt in a process of its own, and that process kept to its limits.
//
//   Keeper keeper(-1, [](const AttemptSpec& spec) { return Run(spec.dir); });
//   const AttemptEnd end = keeper.Run(spec);
//
// The constructor forks the worker, which waits for a spec; so a zygote can
// have one ready before anybody asks. The keeper is single-threaded, never
// touches Python, and adopts every orphan below it: when Run returns, nothing
// that the attempt started is alive.
#ifndef KERNELFLEET_AGENT_RUNNER_KEEPER_H_
#define KERNELFLEET_AGENT_RUNNER_KEEPER_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <string>

#include "attempt.h"

namespace kernelfleet::runner {

// Runs the attempt in the worker; returns its exit status.
using Worker = std::function<int(const AttemptSpec&)>;

// Name of the stage the worker is in, seen by its keeper even after a crash.
// At most 31 bytes; a no-op outside a worker.
void NoteStage(const std::string& stage);

class Keeper {
 public:
  // `control`: a SOCK_SEQPACKET socket whose messages are cancel commands and
  // whose end means that nobody wants the attempt any more; -1: none, and TERM
  // and INT cancel instead.
  Keeper(int control, const Worker& worker);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  pid_t worker() const { return worker_; }
  // Blocks until the attempt is over and all of it is gone.
  AttemptEnd Run(const AttemptSpec& spec);

 private:
  // One of the worker's output streams, copied to a file up to the cap.
  struct Stream {
    int pipe = -1;
    int file = -1;
    bool truncated = false;
  };
  void ForkWorker(const Worker& worker);
  void OpenLogs(const std::string& dir);
  void SendSpec(const AttemptSpec& spec);
  void WaitForEvents(double seconds);
  void Pump(Stream* stream);
  void ReadControl();
  void ReadSignals();
  void CheckClocks();
  void BeginStop(double grace_s);
  void SignalAll(int signal);
  void Reap(pid_t pid, int status, const rusage& usage);

  const int control_;
  int spec_socket_ = -1;
  int signals_ = -1;
  Stream out_;
  Stream err_;
  pid_t worker_ = -1;
  bool worker_ended_ = false;
  int64_t output_left_ = 0;
  int64_t output_cap_ = 0;
  double deadline_ = 0;
  // When what is left gets KILL; 0: not stopping.
  double kill_at_ = 0;
  double grace_s_ = 0;
  double next_count_ = 0;
  AttemptEnd end_;
};

}  // namespace kernelfleet::runner

#endif  // KERNELFLEET_AGENT_RUNNER_KEEPER_H_
