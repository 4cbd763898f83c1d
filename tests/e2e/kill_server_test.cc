// Kills the real server in the middle of everything, again and again, under a
// client and two agents that keep a journal of what was acknowledged. Nothing
// acknowledged may be lost, and nothing may happen twice.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/random.h"
#include "common/base/status.h"
#include "common/rpc/blob_client.h"
#include "common/rpc/call.h"
#include "common/rpc/channel.h"
#include "common/rpc/setup.h"
#include "kernelfleet/v1/service.grpc.pb.h"
#include "tests/support/sample_fleet.h"
#include "tests/support/server_process.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::e2e {
namespace {

using Jobs = v1::JobService::Stub;
using Nodes = v1::NodeService::Stub;
using testing::ServerProcess;

constexpr int kKills = 25;
constexpr int kKernels = 3;
constexpr int kAgents = 2;

// What the server said yes to. Thread-safe.
class Journal {
 public:
  void Submitted(const std::string& key, const std::string& job) {
    MutexLock lock(mutex_);
    jobs_[key] = job;
  }
  void Leased(int64_t fence) {
    MutexLock lock(mutex_);
    EXPECT_TRUE(fences_.insert(fence).second)
        << "fence " << fence << " was given twice";
  }
  void Accepted(int64_t task, const std::string& text) {
    MutexLock lock(mutex_);
    const auto [entry, first] = results_.emplace(task, text);
    EXPECT_TRUE(first || entry->second == text)
        << "task " << task << " has two accepted results";
  }
  std::map<std::string, std::string> jobs() const {
    MutexLock lock(mutex_);
    return jobs_;
  }
  std::map<int64_t, std::string> results() const {
    MutexLock lock(mutex_);
    return results_;
  }
  size_t leases() const {
    MutexLock lock(mutex_);
    return fences_.size();
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::string> jobs_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, std::string> results_ ABSL_GUARDED_BY(mutex_);
  std::set<int64_t> fences_ ABSL_GUARDED_BY(mutex_);
};

// Tries for as long as the test runs: the server is often down.
const rpc::CallOptions kPatient = {.deadline = absl::Seconds(10),
                                   .attempts = 1000,
                                   .backoff_base = absl::Milliseconds(20),
                                   .backoff_cap = absl::Milliseconds(100)};

// One agent with one slot: registers anew after each broken connection and
// says what it holds.
class ScriptedAgent {
 public:
  ScriptedAgent(std::shared_ptr<grpc::Channel> channel, std::string node,
                Journal& journal)
      : stub_(v1::NodeService::NewStub(channel)),
        node_(std::move(node)),
        journal_(journal),
        thread_([this] { Run(); }) {}
  ~ScriptedAgent() {
    stop_.Stop();
    thread_.join();
  }

 private:
  void Run() {
    while (!stop_.stopped()) {
      if (!registered_) Register();
      v1::LeaseRequest request;
      request.set_node_id(node_);
      request.set_session(session_);
      request.set_slots(1);
      request.set_wait_s(5);
      // Once: what a lost answer held, the next registration gives back.
      const auto lease = rpc::Call(*stub_, &Nodes::Lease, request,
                                   {.attempts = 1, .stop = &stop_});
      registered_ = lease.ok();
      if (!lease.ok()) continue;
      for (const v1::LeasedTask& task : lease->tasks()) Work(task);
    }
  }

  void Register() {
    v1::RegisterRequest request;
    *request.mutable_facts() = testing::SampleNode(node_);
    request.set_protocol(rpc::kProtocol);
    if (held_) *request.add_held() = *held_;
    rpc::CallOptions options = kPatient;
    options.stop = &stop_;
    const auto answer = rpc::Call(*stub_, &Nodes::Register, request, options);
    registered_ = answer.ok();
    if (answer.ok()) session_ = answer->session();
  }

  // Sends the result until the server says what became of it.
  void Work(const v1::LeasedTask& task) {
    journal_.Leased(task.fence());
    held_ = v1::HeldAttempt();
    held_->set_task_id(task.task_id());
    held_->set_fence(task.fence());
    held_->set_step("running");
    const std::string text = node_ + " " + std::to_string(task.fence());
    while (!stop_.stopped()) {
      if (!registered_) Register();
      const auto answer =
          rpc::Call(*stub_, &Nodes::Complete,
                    testing::SampleResult(task, node_, session_, text),
                    {.attempts = 1, .stop = &stop_});
      if (answer.ok()) {
        if (answer->accepted()) journal_.Accepted(task.task_id(), text);
        break;
      }
      registered_ = false;
    }
    held_.reset();
  }

  std::unique_ptr<Nodes> stub_;
  const std::string node_;
  Journal& journal_;
  rpc::CallStop stop_;
  int64_t session_ = 0;
  bool registered_ = false;
  std::optional<v1::HeldAttempt> held_;
  std::thread thread_;
};

// Submits jobs one after the other, each until it is acknowledged.
class ScriptedUser {
 public:
  ScriptedUser(std::shared_ptr<grpc::Channel> channel, Journal& journal)
      : stub_(v1::JobService::NewStub(channel)),
        journal_(journal),
        thread_([this] { Run(); }) {}
  ~ScriptedUser() {
    done_ = true;
    thread_.join();
  }

 private:
  void Run() {
    for (int i = 0; !done_; ++i) {
      v1::SubmitRequest request;
      *request.mutable_spec() = testing::SampleJob(kKernels);
      request.set_idempotency_key("job " + std::to_string(i));
      const auto answer = rpc::Call(*stub_, &Jobs::Submit, request, kPatient);
      ASSERT_OK(answer);
      journal_.Submitted(request.idempotency_key(), answer->job_id());
    }
  }

