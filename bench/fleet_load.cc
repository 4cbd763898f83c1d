// Loads a real server over loopback gRPC and prints one JSON object.
//
//   fleet_load latency SERVER_BINARY [JOBS]
//     Submits jobs one by one while an agent waits in Lease; the time from the
//     start of Submit to the agent's receipt of the task.
//   fleet_load agents SERVER_BINARY [AGENTS]
//     Keeps agents parked in Lease, each on a connection of its own, through
//     more than one round of polls and heartbeats; the server's peak memory.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/rpc/blob_client.h"
#include "common/rpc/call.h"
#include "common/rpc/channel.h"
#include "common/rpc/setup.h"
#include "kernelfleet/v1/service.grpc.pb.h"
#include "tests/support/sample_fleet.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet {
namespace {

using Jobs = v1::JobService::Stub;
using Nodes = v1::NodeService::Stub;
using testing::ServerProcess;

constexpr int kWarmUp = 50;

absl::StatusOr<int64_t> Register(Nodes& nodes, const std::string& node) {
  v1::RegisterRequest request;
  *request.mutable_facts() = testing::SampleNode(node);
  request.set_protocol(rpc::kProtocol);
  KF_ASSIGN_OR_RETURN(const v1::RegisterResponse answer,
                      rpc::Call(nodes, &Nodes::Register, request));
  return answer.session();
}

v1::LeaseRequest LeaseOf(const std::string& node, int64_t session, int slots,
                         double wait_s) {
  v1::LeaseRequest request;
  request.set_node_id(node);
  request.set_session(session);
  request.set_slots(slots);
  request.set_wait_s(wait_s);
  return request;
}

double Percentile(const std::vector<double>& sorted, double p) {
  const auto index =
      static_cast<size_t>(p * static_cast<double>(sorted.size()));
  return sorted[std::min(index, sorted.size() - 1)];
}

absl::Status Latency(const rpc::Address& address, int jobs) {
  const auto plain = rpc::Plaintext::kLoopbackOnly;
  KF_ASSIGN_OR_RETURN(auto agent_channel, rpc::MakeChannel(address, plain));
  KF_ASSIGN_OR_RETURN(auto user_channel, rpc::MakeChannel(address, plain));
  auto nodes = v1::NodeService::NewStub(agent_channel);
  auto user = v1::JobService::NewStub(user_channel);
  KF_RETURN_IF_ERROR(
      rpc::BlobClient(user_channel).Upload(testing::kSampleModule).status());
  KF_ASSIGN_OR_RETURN(const int64_t session, Register(*nodes, "bench"));
  v1::SubmitRequest submit;
  *submit.mutable_spec() = testing::SampleJob();
  std::vector<double> ms;
  for (int i = 0; i < jobs + kWarmUp; ++i) {
    auto leased = std::async(std::launch::async, [&] {
      auto answer =
          rpc::Call(*nodes, &Nodes::Lease, LeaseOf("bench", session, 1, 30),
                    {.deadline = absl::Seconds(60)});
      return std::make_pair(RealClock().Steady(), std::move(answer));
    });
    // The agent waits before the job comes.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const absl::Duration start = RealClock().Steady();
    KF_RETURN_IF_ERROR(rpc::Call(*user, &Jobs::Submit, submit).status());
    const auto [at, lease] = leased.get();
    KF_RETURN_IF_ERROR(lease.status());
    if (lease->tasks_size() != 1) return Internal("no task in the lease");
    if (i >= kWarmUp) ms.push_back(absl::ToDoubleMilliseconds(at - start));
    KF_RETURN_IF_ERROR(
        rpc::Call(*nodes, &Nodes::Complete,
                  testing::SampleResult(lease->tasks(0), "bench", session))
            .status());
  }
  std::sort(ms.begin(), ms.end());
  fmt::print(
      "{{\"lease_p50_ms\": {:.3f}, \"lease_p99_ms\": {:.3f}, "
      "\"lease_max_ms\": {:.3f}, \"jobs\": {}}}\n",
      Percentile(ms, 0.5), Percentile(ms, 0.99), ms.back(), jobs);
  return absl::OkStatus();
}

// One line of /proc/PID/status, in MB.
absl::StatusOr<double> MemoryMb(pid_t pid, std::string_view field) {
  KF_ASSIGN_OR_RETURN(const std::string text,
                      ReadFile(fmt::format("/proc/{}/status", pid)));
  for (std::string_view line : Split(text, '\n')) {
    if (!line.starts_with(field)) continue;
    line.remove_prefix(field.size());
    const auto kib = ParseInt(Trim(line.substr(0, line.find("kB"))));
    if (kib) return static_cast<double>(*kib) * 1024 / 1e6;
  }
  return NotFound(fmt::format("no {} of process {}", field, pid));
}

// An agent that only waits: polls and heartbeats without a thread.
class IdleAgent {
 public:
  IdleAgent(std::shared_ptr<grpc::Channel> channel, std::string node,
            int64_t session, std::atomic<int>& failures)
      : channel_(std::move(channel)),
        stub_(v1::NodeService::NewStub(channel_)),
        node_(std::move(node)),
        session_(session),
        failures_(failures) {}

