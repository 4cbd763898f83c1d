#include "common/workflow/workflow.h"

#include <array>

#include "common/base/check.h"
#include "common/workflow/probe.h"

namespace kernelfleet::workflow {
namespace {

struct Workflow {
  std::string_view name;
  Plan (*next)(const v1::JobSpec&, int, std::span<const v1::TaskRecord>);
};

constexpr std::array<Workflow, 1> kWorkflows = {{
    {"probe", &NextProbe},
}};

}  // namespace

Plan Next(const v1::JobSpec& job, int kernel,
          std::span<const v1::TaskRecord> records) {
  KF_CHECK(kernel >= 0 && kernel < job.kernels_size());
  for (const Workflow& workflow : kWorkflows) {
    if (workflow.name == job.workflow()) {
      return workflow.next(job, kernel, records);
    }
  }
  // A job stored by a newer coordinator: nothing that this one could add.
  return {};
}

std::vector<std::string> WorkflowNames() {
  std::vector<std::string> names;
  for (const Workflow& workflow : kWorkflows) names.emplace_back(workflow.name);
  return names;
}

bool IsFinal(v1::TaskState::Name state) {
  return state == v1::TaskState::done || state == v1::TaskState::failed ||
         state == v1::TaskState::cancelled || state == v1::TaskState::dead;
}

const google::protobuf::RepeatedPtrField<v1::Target>& TargetsOf(
    const v1::JobSpec& job, const v1::KernelSpec& kernel) {
  return kernel.targets().empty() ? job.targets() : kernel.targets();
}

}  // namespace kernelfleet::workflow
