#include "agent/agent.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "agent/data_dir.h"
#include "agent/grpc_coordinator.h"
#include "agent/worker.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/random.h"
#include "common/base/status.h"
#include "common/base/subprocess.h"
#include "common/rpc/channel.h"

namespace kernelfleet::agent {
namespace {

// Waits for the signals that end the agent. Before there is a worker the
// process may simply go: nothing is held, and its children go with it.
class Signals {
 public:
  Signals() : thread_([this] { Wait(); }) {}
  ~Signals() {
    {
      MutexLock lock(mutex_);
      worker_ = nullptr;
      done_ = true;
    }
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }
  void Deliver(Worker& worker) {
    MutexLock lock(mutex_);
    worker_ = &worker;
  }

 private:
  void Wait() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    for (int count = 0;; ++count) {
      int signal = 0;
      sigwait(&set, &signal);
      MutexLock lock(mutex_);
      if (done_) return;
      if (worker_ == nullptr) ::_exit(0);
      if (count == 0) worker_->Drain();
      if (count > 0) worker_->Hurry();
    }
  }

  Mutex mutex_;
  Worker* worker_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

absl::Status PrintFacts(const v1::NodeFacts& facts) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto printed =
      google::protobuf::util::MessageToJsonString(facts, &json, options);
  if (!printed.ok()) return Internal(printed.message().ToString());
  fmt::print("{}", json);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunAgent(const Flags& flags) {
  Signals signals;
  if (!FindProgram(flags.runner.program)) {
    return NotFound(fmt::format("no runner at {}: say --runner PATH",
                                flags.runner.program));
  }
  KF_ASSIGN_OR_RETURN(const Fd lock, LockDataDir(flags.data_dir));
  FactsOptions facts = flags.facts;
  facts.data_dir = flags.data_dir;
  KF_ASSIGN_OR_RETURN(facts.node_id,
                      StableNodeId(flags.data_dir, flags.name, SystemRandom()));
  KF_ASSIGN_OR_RETURN(std::shared_ptr<grpc::Channel> channel,
                      rpc::MakeChannel(flags.server, flags.plaintext));
  ProcessRunner runner(flags.runner);

  WorkerOptions options;
  options.facts = GatherFacts(facts, runner);
  if (flags.print_facts) return PrintFacts(options.facts);
  options.data_dir = flags.data_dir;
  options.drain_limit = flags.drain_limit;
  GrpcCoordinator coordinator(std::move(channel));
  Worker worker(std::move(options), coordinator, runner, RealClock(),
                SystemRandom());
  worker.Recover();
  signals.Deliver(worker);
  LogInfo("agent started",
          {{"node", facts.node_id}, {"server", rpc::ToString(flags.server)}});
  worker.Run();
  return absl::OkStatus();
}

}  // namespace kernelfleet::agent
