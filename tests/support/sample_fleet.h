// A job, a node and a result that the coordinator accepts, for tests and
// benchmarks that care about how these travel rather than what is in them.
#ifndef KERNELFLEET_TESTS_SUPPORT_SAMPLE_FLEET_H_
#define KERNELFLEET_TESTS_SUPPORT_SAMPLE_FLEET_H_

#include <string>

#include "common/base/hash.h"
#include "kernelfleet/v1/service.pb.h"

namespace kernelfleet::testing {

// The module of SampleJob's kernel; the server wants its blob.
inline constexpr char kSampleModule[] =
    "import triton\n"
    "import triton.language as tl\n\n\n"
    "@triton.jit\n"
    "def copy(x, y, BLOCK: tl.constexpr):\n"
    "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    tl.store(y + i, tl.load(x + i))\n";

inline v1::Target SampleTarget() {
  v1::Target target;
  target.set_backend("cuda");
  target.set_arch("sm_90");
  return target;
}

// A probe of `kernels` kernels, one task each; nothing is answered from the
// cache.
inline v1::JobSpec SampleJob(int kernels = 1) {
  v1::JobSpec job;
  job.set_workflow("probe");
  job.set_user("tester");
  job.set_no_cache(true);
  *job.add_targets() = SampleTarget();
  for (int i = 0; i < kernels; ++i) {
    v1::KernelSpec& kernel = *job.add_kernels();
    kernel.set_name("copy");
    kernel.set_source_file("copy.py");
    kernel.set_module_digest(DigestOf(kSampleModule));
    kernel.set_file_sha256(Sha256Hex(kSampleModule));
    for (const char* pointer : {"x", "y"}) {
      v1::KernelArg& arg = *kernel.mutable_case_()->add_args();
      arg.set_name(pointer);
      arg.set_type("*fp32");
    }
    v1::KernelArg& block = *kernel.mutable_case_()->add_args();
    block.set_name("BLOCK");
    block.mutable_constant()->set_int_value(64 << (i % 5));
  }
  return job;
}

// Compiles SampleTarget() in `slots` slots; has no GPU.
inline v1::NodeFacts SampleNode(const std::string& id, int slots = 1) {
  v1::NodeFacts facts;
  facts.set_node_id(id);
  facts.set_hostname(id);
  facts.set_cores(slots);
  facts.set_compile_slots(slots);
  v1::Environment& environment = *facts.add_environments();
  environment.set_name("default");
  environment.set_triton_version("3.9.0");
  environment.set_hash(Sha256Hex("sample environment"));
  v1::TargetCapability& target = *environment.add_targets();
  *target.mutable_target() = SampleTarget();
  target.set_compiles(true);
  return facts;
}

// What a node sends when the task compiled. `text` tells results apart.
inline v1::CompleteRequest SampleResult(const v1::LeasedTask& task,
                                        const std::string& node,
                                        int64_t session,
                                        const std::string& text = "sample") {
  v1::CompleteRequest request;
  request.set_node_id(node);
  request.set_session(session);
  request.set_task_id(task.task_id());
  request.set_fence(task.fence());
  v1::TaskResult& result = *request.mutable_result();
  result.set_node_id(node);
  result.set_environment_name("default");
  result.set_environment_hash(Sha256Hex("sample environment"));
  result.mutable_probe()->set_outcome(v1::Outcome::compiled);
  result.mutable_probe()->set_symbol("copy");
  result.mutable_probe()->add_warnings(text);
  result.mutable_probe()->mutable_resources()->set_registers(16);
  return request;
}

}  // namespace kernelfleet::testing

#endif  // KERNELFLEET_TESTS_SUPPORT_SAMPLE_FLEET_H_
