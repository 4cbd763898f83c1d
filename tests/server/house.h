// A coordinator in a folder of its own that runs only when told, with a clock
// that moves only when told.
#ifndef KERNELFLEET_TESTS_SERVER_HOUSE_H_
#define KERNELFLEET_TESTS_SERVER_HOUSE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/hash.h"
#include "common/base/random.h"
#include "server/coordinator.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::server {

v1::Target TargetOf(const std::string& backend, const std::string& arch);

// One compile probe per target; when all have ended, one decision.
Plan ProbeAllTargets(const v1::JobSpec& job, int kernel,
                     std::span<const v1::TaskRecord> records);

// A job of `kernels` kernels called k0, k1 … on cuda:sm_90.
v1::JobSpec SpecOf(int kernels);

// A node that compiles cuda:sm_90 in one environment "base" of hash `hash`.
v1::NodeFacts CompileNode(const std::string& id,
                          const std::string& hash = "env1");

// A compiled kernel with resources and a few instruction counts.
v1::TaskResult CompiledResult(int registers = 32);

class House {
 public:
  House();
  // Fails the test when the coordinator does not open.
  void Open();
  void Close() { coordinator.reset(); }
  void Reopen() {
    Close();
    Open();
  }
  // Runs the writer until it has nothing to do at this time.
  void Settle();
  void Pass(absl::Duration time);

  // Each runs the writer and returns the answer.
  absl::StatusOr<v1::SubmitResponse> Submit(const v1::JobSpec& spec,
                                            const std::string& key = "");
  absl::StatusOr<v1::RegisterResponse> Register(
      const v1::NodeFacts& facts, std::vector<v1::HeldAttempt> held = {});
  // Registers and keeps the session.
  void AddNode(const v1::NodeFacts& facts);
  absl::StatusOr<v1::LeaseResponse> Lease(const std::string& node,
                                          int slots = 1,
                                          std::vector<int> gpus = {});
  absl::StatusOr<v1::HeartbeatResponse> Heartbeat(
      const std::string& node, std::vector<v1::HeldAttempt> held);
  absl::StatusOr<v1::CompleteResponse> Complete(const std::string& node,
                                                const v1::LeasedTask& task,
                                                const v1::TaskResult& result);
  absl::StatusOr<v1::CompleteResponse> Fail(const std::string& node,
                                            const v1::LeasedTask& task,
                                            v1::InfraFailure::Name infra);
  absl::StatusOr<v1::CancelJobResponse> Cancel(const std::string& job);
  v1::JobDetail Job(const std::string& id = "last");
  v1::TaskRecord Task(const std::string& id = "last", int index = 0);
  std::vector<v1::JobEvent> Events(const std::string& id = "last");
  // The first column of all rows, joined by commas.
  std::string Sql(const std::string& sql);

  testing::TempDir folder;
  testing::FakeClock clock;
  SeededRandom random{7};
  CoordinatorOptions options;
  std::unique_ptr<Coordinator> coordinator;
  std::map<std::string, int64_t> sessions;

 private:
  template <typename Response, typename Call>
  absl::StatusOr<Response> Await(Call call) {
    std::optional<absl::StatusOr<Response>> answer;
    call([&](absl::StatusOr<Response> got) { answer = std::move(got); });
    Settle();
    if (!answer) return absl::DeadlineExceededError("parked");
    return *std::move(answer);
  }
};

v1::HeldAttempt Held(const v1::LeasedTask& task,
                     const std::string& step = "running");

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_TESTS_SERVER_HOUSE_H_
