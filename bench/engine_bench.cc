// The coordinator's engine without a network, on a real disk.
//
//   engine_bench lifecycles FOLDER SECONDS   submit, lease, complete, FULL sync
//   engine_bench batch FOLDER TASKS          one job of TASKS tasks, then
//   leases engine_bench startup FOLDER TASKS        open with TASKS finished
//   tasks
//
// Each prints one JSON object.
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <thread>

#include "common/base/check.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "server/coordinator.h"

namespace kernelfleet::server {
namespace {

constexpr int kNodes = 32;
constexpr int kSlots = 8;
constexpr int kJobsInFlight = 512;

// A thread that plays all clients, so that the writer's thread does only what
// a server's would.
class Clients {
 public:
  void Do(std::function<void()> what) {
    MutexLock lock(mutex_);
    work_.push_back(std::move(what));
    if (work_.size() == 1) wake_.NotifyOne();
  }
  // Until `done`; then drops what is left.
  void Run(const std::function<bool()>& done) {
    std::deque<std::function<void()>> batch;
    while (!done()) {
      {
        MutexLock lock(mutex_);
        if (work_.empty()) {
          wake_.Wait(mutex_, RealClock(), absl::Milliseconds(10));
        }
        batch.swap(work_);
      }
      for (auto& each : batch) each();
      batch.clear();
    }
  }

