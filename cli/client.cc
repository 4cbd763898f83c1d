#include "cli/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "cli/server_address.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/rpc/blob_client.h"
#include "common/rpc/call.h"
#include "common/rpc/channel.h"
#include "common/rpc/limits.h"
#include "common/rpc/status.h"
#include "kernelfleet/v1/service.grpc.pb.h"

namespace kernelfleet::cli {
namespace {

using Stub = v1::JobService::Stub;

// A person waits: a server that is not there is said at once.
constexpr int kAttempts = 3;
constexpr absl::Duration kPatience = absl::Minutes(2);
constexpr int kPageSize = 500;
// Room for the rest of the request.
constexpr size_t kMaxInlineSpec = rpc::kMaxRequestBytes - 4096;

}  // namespace

struct Client::State {
  std::string address;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<Stub> jobs;
  std::unique_ptr<rpc::BlobClient> blobs;
  rpc::CallStop stop;
  rpc::CallOptions options;

  // A dead server becomes a sentence that says what to do.
  absl::Status Explain(const absl::Status& status) const {
    if (status.code() != absl::StatusCode::kUnavailable) return status;
    return Unavailable(fmt::format(
        "{}: no coordinator answers there ({}); start one with `kernelfleet "
        "dev` or name one with --server",
        address, Text(status)));
  }

  template <typename Response, typename Request>
  absl::StatusOr<Response> Call(
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Response*),
      const Request& request) {
    absl::StatusOr<Response> response =
        rpc::Call(*jobs, method, request, options);
    if (!response.ok()) return Explain(response.status());
    return response;
  }
};

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client::~Client() = default;

absl::StatusOr<Client> Client::Connect(const Arguments& args) {
  KF_ASSIGN_OR_RETURN(const std::string text, FindServer(args));
  KF_ASSIGN_OR_RETURN(const rpc::Address address, rpc::ParseAddress(text));
  auto state = std::make_unique<State>();
  state->address = rpc::ToString(address);
  KF_ASSIGN_OR_RETURN(
      state->channel,
      rpc::MakeChannel(address, args.Has("--insecure-plaintext")
                                    ? rpc::Plaintext::kAnywhere
                                    : rpc::Plaintext::kLoopbackOnly));
  state->options.attempts = kAttempts;
  state->options.backoff_base = absl::Milliseconds(100);
  state->options.stop = &state->stop;
  state->jobs = v1::JobService::NewStub(state->channel);
  state->blobs =
      std::make_unique<rpc::BlobClient>(state->channel, state->options);
  return Client(std::move(state));
}

const std::string& Client::address() const { return state_->address; }

void Client::Stop() { state_->stop.Stop(); }

absl::StatusOr<v1::SubmitResponse> Client::Submit(
    const v1::JobSpec& spec, const std::string& key,
    const std::map<std::string, std::string>& blobs) {
  v1::SubmitRequest request;
  request.set_idempotency_key(key);
  std::map<std::string, std::string> wanted = blobs;
  if (spec.ByteSizeLong() <= kMaxInlineSpec) {
    *request.mutable_spec() = spec;
  } else {
    std::string bytes = spec.SerializeAsString();
    request.set_spec_digest(DigestOf(bytes));
    wanted[request.spec_digest()] = std::move(bytes);
  }
  std::vector<std::string> digests;
  for (const auto& [digest, bytes] : wanted) digests.push_back(digest);
  absl::StatusOr<std::vector<std::string>> missing =
      state_->blobs->FindMissing(digests);
  if (!missing.ok()) return state_->Explain(missing.status());
  for (const std::string& digest : *missing) {
    const absl::Status status =
        state_->blobs->Upload(wanted.at(digest)).status();
    if (!status.ok()) return state_->Explain(status);
  }
  return state_->Call(&Stub::Submit, request);
}

absl::StatusOr<v1::JobDetail> Client::GetJobHead(const std::string& id) {
  v1::GetJobRequest request;
  request.set_job_id(id);
  request.set_omit_tasks(true);
  return state_->Call(&Stub::GetJob, request);
}

