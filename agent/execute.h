// The work on one attempt, from lease to a result ready to send.
#ifndef KERNELFLEET_AGENT_EXECUTE_H_
#define KERNELFLEET_AGENT_EXECUTE_H_

#include <string>

#include "absl/status/status.h"
#include "agent/attempt.h"
#include "agent/blob_cache.h"
#include "agent/collect.h"
#include "agent/coordinator.h"
#include "agent/phase_runner.h"
#include "kernelfleet/v1/node.pb.h"

namespace kernelfleet::agent {

// What an attempt gets where its task states no limit.
struct AttemptDefaults {
  absl::Duration run = absl::Seconds(120);
  int64_t output_bytes = 1 << 20;
  int64_t file_bytes = 256 << 20;
  CollectLimits collect;
};

// Thread-safe: attempts run side by side.
class Executor {
 public:
  // All references outlive the executor.
  Executor(const v1::NodeFacts& facts, const AttemptDefaults& defaults,
           BlobCache& blobs, Coordinator& coordinator, PhaseRunner& runner);

  // Runs the attempt to its end and sets its completion: a result, or the
  // failure of ours that prevented one. UNAVAILABLE, with no completion set:
  // the module text could not be fetched; the same call may succeed later.
  absl::Status Execute(Attempt& attempt);

 private:
  absl::Status Prepare(const Attempt& attempt, const v1::Environment& env);
  absl::StatusOr<const v1::Environment*> EnvironmentOf(
      const v1::LeasedTask& task) const;
  PhaseRun RunOf(const Attempt& attempt, const v1::Environment& env) const;
  void RunPrepared(Attempt& attempt, const v1::Environment& env);
  void Collect(Attempt& attempt, const v1::Environment& env,
               const PhaseEnd& end);

  const v1::NodeFacts& facts_;
  const AttemptDefaults defaults_;
  BlobCache& blobs_;
  Coordinator& coordinator_;
  PhaseRunner& runner_;
};

// The completion that says that no result will come.
v1::CompleteRequest InfraCompletion(const v1::LeasedTask& task,
                                    v1::InfraFailure::Name infra,
                                    std::string_view message);

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_EXECUTE_H_