  // Parks; once answered, parks again until `stop`.
  void Poll(const std::atomic<bool>& stop, std::atomic<int>& open) {
    ++open;
    context_ = std::make_unique<grpc::ClientContext>();
    request_ = LeaseOf(node_, session_, 1, 10);
    stub_->async()->Lease(context_.get(), &request_, &response_,
                          [this, &stop, &open](const grpc::Status& status) {
                            if (!status.ok() && !stop) ++failures_;
                            if (status.ok() && !stop) Poll(stop, open);
                            --open;
                          });
  }

  absl::Status Beat() {
    v1::HeartbeatRequest request;
    request.set_node_id(node_);
    request.set_session(session_);
    return rpc::Call(*stub_, &Nodes::Heartbeat, request).status();
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Nodes> stub_;
  const std::string node_;
  const int64_t session_;
  std::atomic<int>& failures_;
  std::unique_ptr<grpc::ClientContext> context_;
  v1::LeaseRequest request_;
  v1::LeaseResponse response_;
};

absl::Status Agents(const ServerProcess& server, int count) {
  std::atomic<bool> stop = false;
  std::atomic<int> open = 0;
  std::atomic<int> failures = 0;
  std::vector<std::unique_ptr<IdleAgent>> agents;
  for (int i = 0; i < count; ++i) {
    KF_ASSIGN_OR_RETURN(
        auto channel,
        rpc::MakeChannel(server.address(), rpc::Plaintext::kLoopbackOnly));
    auto stub = v1::NodeService::NewStub(channel);
    const std::string node = fmt::format("bench-{}", i);
    KF_ASSIGN_OR_RETURN(const int64_t session, Register(*stub, node));
    agents.push_back(
        std::make_unique<IdleAgent>(channel, node, session, failures));
    agents.back()->Poll(stop, open);
  }
  // Two and a half rounds of polls of 10 s.
  for (int beat = 0; beat < 5; ++beat) {
    for (const auto& agent : agents) KF_RETURN_IF_ERROR(agent->Beat());
    std::this_thread::sleep_for(std::chrono::seconds(5));
  }
  KF_ASSIGN_OR_RETURN(const double mb, MemoryMb(server.pid(), "VmHWM:"));
  const int parked = open;
  stop = true;
  while (open > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (failures > 0 || parked < count) {
    return Internal(fmt::format("{} of {} agents were parked, {} calls failed",
                                parked, count, failures.load()));
  }
  fmt::print("{{\"server_mb\": {:.1f}, \"agents\": {}}}\n", mb, count);
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& args) {
  const auto usage =
      InvalidArgument("usage: fleet_load latency|agents SERVER_BINARY [COUNT]");
  if (args.size() < 3) return usage;
  const auto count = ParseInt(args.size() > 3 ? args[3] : "1000");
  if (!count || *count < 1) return usage;
  testing::TempDir dir;
  KF_ASSIGN_OR_RETURN(ServerProcess server,
                      ServerProcess::Start(args[2], dir / "data", 0,
                                           {"--log-level", "warning"}));
  absl::Status status = usage;
  if (args[1] == "latency") {
    status = Latency(server.address(), static_cast<int>(*count));
  } else if (args[1] == "agents") {
    status = Agents(server, static_cast<int>(*count));
  }
  if (server.Stop() != 0 && status.ok()) {
    status = Internal("the server did not stop cleanly");
  }
  return status;
}

}  // namespace
}  // namespace kernelfleet

int main(int argc, char** argv) {
  kernelfleet::rpc::SetUpGrpc();
  const absl::Status status =
      kernelfleet::Run(std::vector<std::string>(argv, argv + argc));
  if (status.ok()) return 0;
  fmt::print(stderr, "fleet_load: {}\n", kernelfleet::Text(status));
  return 1;
}
