// What the coordinator refuses before anything is stored. Pure: each answers
// OK or one INVALID_ARGUMENT sentence.
#ifndef KERNELFLEET_SERVER_CHECK_REQUEST_H_
#define KERNELFLEET_SERVER_CHECK_REQUEST_H_

#include <string>

#include "absl/status/status.h"
#include "kernelfleet/v1/service.pb.h"

namespace kernelfleet::server {

absl::Status CheckSpec(const v1::JobSpec& spec);
absl::Status CheckFacts(const v1::NodeFacts& facts);
absl::Status CheckNodeState(const v1::SetNodeStateRequest& request);
absl::Status CheckKey(const std::string& idempotency_key);

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_CHECK_REQUEST_H_
