// Jobs and finished probes made in a line, for tests of rules and reports.
#ifndef KERNELFLEET_TESTS_SUPPORT_PROBE_RECORDS_H_
#define KERNELFLEET_TESTS_SUPPORT_PROBE_RECORDS_H_

#include <string>

#include "kernelfleet/v1/job.pb.h"

namespace kernelfleet::testing {

inline v1::Target MakeTarget(const std::string& backend,
                             const std::string& arch) {
  v1::Target target;
  target.set_backend(backend);
  target.set_arch(arch);
  return target;
}

// A valid probe of one kernel `copy(x_ptr: *fp16, n: i32)` in copy.py.
inline v1::JobSpec MakeProbeJob() {
  v1::JobSpec job;
  job.set_workflow("probe");
  *job.add_targets() = MakeTarget("cuda", "sm_90");
  *job.add_targets() = MakeTarget("hip", "gfx942");
  v1::KernelSpec& kernel = *job.add_kernels();
  kernel.set_name("copy");
  kernel.set_source_file("copy.py");
  kernel.set_module_digest("sha256:" + std::string(64, 'a'));
  kernel.set_file_sha256(std::string(64, 'a'));
  v1::KernelArg& pointer = *kernel.mutable_case_()->add_args();
  pointer.set_name("x_ptr");
  pointer.set_type("*fp16");
  v1::KernelArg& size = *kernel.mutable_case_()->add_args();
  size.set_name("n");
  size.set_type("i32");
  return job;
}

// A done task with that outcome.
inline v1::TaskRecord MakeRecord(const v1::TaskSpec& spec,
                                 v1::Outcome::Code outcome) {
  v1::TaskRecord record;
  *record.mutable_spec() = spec;
  record.set_state(v1::TaskState::done);
  record.mutable_result()->set_node_id("node-a");
  record.mutable_result()->mutable_probe()->set_outcome(outcome);
  return record;
}

// Adds machine code with loads and stores of global memory through `space`.
inline v1::IsaKernel& AddCode(v1::TaskRecord& record, const std::string& space,
                              int loads, int stores, int bytes) {
  v1::IsaKernel& code = *record.mutable_result()->add_isa();
  code.set_symbol("copy");
  code.set_dialect(record.spec().target().backend() == "cuda" ? "sass"
                                                              : "amdgcn");
  for (const char* direction : {"load", "store"}) {
    v1::MemoryCount& memory = *code.add_memory();
    memory.set_space(space);
    memory.set_direction(direction);
    memory.set_bytes(bytes);
    memory.set_count(std::string(direction) == "load" ? loads : stores);
  }
  return code;
}

}  // namespace kernelfleet::testing

#endif  // KERNELFLEET_TESTS_SUPPORT_PROBE_RECORDS_H_
