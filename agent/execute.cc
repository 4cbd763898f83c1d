#include "agent/execute.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <utility>

#include "agent/run_proof.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::agent {
namespace {

constexpr int64_t kLastWords = 4 << 10;

template <typename T>
T Or(T value, T otherwise) {
  return value > 0 ? value : otherwise;
}

// A compile sees no device, so that it cannot disturb a measurement.
std::map<std::string, std::string> DevicesOf(const v1::NodeFacts& facts,
                                             const v1::LeasedTask& task) {
  for (const v1::Gpu& gpu : facts.gpus()) {
    if (task.spec().needs_gpu() && gpu.index() == task.gpu()) {
      return VisibleDevices(&gpu);
    }
  }
  return VisibleDevices(nullptr);
}

v1::InfraFailure::Name InfraOf(StopReason reason) {
  return reason == StopReason::kDraining ? v1::InfraFailure::agent_stopped
                                         : v1::InfraFailure::cancelled;
}

void Fail(Attempt& attempt, v1::InfraFailure::Name infra,
          std::string_view why) {
  attempt.SetCompletion(InfraCompletion(attempt.task(), infra, why));
}

}  // namespace

v1::CompleteRequest InfraCompletion(const v1::LeasedTask& task,
                                    v1::InfraFailure::Name infra,
                                    std::string_view message) {
  v1::CompleteRequest completion;
  completion.set_task_id(task.task_id());
  completion.set_fence(task.fence());
  completion.set_infra(infra);
  completion.set_infra_message(Shorten(message, 2 << 10));
  return completion;
}

Executor::Executor(const v1::NodeFacts& facts, const AttemptDefaults& defaults,
                   BlobCache& blobs, Coordinator& coordinator,
                   PhaseRunner& runner)
    : facts_(facts),
      defaults_(defaults),
      blobs_(blobs),
      coordinator_(coordinator),
      runner_(runner) {}

absl::StatusOr<const v1::Environment*> Executor::EnvironmentOf(
    const v1::LeasedTask& task) const {
  for (const v1::Environment& environment : facts_.environments()) {
    if (task.environment().empty() ||
        task.environment() == environment.name() ||
        task.environment() == environment.hash()) {
      return &environment;
    }
  }
  return FailedPrecondition(
      fmt::format("this node has no environment '{}'", task.environment()));
}

absl::Status Executor::Prepare(const Attempt& attempt,
                               const v1::Environment& env) {
  const v1::LeasedTask& task = attempt.task();
  std::string module;
  if (!task.module_digest().empty()) {
    KF_ASSIGN_OR_RETURN(module, blobs_.Get(task.module_digest(), coordinator_));
  }
  KF_RETURN_IF_ERROR(
      WriteFileAtomic(JoinPath(attempt.work(), "module.py"), module));
  v1::ProbeRequest request = task.request();
  if (request.module_file().empty()) request.set_module_file("module.py");
  const PhaseRun run = RunOf(attempt, env);
  // The runner alone, without us, would apply these.
  request.mutable_limits()->set_run_s(absl::ToDoubleSeconds(run.timeout));
  request.mutable_limits()->set_output_bytes(run.output_bytes);
  request.mutable_limits()->set_artifact_bytes(run.file_bytes);
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto printed =
      google::protobuf::util::MessageToJsonString(request, &json, options);
  if (!printed.ok()) return InvalidArgument(printed.message().ToString());
  return WriteFileAtomic(JoinPath(attempt.work(), "request.json"), json);
}

PhaseRun Executor::RunOf(const Attempt& attempt,
                         const v1::Environment& env) const {
  const v1::LeasedTask& task = attempt.task();
  const v1::Limits& limits =
      task.has_limits() ? task.limits() : task.request().limits();
  const v1::Target& target = task.request().target();
  PhaseRun run;
  run.id = std::to_string(task.fence());
  run.directory = attempt.work();
  run.python = env.python();
  if (!target.backend().empty()) {
    run.target = fmt::format("{}:{}", target.backend(), target.arch());
  }
  run.toggles = {task.request().environment().begin(),
                 task.request().environment().end()};
  run.environment = DevicesOf(facts_, task);
  run.timeout =
      absl::Seconds(Or(limits.run_s(), absl::ToDoubleSeconds(defaults_.run)));
  run.output_bytes = Or(limits.output_bytes(), defaults_.output_bytes);
  run.memory_bytes = limits.memory_bytes();
  run.file_bytes = Or(limits.artifact_bytes(), defaults_.file_bytes);
  return run;
}

absl::Status Executor::Execute(Attempt& attempt) {
  if (attempt.stop_reason() != StopReason::kNone) {
    Fail(attempt, InfraOf(attempt.stop_reason()), "stopped before it ran");
    return absl::OkStatus();
  }
  const auto env = EnvironmentOf(attempt.task());
  if (!env.ok()) {
    Fail(attempt, v1::InfraFailure::runner_unavailable, Text(env.status()));
    return absl::OkStatus();
  }
  const absl::Status prepared = Prepare(attempt, **env);
  if (absl::IsUnavailable(prepared) || absl::IsDeadlineExceeded(prepared)) {
    return prepared;
  }
  if (absl::IsNotFound(prepared) || absl::IsDataLoss(prepared)) {
    Fail(attempt, v1::InfraFailure::blob_unavailable, Text(prepared));
    return absl::OkStatus();
  }
  if (!prepared.ok()) {
    Fail(attempt, v1::InfraFailure::runner_unavailable, Text(prepared));
    return absl::OkStatus();
  }
  RunPrepared(attempt, **env);
  return absl::OkStatus();
}

void Executor::RunPrepared(Attempt& attempt, const v1::Environment& env) {
  const PhaseRun run = RunOf(attempt, env);
  attempt.set_step(Step::kRunning);
  const absl::StatusOr<PhaseEnd> end = runner_.Run(run, attempt.stop_token());
  attempt.set_step(Step::kUploading);
  if (const absl::Status log = attempt.log().Pump(run.output_bytes);
      !log.ok()) {
    LogWarning("log not kept",
               {{"fence", attempt.fence()}, {"error", Text(log)}});
  }
  if (attempt.stop_reason() != StopReason::kNone) {
    Fail(attempt, InfraOf(attempt.stop_reason()), "stopped while it ran");
  } else if (!end.ok()) {
    Fail(attempt, v1::InfraFailure::runner_unavailable, Text(end.status()));
  } else {
    Collect(attempt, env, *end);
  }
}

void Executor::Collect(Attempt& attempt, const v1::Environment& env,
                       const PhaseEnd& end) {
  const v1::LeasedTask& task = attempt.task();
  CollectLimits limits = defaults_.collect;
  limits.artifact_bytes =
      Or(task.limits().artifact_bytes(), limits.artifact_bytes);
  v1::CompleteRequest completion;
  completion.set_task_id(task.task_id());
  completion.set_fence(task.fence());
  v1::TaskResult& result = *completion.mutable_result();
  result = CollectResult(attempt.work(), end, attempt.log().Tail(kLastWords),
                         limits);
  result.set_node_id(facts_.node_id());
  result.set_environment_hash(env.hash());
  result.set_environment_name(env.name());
  attempt.SetCompletion(std::move(completion));
}

}  // namespace kernelfleet::agent
