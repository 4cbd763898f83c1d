// A warm process that forks one attempt after the other.
//
// Commands come as JSON objects, one a line:
//
//   {"op":"run","id":"7.1","dir":"/…/attempt","run_s":60,"grace_s":1,
//    "output_bytes":1048576,"memory_bytes":0,"file_bytes":268435456,
//    "environment":{"NAME":"VALUE"}}
//   {"op":"cancel","id":"7.1","grace_s":5}
//   {"op":"exit"}
//
// and so do the events that answer them:
//
//   {"event":"ready","python":"3.11.2","triton":"3.9.0","warm_ms":…,"pid":…,
//    "cold":{"hip:gfx942":"why it does not compile here"}}
//   {"event":"failed","message":"…"}                    instead of ready
//   {"event":"started","id":"7.1","pid":4711}
//   {"event":"ended","id":"7.1","exit_status":0,"signal":0,"timed_out":false,
//    "cancelled":false,"output_truncated":false,"process_limit":false,
//    "peak_rss_bytes":…,"wall_ms":…}
//   {"event":"refused","id":"7.1","message":"…"}        a command that is none
//
// An attempt's result.json is in place before its `ended`. `exit`, TERM and
// the end of the commands (the agent died) kill all attempts. The zygote never
// touches a GPU and never runs a user's code.
#ifndef KERNELFLEET_AGENT_RUNNER_ZYGOTE_H_
#define KERNELFLEET_AGENT_RUNNER_ZYGOTE_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <map>
#include <string>

#include "attempt.h"
#include "keeper.h"

namespace kernelfleet::runner {

class Zygote {
 public:
  // `worker` runs in a fork of this process. Reads commands from `commands`,
  // writes events to `events`.
  Zygote(int commands, int events, Worker worker);
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  void Emit(const std::string& event);
  // Serves until told to stop; then nothing is left of any attempt.
  void Serve();

 private:
  // A forked keeper; without an id it waits for its first attempt.
  struct Kept {
    int socket = -1;
    AttemptSpec spec;
    bool ended = false;
  };
  void ForkKeeper();
  [[noreturn]] void RunKeeper(int socket);
  void WaitForEvents();
  void ReadCommands();
  void Obey(const std::string& line);
  void Start(const Json& command, const std::string& line);
  void Cancel(const Json& command, const std::string& line);
  void Relay(pid_t keeper);
  void Reap(pid_t pid, int status);
  void KillStrays();
  void Stop();

  const int commands_;
  const int events_;
  const Worker worker_;
  int signals_ = -1;
  std::string unread_;
  bool stopping_ = false;
  pid_t spare_ = -1;
  std::map<pid_t, Kept> keepers_;
};

}  // namespace kernelfleet::runner

#endif  // KERNELFLEET_AGENT_RUNNER_ZYGOTE_H_