  std::unique_ptr<Jobs> stub_;
  Journal& journal_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

v1::JobDetail WaitForEnd(Jobs& jobs, const std::string& id) {
  v1::GetJobRequest request;
  request.set_job_id(id);
  const absl::Duration give_up = RealClock().Steady() + absl::Seconds(60);
  for (;;) {
    const auto job = rpc::Call(jobs, &Jobs::GetJob, request, kPatient);
    EXPECT_OK(job);
    if (!job.ok()) return {};
    if (job->summary().state() != v1::JobState::active ||
        RealClock().Steady() > give_up) {
      return *job;
    }
    // A watch returns when something happened.
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(5));
    v1::WatchJobRequest watch;
    watch.set_job_id(id);
    watch.set_after_sequence(1);
    v1::JobEvent event;
    auto stream = jobs.WatchJob(&context, watch);
    while (stream->Read(&event)) {
    }
    (void)stream->Finish();
  }
}

// Every acknowledged job ended, with one result for each task, and the result
// is the one that was acknowledged.
void CheckNothingLostOrDoubled(Jobs& jobs, const Journal& journal) {
  const std::map<int64_t, std::string> results = journal.results();
  std::set<std::string> ids;
  size_t tasks = 0;
  for (const auto& [key, id] : journal.jobs()) {
    EXPECT_TRUE(ids.insert(id).second) << "two keys share job " << id;
    const v1::JobDetail job = WaitForEnd(jobs, id);
    EXPECT_EQ(job.summary().state(), v1::JobState::done)
        << key << ": " << job.ShortDebugString();
    EXPECT_EQ(job.tasks_size(), kKernels) << key;
    for (const v1::TaskRecord& task : job.tasks()) {
      ++tasks;
      ASSERT_EQ(task.result().probe().warnings_size(), 1) << key;
      const std::string& stored = task.result().probe().warnings(0);
      // An acknowledgement may be lost on its way, a result may not.
      const auto acked = results.find(task.task_id());
      if (acked == results.end()) continue;
      EXPECT_EQ(stored, acked->second) << key;
    }
  }
  v1::QueryRequest query;
  query.set_sql("select count(*) from probes");
  ASSERT_OK_AND_ASSIGN(const auto counted,
                       rpc::Call(jobs, &Jobs::Query, query, kPatient));
  EXPECT_EQ(counted.rows(0).values(0).integer(), static_cast<int64_t>(tasks));
}

void CheckDatabase(const std::string& path) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr),
            SQLITE_OK);
  std::string verdict;
  sqlite3_exec(
      db, "pragma integrity_check",
      [](void* out, int, char** values, char**) {
        *static_cast<std::string*>(out) += values[0];
        return 0;
      },
      &verdict, nullptr);
  sqlite3_close(db);
  EXPECT_EQ(verdict, "ok");
}

TEST(KilledServer, LosesAndDoublesNothing) {
  rpc::SetUpGrpc();
  const std::string binary =
      std::string(std::getenv("KERNELFLEET_BIN_DIR")) + "/kernelfleet-server";
  testing::TempDir dir;
  const std::string data = dir / "data";
  const std::vector<std::string> quiet = {"--log-level", "warning"};
  ASSERT_OK_AND_ASSIGN(ServerProcess server,
                       ServerProcess::Start(binary, data, 0, quiet));
  const rpc::Address address = server.address();
  const auto channel = [&] {
    return *rpc::MakeChannel(address, rpc::Plaintext::kLoopbackOnly);
  };
  ASSERT_OK(rpc::BlobClient(channel()).Upload(testing::kSampleModule));
  auto jobs = v1::JobService::NewStub(channel());
  Journal journal;
  absl::Duration slowest_start;
  {
    std::vector<std::unique_ptr<ScriptedAgent>> agents;
    for (int i = 0; i < kAgents; ++i) {
      agents.push_back(std::make_unique<ScriptedAgent>(
          channel(), "agent-" + std::to_string(i), journal));
    }
    auto user = std::make_unique<ScriptedUser>(channel(), journal);
    for (int kill = 0; kill < kKills; ++kill) {
      // In the middle of work: after some more leases, at a random moment.
      const size_t busy = journal.leases() + 2;
      const absl::Duration give_up = RealClock().Steady() + absl::Seconds(30);
      while (journal.leases() < busy && RealClock().Steady() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      ASSERT_GE(journal.leases(), busy) << "no work went on before the kill";
      std::this_thread::sleep_for(std::chrono::milliseconds(
          static_cast<int>(150 * SystemRandom().Uniform())));
      server.Kill();
      const absl::Duration start = RealClock().Steady();
      ASSERT_OK_AND_ASSIGN(
          server, ServerProcess::Start(binary, data, address.port, quiet));
      slowest_start = std::max(slowest_start, RealClock().Steady() - start);
    }
    user.reset();
    CheckNothingLostOrDoubled(*jobs, journal);
  }
  std::printf(
      "%d kills: %zu jobs, %zu leases, %zu acknowledged results, "
      "slowest restart %.0f ms\n",
      kKills, journal.jobs().size(), journal.leases(), journal.results().size(),
      absl::ToDoubleMilliseconds(slowest_start));
  EXPECT_EQ(server.Stop(), 0);
  CheckDatabase(data + "/kernelfleet.db");
}

}  // namespace
}  // namespace kernelfleet::e2e
