// The agent put together: folder, runner, facts, connection, worker.
#ifndef KERNELFLEET_AGENT_AGENT_H_
#define KERNELFLEET_AGENT_AGENT_H_

#include "absl/status/status.h"
#include "agent/flags.h"

namespace kernelfleet::agent {

// Runs until SIGTERM or SIGINT has drained it; a second signal hurries. Call
// with both blocked in every thread. FAILED_PRECONDITION: the data folder is
// in use, or the server may not be reached without --insecure-plaintext.
absl::Status RunAgent(const Flags& flags);

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_AGENT_H_
