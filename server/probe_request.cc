#include "server/probe_request.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "common/base/hash.h"

namespace kernelfleet::server {

v1::ProbeRequest MakeProbeRequest(const v1::KernelSpec& kernel,
                                  const v1::TaskSpec& task) {
  v1::ProbeRequest request;
  request.set_phase(task.phase());
  request.set_module_file("module.py");
  request.set_entry(kernel.name());
  request.set_source_file(kernel.source_file());
  *request.mutable_source_lines() = kernel.source_lines();
  if (task.has_case_()) {
    *request.mutable_case_() = task.case_();
  } else {
    if (kernel.has_case_()) *request.mutable_case_() = kernel.case_();
    *request.mutable_alternatives() = kernel.alternatives();
  }
  if (task.has_target()) *request.mutable_target() = task.target();
  *request.mutable_environment() = task.environment();
  return request;
}

std::string ContentKey(const v1::KernelSpec& kernel, const v1::TaskSpec& task) {
  // The user's file and its lines only name places in messages, but cached
  // messages carry them.
  return Sha256Hex(kernel.module_digest() + "\n" +
                   CanonicalBytes(MakeProbeRequest(kernel, task)));
}

std::string CanonicalBytes(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&out);
  }
  return bytes;
}

}  // namespace kernelfleet::server