 private:
  Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> work_;
};

v1::JobSpec SpecOf(int kernels, int64_t number) {
  v1::JobSpec spec;
  spec.set_workflow("probe");
  spec.add_targets()->set_backend("cuda");
  spec.mutable_targets(0)->set_arch("sm_90");
  (*spec.mutable_labels())["number"] = std::to_string(number);
  for (int i = 0; i < kernels; ++i) {
    v1::KernelSpec& kernel = *spec.add_kernels();
    kernel.set_name(fmt::format("kernel_{}_{}", number, i));
    kernel.set_source_file("kernels/softmax.py");
    kernel.set_module_digest(DigestOf(kernel.name()));
    kernel.set_file_sha256(kernel.module_digest().substr(7));
    kernel.set_classification("reduction");
    for (const char* name : {"x", "y", "out", "stride", "n", "BLOCK"}) {
      v1::KernelArg& arg = *kernel.mutable_case_()->add_args();
      arg.set_name(name);
      arg.set_type("*fp16");
      arg.set_divisibility(16);
    }
  }
  return spec;
}

v1::TaskResult Result() {
  v1::TaskResult result;
  v1::ProbeResult& probe = *result.mutable_probe();
  probe.set_outcome(v1::Outcome::compiled);
  probe.set_total_ms(46);
  for (const char* name : {"ttir", "ttgir", "llir", "ptx", "cubin"}) {
    v1::StageTime& stage = *probe.add_stages();
    stage.set_name(name);
    stage.set_ms(9.2);
    v1::Artifact& artifact = *probe.add_artifacts();
    artifact.set_name(fmt::format("kernel.{}", name));
    artifact.set_kind(name);
    artifact.set_digest(DigestOf(name));
    artifact.set_size_bytes(20'000);
  }
  v1::Resources& resources = *probe.mutable_resources();
  resources.set_registers(64);
  resources.set_shared_bytes(16'384);
  resources.set_spill_store_bytes(0);
  resources.set_num_warps(4);
  for (const char* name : {"triton", "python", "ptxas"}) {
    (*probe.mutable_environment())[name] = "3.6.0";
  }
  v1::IsaKernel& isa = *result.add_isa();
  isa.set_symbol("softmax");
  isa.set_dialect("sass");
  for (const char* space : {"global", "shared"}) {
    for (const char* direction : {"load", "store"}) {
      v1::MemoryCount& count = *isa.add_memory();
      count.set_space(space);
      count.set_direction(direction);
      count.set_bytes(16);
      count.set_count(8);
    }
  }
  for (const char* family : {"hmma", "barrier"}) {
    v1::FamilyCount& count = *isa.add_families();
    count.set_family(family);
    count.set_count(32);
  }
  return result;
}

v1::NodeFacts Facts(int number) {
  v1::NodeFacts facts;
  facts.set_node_id(fmt::format("node{}", number));
  facts.set_compile_slots(kSlots);
  v1::Environment& environment = *facts.add_environments();
  environment.set_name("base");
  environment.set_hash("env");
  environment.set_triton_version("3.6.0");
  v1::TargetCapability& target = *environment.add_targets();
  target.mutable_target()->set_backend("cuda");
  target.mutable_target()->set_arch("sm_90");
  target.set_compiles(true);
  return facts;
}

CoordinatorOptions Options(const std::string& folder) {
  CoordinatorOptions options;
  options.data_dir = folder;
  options.durability = Durability::kFull;
  options.queue_limit = 1 << 20;
  options.next = [](const v1::JobSpec& job, int kernel,
                    std::span<const v1::TaskRecord> records) {
    Plan plan;
    if (!records.empty()) return plan;
    v1::TaskSpec& task = plan.tasks.emplace_back();
    task.set_kernel(kernel);
    task.set_phase(v1::Phase::compile_probe);
    *task.mutable_target() = job.targets(0);
    task.set_deterministic(true);
    return plan;
  };
  return options;
}

std::unique_ptr<Coordinator> Open(const std::string& folder) {
  auto opened = Coordinator::Open(Options(folder), RealClock(), SystemRandom());
  if (!opened.ok()) LogError("cannot open", {{"why", Text(opened.status())}});
  KF_CHECK(opened.ok());
  return *std::move(opened);
}

// The fleet: each node leases, completes at once, leases again.
class Fleet {
 public:
  Fleet(Coordinator& coordinator, Clients& clients)
      : coordinator_(coordinator), clients_(clients), result_(Result()) {}

  void Start() {
    for (int i = 0; i < kNodes; ++i) {
      v1::RegisterRequest request;
      *request.mutable_facts() = Facts(i);
      coordinator_.Register(request, [this, i](auto answer) {
        KF_CHECK(answer.ok());
        const int64_t session = answer->session();
        clients_.Do([this, i, session] { Lease(i, session); });
      });
    }
  }
  void Lease(int node, int64_t session) {
    v1::LeaseRequest request;
    request.set_node_id(fmt::format("node{}", node));
    request.set_session(session);
    request.set_slots(kSlots);
    request.set_wait_s(5);
    coordinator_.Lease(request, [this, node, session](auto answer) {
      if (!answer.ok()) return;
      leased_ += answer->tasks_size();
      clients_.Do([this, node, session, lease = *std::move(answer)] {
        for (const v1::LeasedTask& task : lease.tasks()) {
          Complete(node, session, task);
        }
        Lease(node, session);
      });
    });
  }
  int64_t leased() const { return leased_; }
  int64_t completed() const { return completed_; }
  std::function<void()> on_complete;

 private:
  void Complete(int node, int64_t session, const v1::LeasedTask& task) {
    v1::CompleteRequest request;
    request.set_node_id(fmt::format("node{}", node));
    request.set_session(session);
    request.set_task_id(task.task_id());
    request.set_fence(task.fence());
    *request.mutable_result() = result_;
    coordinator_.Complete(request, [this](auto answer) {
      if (!answer.ok() || !answer->accepted()) return;
      ++completed_;
      if (on_complete) clients_.Do(on_complete);
    });
  }

  Coordinator& coordinator_;
  Clients& clients_;
  const v1::TaskResult result_;
  std::atomic<int64_t> leased_ = 0;
  std::atomic<int64_t> completed_ = 0;
};

double Seconds(absl::Duration since) {
  return absl::ToDoubleSeconds(RealClock().Steady() - since);
}

// Processor time of this process so far.
double CpuSeconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Lifecycles(const std::string& folder, double seconds) {
  std::unique_ptr<Coordinator> coordinator = Open(folder);
  Clients clients;
  Fleet fleet(*coordinator, clients);
  fleet.Start();
  int64_t submitted = 0;
  const auto submit = [&] {
    v1::SubmitRequest request;
    *request.mutable_spec() = SpecOf(1, submitted++);
    request.set_idempotency_key(fmt::format("key{}", submitted));
    coordinator->Submit(request,
                        [](const auto& answer) { KF_CHECK(answer.ok()); });
  };
  fleet.on_complete = submit;
  for (int i = 0; i < kJobsInFlight; ++i) submit();
  absl::Duration start = RealClock().Steady();
  // The first second warms statements and caches.
  clients.Run([&] { return Seconds(start) > 1; });
  const int64_t before = fleet.completed();
  const double cpu_before = CpuSeconds();
  start = RealClock().Steady();
  clients.Run([&] { return Seconds(start) > seconds; });
  const double cpu_s = CpuSeconds() - cpu_before;
  const double took = Seconds(start);
  const int64_t done = fleet.completed() - before;
  fmt::print(
      "{{\"lifecycles_per_s\": {:.0f}, \"cpu_us_per_lifecycle\": {:.0f}, "
      "\"seconds\": {:.2f}, \"synchronous\": \"FULL\", "
      "\"jobs_in_flight\": {}}}\n",
      static_cast<double>(done) / took,
      cpu_s * 1e6 / static_cast<double>(std::max<int64_t>(done, 1)), took,
      kJobsInFlight);
  // Its last answers go to clients that still stand.
  coordinator.reset();
}

void Batch(const std::string& folder, int tasks) {
  std::unique_ptr<Coordinator> coordinator = Open(folder);
  Clients clients;
  v1::SubmitRequest request;
  *request.mutable_spec() = SpecOf(tasks, 0);
  absl::Duration start = RealClock().Steady();
  std::atomic<bool> acknowledged = false;
  coordinator->Submit(request, [&](const auto& answer) {
    KF_CHECK(answer.ok());
    acknowledged = true;
  });
  clients.Run([&] { return acknowledged.load(); });
  const double submit_s = Seconds(start);
  clients.Run(
      [&] { return coordinator->GetServerInfo()->open_tasks() == tasks; });
  const double planned_s = Seconds(start);
  Fleet fleet(*coordinator, clients);
  start = RealClock().Steady();
  fleet.Start();
  clients.Run([&] { return fleet.completed() == tasks; });
  const double ran_s = Seconds(start);
  fmt::print(
      "{{\"tasks\": {}, \"submit_s\": {:.2f}, \"planned_s\": {:.2f}, "
      "\"leases_per_s\": {:.0f}}}\n",
      tasks, submit_s, planned_s, tasks / ran_s);
  // Its last answers go to clients that still stand.
  coordinator.reset();
}

void Execute(sqlite3* db, const std::string& sql) {
  char* error = nullptr;
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error) != SQLITE_OK) {
    LogError("cannot fill", {{"why", error}});
    KF_CHECK(false);
  }
}

// Rows as finished work leaves them, ten tasks to a job, made in bulk.
void Fill(const std::string& path, int tasks) {
  sqlite3* db = nullptr;
  KF_CHECK(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  const std::string spec = SpecOf(1, 0).kernels(0).SerializeAsString();
  const std::string result = Result().SerializeAsString();
  const auto hex = [](const std::string& bytes) {
    std::string out = "x'";
    for (const char c : bytes) {
      out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    }
    return out + "'";
  };
  const std::string n =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n "
      "WHERE i<{}) ";
  Execute(db, "PRAGMA synchronous=OFF; BEGIN;");
  Execute(db,
          fmt::format(
              fmt::runtime(n + "INSERT INTO job_row SELECT i, "
                               "printf('j%010d', i), 'done', 'probe', 'user', "
                               "'softmax', 0, 1, 1, 10, 0, 0, 10, 0, 0, 0, 0, "
                               "1700000000000000+i, 1700000001000000+i, 32, "
                               "printf('k%d', i), 'body', '{{}}', '', x'' "
                               "FROM n;"),
              tasks / 10));
  Execute(db,
          fmt::format(fmt::runtime(n + "INSERT INTO kernel_row SELECT i << 20, "
                                       "'softmax', 'softmax.py', 'sha', 'dig', "
                                       "'reduction', {} FROM n;"),
                      tasks / 10, hex(spec)));
  Execute(
      db,
      fmt::format(
          fmt::runtime(
              n + "INSERT INTO task_row(id, job, kernel, phase, target, "
                  "variant, needs_gpu, state, fence, attempts, created_us, "
                  "started_us, finished_us, result_fence, toggles, spec, node) "
                  "SELECT i, (i-1)/10+1, 0, 'compile_probe', 'cuda:sm_90', '', "
                  "0, 'done', i, 1, 1700000000000000, 1700000000000000, "
                  "1700000001000000, i, '{{}}', x'', 'node1' FROM n;"),
          tasks));
  Execute(db,
          fmt::format(
              fmt::runtime(
                  n + "INSERT INTO attempt_row(fence, task, node, session, "
                      "gpu_index, gpu, driver, environment, environment_hash, "
                      "python_version, triton_version, torch_version, state, "
                      "leased_us, finished_us, outcome, registers, result) "
                      "SELECT i, i, 'node1', 1, -1, '', '', 'base', 'env', "
                      "'3.11', '3.6.0', '', 'accepted', 1700000000000000, "
                      "1700000001000000, 'compiled', 64, {} FROM n;"),
              tasks, hex(result)));
  Execute(db, fmt::format(fmt::runtime(n + "INSERT INTO event_row SELECT "
                                           "(i-1)/32+1, (i-1)%32+1, "
                                           "1700000000000000+i, 'done', i, "
                                           "'node1', 'compiled' FROM n;"),
                          tasks * 32 / 10));
  Execute(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE);");
  sqlite3_close(db);
}

void Startup(const std::string& folder, int tasks) {
  Open(folder).reset();
  const std::string path = folder + "/kernelfleet.db";
  Fill(path, tasks);
  // Read from the disk, as after a reboot.
  const int fd = ::open(path.c_str(), O_RDONLY);
  ::fsync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  const int64_t bytes = ::lseek(fd, 0, SEEK_END);
  ::close(fd);
  const absl::Duration start = RealClock().Steady();
  std::unique_ptr<Coordinator> coordinator = Open(folder);
  const double open_s = Seconds(start);
  Clients clients;
  Fleet fleet(*coordinator, clients);
  fleet.Start();
  v1::SubmitRequest request;
  *request.mutable_spec() = SpecOf(1, 1);
  coordinator->Submit(request,
                      [](const auto& answer) { KF_CHECK(answer.ok()); });
  clients.Run([&] { return fleet.completed() == 1; });
  fmt::print(
      "{{\"ready_s\": {:.3f}, \"open_s\": {:.3f}, \"tasks\": {}, "
      "\"database_mb\": {}}}\n",
      Seconds(start), open_s, tasks, bytes >> 20);
  // Its last answers go to clients that still stand.
  coordinator.reset();
}

int Main(int argc, char** argv) {
  SetLogLevel("error");
  const std::string mode = argc == 4 ? argv[1] : "";
  const int number =
      argc == 4 ? static_cast<int>(ParseInt(argv[3]).value_or(0)) : 0;
  if (number <= 0 ||
      (mode != "lifecycles" && mode != "batch" && mode != "startup")) {
    fmt::print(stderr,
               "usage: engine_bench lifecycles|batch|startup FOLDER NUMBER\n");
    return 2;
  }
  if (mode == "lifecycles") Lifecycles(argv[2], number);
  if (mode == "batch") Batch(argv[2], number);
  if (mode == "startup") Startup(argv[2], number);
  return 0;
}

}  // namespace
}  // namespace kernelfleet::server

int main(int argc, char** argv) {
  return kernelfleet::server::Main(argc, argv);
}
