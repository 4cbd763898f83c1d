// Brings finished attempts to the coordinator: artifacts by digest, the rest of
// the log, then the result.
#ifndef KERNELFLEET_AGENT_SENDER_H_
#define KERNELFLEET_AGENT_SENDER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/attempt.h"
#include "agent/coordinator.h"

namespace kernelfleet::agent {

// Thread-safe.
class Sender {
 public:
  // `coordinator` outlives the sender.
  Sender(std::string node_id, Coordinator& coordinator);

  // OK: the coordinator has taken or refused the result, and the attempt's
  // folder may go. An error that MayRetry() accepts: call again later; what was
  // sent is not sent twice. Any other error: no later call will succeed.
  absl::Status Send(Attempt& attempt, int64_t session);

  // Sends what the log holds beyond what was sent.
  absl::Status SendLog(Attempt& attempt);

 private:
  absl::Status UploadArtifacts(Attempt& attempt);
  absl::StatusOr<bool> UploadArtifact(const Attempt& attempt,
                                      const v1::Artifact& artifact);

  const std::string node_id_;
  Coordinator& coordinator_;
};

// True where the same call may succeed later: the network, a full server, a
// session that a new registration replaces.
bool MayRetry(const absl::Status& status);

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_SENDER_H_