absl::StatusOr<v1::JobDetail> Client::GetJob(const std::string& id) {
  KF_ASSIGN_OR_RETURN(v1::JobDetail job, GetJobHead(id));
  v1::ListTasksRequest request;
  request.set_job_id(job.summary().job_id());
  request.set_page_size(kPageSize);
  do {
    KF_ASSIGN_OR_RETURN(v1::ListTasksResponse page,
                        state_->Call(&Stub::ListTasks, request));
    for (v1::TaskRecord& task : *page.mutable_tasks()) {
      *job.add_tasks() = std::move(task);
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return job;
}

absl::StatusOr<v1::ListJobsResponse> Client::ListJobs(
    const v1::ListJobsRequest& request) {
  return state_->Call(&Stub::ListJobs, request);
}

absl::StatusOr<v1::CancelJobResponse> Client::CancelJob(
    const std::string& id, const std::string& reason) {
  v1::CancelJobRequest request;
  request.set_job_id(id);
  request.set_reason(reason);
  return state_->Call(&Stub::CancelJob, request);
}

absl::StatusOr<v1::ListNodesResponse> Client::ListNodes() {
  return state_->Call(&Stub::ListNodes, v1::ListNodesRequest());
}

absl::Status Client::SetNodeState(const v1::SetNodeStateRequest& request) {
  return state_->Call(&Stub::SetNodeState, request).status();
}

absl::StatusOr<v1::ReadLogResponse> Client::ReadLog(
    const v1::ReadLogRequest& request) {
  rpc::CallOptions options = state_->options;
  // The server may hold a followed log for its longest poll.
  if (request.follow()) options.deadline += rpc::kMaxLongPoll;
  absl::StatusOr<v1::ReadLogResponse> response =
      rpc::Call(*state_->jobs, &Stub::ReadLog, request, options);
  if (!response.ok()) return state_->Explain(response.status());
  return response;
}

absl::StatusOr<v1::QueryResponse> Client::Query(
    const v1::QueryRequest& request) {
  rpc::CallOptions options = state_->options;
  options.deadline += absl::Seconds(request.timeout_s());
  absl::StatusOr<v1::QueryResponse> response =
      rpc::Call(*state_->jobs, &Stub::Query, request, options);
  if (!response.ok()) return state_->Explain(response.status());
  return response;
}

absl::StatusOr<v1::ServerInfo> Client::GetServerInfo() {
  return state_->Call(&Stub::GetServerInfo, v1::GetServerInfoRequest());
}

absl::Status Client::Watch(
    const std::string& id,
    const std::function<void(const v1::JobEvent&)>& event) {
  v1::WatchJobRequest request;
  request.set_job_id(id);
  absl::Duration last_news = RealClock().Steady();
  for (int attempt = 0;; ++attempt) {
    rpc::CallOptions options = state_->options;
    options.attempts = 1;
    // A stream may last as long as the job; keepalive notices a dead peer.
    options.deadline = absl::Hours(24 * 365);
    const absl::Status status =
        rpc::Retry(options, [&](grpc::ClientContext& context) {
          auto reader = state_->jobs->WatchJob(&context, request);
          v1::JobEvent one;
          while (reader->Read(&one)) {
            request.set_after_sequence(one.sequence());
            last_news = RealClock().Steady();
            attempt = 0;
            event(one);
          }
          return reader->Finish();
        });
    if (!rpc::IsTransient(status.code())) return status;
    if (RealClock().Steady() - last_news > kPatience) {
      return state_->Explain(status);
    }
    state_->stop.Sleep(*options.clock,
                       Backoff(*options.random, attempt, absl::Seconds(0.25),
                               absl::Seconds(5)));
  }
}

absl::StatusOr<std::string> Client::Download(const std::string& digest) {
  absl::StatusOr<std::string> bytes = state_->blobs->Download(digest);
  if (!bytes.ok()) return state_->Explain(bytes.status());
  return bytes;
}

absl::Status Client::DownloadFile(const std::string& digest,
                                  const std::string& path) {
  return state_->Explain(state_->blobs->DownloadFile(digest, path));
}

}  // namespace kernelfleet::cli
