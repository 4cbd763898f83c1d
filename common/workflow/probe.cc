#include "common/workflow/probe.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/workflow/target.h"

namespace kernelfleet::workflow {
namespace {

constexpr std::string_view kOff = "buffer_ops=0";
constexpr std::string_view kOn = "buffer_ops=1";

v1::TaskSpec ProbeTask(int kernel, const v1::Target& target) {
  v1::TaskSpec task;
  task.set_kernel(kernel);
  task.set_phase(v1::Phase::compile_probe);
  *task.mutable_target() = target;
  task.set_deterministic(true);
  return task;
}

std::vector<v1::TaskSpec> FirstTasks(const v1::JobSpec& job, int kernel) {
  std::vector<v1::TaskSpec> tasks;
  for (const v1::Target& target : TargetsOf(job, job.kernels(kernel))) {
    if (!HasBufferOps(target)) {
      tasks.push_back(ProbeTask(kernel, target));
      continue;
    }
    // Both values are set explicitly: the default differs between releases of
    // Triton, and the variable must be in place before Triton is imported.
    for (const std::string_view variant : {kOff, kOn}) {
      v1::TaskSpec task = ProbeTask(kernel, target);
      task.set_variant(std::string(variant));
      (*task.mutable_environment())[std::string(BufferOpsVariable(target))] =
          variant == kOn ? "1" : "0";
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

std::vector<ProbeArms> ArmsOf(const v1::JobSpec& job, int kernel,
                              std::span<const v1::TaskRecord> records) {
  std::vector<ProbeArms> out;
  for (const v1::Target& target : TargetsOf(job, job.kernels(kernel))) {
    ProbeArms arms;
    arms.target = target;
    for (const v1::TaskRecord& record : records) {
      if (record.spec().phase() != v1::Phase::compile_probe ||
          TargetName(record.spec().target()) != TargetName(target)) {
        continue;
      }
      const std::string& variant = record.spec().variant();
      (variant == kOff  ? arms.off
       : variant == kOn ? arms.on
                        : arms.plain) = &record;
    }
    out.push_back(std::move(arms));
  }
  return out;
}

}  // namespace

std::vector<const v1::TaskRecord*> ProbeArms::all() const {
  std::vector<const v1::TaskRecord*> out;
  for (const v1::TaskRecord* arm : {plain, off, on}) {
    if (arm != nullptr) out.push_back(arm);
  }
  return out;
}

Plan NextProbe(const v1::JobSpec& job, int kernel,
               std::span<const v1::TaskRecord> records) {
  Plan plan;
  if (records.empty()) {
    plan.tasks = FirstTasks(job, kernel);
    return plan;
  }
  const bool finished =
      std::all_of(records.begin(), records.end(),
                  [](const auto& r) { return IsFinal(r.state()); });
  if (finished) {
    plan.decisions =
        DecideProbe(job.kernels(kernel), kernel, ArmsOf(job, kernel, records));
  }
  return plan;
}

}  // namespace kernelfleet::workflow
