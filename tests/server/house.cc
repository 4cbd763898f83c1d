#include "tests/server/house.h"

#include <fmt/format.h>

namespace kernelfleet::server {

v1::Target TargetOf(const std::string& backend, const std::string& arch) {
  v1::Target target;
  target.set_backend(backend);
  target.set_arch(arch);
  return target;
}

Plan ProbeAllTargets(const v1::JobSpec& job, int kernel,
                     std::span<const v1::TaskRecord> records) {
  Plan plan;
  if (records.empty()) {
    for (const v1::Target& target : job.targets()) {
      v1::TaskSpec& task = plan.tasks.emplace_back();
      task.set_kernel(kernel);
      task.set_phase(v1::Phase::compile_probe);
      *task.mutable_target() = target;
      task.set_deterministic(true);
      task.set_needs_gpu(job.labels().contains("gpu"));
    }
    return plan;
  }
  int ended = 0;
  for (const v1::TaskRecord& record : records) {
    ended += record.state() >= v1::TaskState::done;
  }
  if (ended == job.targets_size()) {
    v1::Decision& decision = plan.decisions.emplace_back();
    decision.set_rule("test.all-ended");
    decision.set_verdict("ended");
    decision.set_text(fmt::format("{} tasks ended", ended));
  }
  return plan;
}

v1::JobSpec SpecOf(int kernels) {
  v1::JobSpec spec;
  spec.set_workflow("probe");
  *spec.add_targets() = TargetOf("cuda", "sm_90");
  for (int i = 0; i < kernels; ++i) {
    v1::KernelSpec& kernel = *spec.add_kernels();
    kernel.set_name(fmt::format("k{}", i));
    kernel.set_source_file("k.py");
    kernel.set_module_digest(DigestOf(kernel.name()));
    kernel.set_classification("element-wise");
  }
  return spec;
}

v1::NodeFacts CompileNode(const std::string& id, const std::string& hash) {
  v1::NodeFacts facts;
  facts.set_node_id(id);
  facts.set_hostname(id + ".example");
  facts.set_compile_slots(4);
  v1::Environment& environment = *facts.add_environments();
  environment.set_name("base");
  environment.set_hash(hash);
  environment.set_triton_version("3.6.0");
  v1::TargetCapability& target = *environment.add_targets();
  *target.mutable_target() = TargetOf("cuda", "sm_90");
  target.set_compiles(true);
  return facts;
}

v1::TaskResult CompiledResult(int registers) {
  v1::TaskResult result;
  v1::ProbeResult& probe = *result.mutable_probe();
  probe.set_outcome(v1::Outcome::compiled);
  probe.set_total_ms(41.5);
  probe.mutable_resources()->set_registers(registers);
  probe.mutable_resources()->set_shared_bytes(1024);
  (*probe.mutable_environment())["ptxas"] = "12.9";
  v1::StageTime& stage = *probe.add_stages();
  stage.set_name("ptx");
  stage.set_ms(3);
  v1::IsaKernel& isa = *result.add_isa();
  isa.set_symbol("k");
  isa.set_dialect("sass");
  v1::MemoryCount& load = *isa.add_memory();
  load.set_space("global");
  load.set_direction("load");
  load.set_bytes(16);
  load.set_count(4);
  v1::FamilyCount& family = *isa.add_families();
  family.set_family("hmma");
  family.set_count(64);
  return result;
}

v1::HeldAttempt Held(const v1::LeasedTask& task, const std::string& step) {
  v1::HeldAttempt held;
  held.set_task_id(task.task_id());
  held.set_fence(task.fence());
  held.set_step(step);
  return held;
}

House::House() {
  options.data_dir = folder / "data";
  options.next = &ProbeAllTargets;
  options.durability = Durability::kOff;
  options.writer = WriterMode::kManual;
  options.readers = 1;
  Open();
}

void House::Open() {
  auto opened = Coordinator::Open(options, clock, random);
  ASSERT_OK(opened);
  coordinator = *std::move(opened);
  Settle();
}

void House::Settle() {
  for (int i = 0; i < 10'000; ++i) {
    if (coordinator->Turn() > absl::ZeroDuration()) return;
  }
  FAIL() << "the writer never rests";
}

void House::Pass(absl::Duration time) {
  clock.Advance(time);
  Settle();
}

absl::StatusOr<v1::SubmitResponse> House::Submit(const v1::JobSpec& spec,
                                                 const std::string& key) {
  v1::SubmitRequest request;
  *request.mutable_spec() = spec;
  request.set_idempotency_key(key);
  return Await<v1::SubmitResponse>(
      [&](auto done) { coordinator->Submit(request, done); });
}

absl::StatusOr<v1::RegisterResponse> House::Register(
    const v1::NodeFacts& facts, std::vector<v1::HeldAttempt> held) {
  v1::RegisterRequest request;
  *request.mutable_facts() = facts;
  request.mutable_held()->Assign(held.begin(), held.end());
  auto answer = Await<v1::RegisterResponse>(
      [&](auto done) { coordinator->Register(request, done); });
  if (answer.ok()) sessions[facts.node_id()] = answer->session();
  return answer;
}

void House::AddNode(const v1::NodeFacts& facts) { ASSERT_OK(Register(facts)); }

absl::StatusOr<v1::LeaseResponse> House::Lease(const std::string& node,
                                               int slots,
                                               std::vector<int> gpus) {
  v1::LeaseRequest request;
  request.set_node_id(node);
  request.set_session(sessions[node]);
  request.set_slots(slots);
  request.mutable_free_gpus()->Assign(gpus.begin(), gpus.end());
  return Await<v1::LeaseResponse>(
      [&](auto done) { coordinator->Lease(request, done); });
}

absl::StatusOr<v1::HeartbeatResponse> House::Heartbeat(
    const std::string& node, std::vector<v1::HeldAttempt> held) {
  v1::HeartbeatRequest request;
  request.set_node_id(node);
  request.set_session(sessions[node]);
  request.mutable_held()->Assign(held.begin(), held.end());
  return Await<v1::HeartbeatResponse>(
      [&](auto done) { coordinator->Heartbeat(request, done); });
}

absl::StatusOr<v1::CompleteResponse> House::Complete(
    const std::string& node, const v1::LeasedTask& task,
    const v1::TaskResult& result) {
  v1::CompleteRequest request;
  request.set_node_id(node);
  request.set_session(sessions[node]);
  request.set_task_id(task.task_id());
  request.set_fence(task.fence());
  *request.mutable_result() = result;
  return Await<v1::CompleteResponse>(
      [&](auto done) { coordinator->Complete(request, done); });
}

absl::StatusOr<v1::CompleteResponse> House::Fail(const std::string& node,
                                                 const v1::LeasedTask& task,
                                                 v1::InfraFailure::Name infra) {
  v1::CompleteRequest request;
  request.set_node_id(node);
  request.set_session(sessions[node]);
  request.set_task_id(task.task_id());
  request.set_fence(task.fence());
  request.set_infra(infra);
  return Await<v1::CompleteResponse>(
      [&](auto done) { coordinator->Complete(request, done); });
}

absl::StatusOr<v1::CancelJobResponse> House::Cancel(const std::string& job) {
  v1::CancelJobRequest request;
  request.set_job_id(job);
  return Await<v1::CancelJobResponse>(
      [&](auto done) { coordinator->CancelJob(request, done); });
}

v1::JobDetail House::Job(const std::string& id) {
  v1::GetJobRequest request;
  request.set_job_id(id);
  auto job = coordinator->GetJob(request);
  EXPECT_OK(job);
  return job.ok() ? *job : v1::JobDetail();
}

v1::TaskRecord House::Task(const std::string& id, int index) {
  const v1::JobDetail job = Job(id);
  EXPECT_LT(index, job.tasks_size());
  return index < job.tasks_size() ? job.tasks(index) : v1::TaskRecord();
}

std::vector<v1::JobEvent> House::Events(const std::string& id) {
  v1::WatchJobRequest request;
  request.set_job_id(id);
  std::vector<v1::JobEvent> events;
  auto watch = coordinator->WatchJob(request);
  EXPECT_OK(watch);
  bool more = watch.ok();
  while (more) {
    more = false;
    (*watch)->Next([&](absl::StatusOr<WatchBatch> batch) {
      if (!batch.ok()) return;
      events.insert(events.end(), batch->events.begin(), batch->events.end());
      more = !batch->last;
    });
  }
  return events;
}

std::string House::Sql(const std::string& sql) {
  v1::QueryRequest request;
  request.set_sql(sql);
  const auto answer = coordinator->Query(request);
  EXPECT_OK(answer);
  if (!answer.ok()) return "";
  std::string out;
  for (const v1::QueryRow& row : answer->rows()) {
    const v1::QueryValue& value = row.values(0);
    if (!out.empty()) out += ",";
    out += value.has_text()      ? value.text()
           : value.has_integer() ? std::to_string(value.integer())
           : value.has_real()    ? fmt::format("{}", value.real())
                                 : "NULL";
  }
  return out;
}

}  // namespace kernelfleet::server
