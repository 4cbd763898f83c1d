// What an agent's runner is told to do for a task, and the key under which the
// result of a deterministic one can be found again. Pure.
#ifndef KERNELFLEET_SERVER_PROBE_REQUEST_H_
#define KERNELFLEET_SERVER_PROBE_REQUEST_H_

#include <string>

#include "kernelfleet/v1/job.pb.h"
#include "kernelfleet/v1/probe.pb.h"

namespace kernelfleet::server {

// Without limits; the module's text travels as a blob.
v1::ProbeRequest MakeProbeRequest(const v1::KernelSpec& kernel,
                                  const v1::TaskSpec& task);

// SHA-256 over everything a deterministic result depends on but the node's
// environment: module, kernel, case, alternatives, target and toggles.
std::string ContentKey(const v1::KernelSpec& kernel, const v1::TaskSpec& task);

// The bytes of a message, equal for equal messages (maps in key order).
std::string CanonicalBytes(const google::protobuf::MessageLite& message);

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_PROBE_REQUEST_H_
