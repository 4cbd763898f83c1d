#include "server/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/mutex.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "server/board.h"
#include "server/check_request.h"
#include "server/engine.h"
#include "server/log_book.h"
#include "server/probe_request.h"
#include "server/reader_pool.h"
#include "server/store/schema.h"
#include "server/watch_hub.h"
#include "server/writer.h"

namespace kernelfleet::server {
namespace {

// Tasks in one JobDetail; more are listed in pages.
constexpr int kMostTasksAtOnce = 2000;
constexpr int kTaskPage = 500;
constexpr int kEventPage = 256;
// Protocol of service.proto; agents with another are refused.
constexpr int kProtocol = 1;
// A log whose attempt ended this long ago gets no more bytes.
constexpr absl::Duration kLogTail = absl::Seconds(30);

// A command whose answer is made by `apply` and given to `done`.
template <typename Response, typename Apply>
Command Make(Done<Response> done, Apply apply) {
  auto answer = std::make_shared<absl::StatusOr<Response>>(
      absl::InternalError("no answer"));
  return {[answer, apply = std::move(apply)](Engine& engine) {
            return apply(engine, answer.get());
          },
          [answer, done = std::move(done)](const absl::Status& status) {
            if (status.ok()) {
              done(std::move(*answer));
            } else {
              done(status);
            }
          }};
}

}  // namespace

struct Coordinator::Parts {
  Parts(CoordinatorOptions given, Clock& c, Random& r)
      : options(std::move(given)), clock(c), random(r) {}

  // Tells why the task waits, as far as the writer knows.
  void Explain(const v1::JobSpec& head, v1::TaskRecord* record) const {
    if (record->state() != v1::TaskState::waiting) return;
    const std::string why = board.WhyWaiting(NeedsOf(head, record->spec()));
    if (why.empty()) return;
    record->set_reason(
        record->reason().empty() ? why : record->reason() + "; " + why);
  }
  absl::StatusOr<std::shared_ptr<const v1::JobSpec>> SpecFrom(
      v1::SubmitRequest* request) const;
  absl::Status CheckBlobs(const std::set<std::string>& digests) const;

  const CoordinatorOptions options;
  Clock& clock;
  Random& random;
  absl::Duration started;
  Board board;
  std::unique_ptr<Store> store;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<LogBook> logs;
  std::shared_ptr<ReaderPool> readers;
  std::shared_ptr<WatchHub> hub;
  std::unique_ptr<Writer> writer;
  std::atomic<uint64_t> last_call = 0;
};

Coordinator::Coordinator(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)) {}

Coordinator::~Coordinator() {
  parts_->writer->Stop();
  // Readers go first: the last connection to close is the writer's.
  parts_->readers->Close();
}

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Open(
    CoordinatorOptions options, Clock& clock, Random& random) {
  auto parts = std::make_unique<Parts>(std::move(options), clock, random);
  Parts& p = *parts;
  p.started = clock.Steady();
  KF_ASSIGN_OR_RETURN(p.store,
                      Store::Open(p.options.data_dir, p.options.durability));
  p.engine =
      std::make_unique<Engine>(p.options, *p.store, clock, random, p.board);
  KF_RETURN_IF_ERROR(p.engine->Rebuild());
  KF_ASSIGN_OR_RETURN(p.readers,
                      ReaderPool::Open(Store::DatabasePath(p.options.data_dir),
                                       std::max(1, p.options.readers)));
  p.logs = std::make_unique<LogBook>(JoinPath(p.options.data_dir, "logs"),
                                     p.options.log_cap_bytes);
  p.hub = std::make_shared<WatchHub>(
      p.board,
      [readers = p.readers](int64_t job,
                            int64_t after) -> absl::StatusOr<WatchBatch> {
        KF_ASSIGN_OR_RETURN(const ReaderPool::Lent reads, readers->Lend());
        KF_ASSIGN_OR_RETURN(Reads::Events found,
                            reads->EventsAfter(job, after, kEventPage));
        WatchBatch batch;
        batch.last = found.job_ended &&
                     (found.events.empty() ||
                      found.events.back().sequence() == found.last_sequence);
        if (batch.last && !found.events.empty()) {
          KF_ASSIGN_OR_RETURN(*found.events.back().mutable_summary(),
                              reads->Summary(job));
        }
        batch.events = std::move(found.events);
        return batch;
      });
  p.writer = std::make_unique<Writer>(p.options, *p.store, *p.engine, *p.hub,
                                      *p.logs, clock);
  if (p.options.writer == WriterMode::kThread) p.writer->Start();
  return std::unique_ptr<Coordinator>(new Coordinator(std::move(parts)));
}

absl::StatusOr<std::shared_ptr<const v1::JobSpec>> Coordinator::Parts::SpecFrom(
    v1::SubmitRequest* request) const {
  auto spec = std::make_shared<v1::JobSpec>();
  if (request->spec_digest().empty()) {
    *spec = std::move(*request->mutable_spec());
  } else {
    if (!IsDigest(request->spec_digest()) || !options.read_blob) {
      return InvalidArgument("spec_digest is no digest");
    }
    KF_ASSIGN_OR_RETURN(const std::string bytes,
                        options.read_blob(request->spec_digest()));
    if (!spec->ParseFromString(bytes)) {
      return InvalidArgument(fmt::format("blob {} is no job specification",
                                         request->spec_digest()));
    }
  }
  KF_RETURN_IF_ERROR(CheckKey(request->idempotency_key()));
  KF_RETURN_IF_ERROR(CheckSpec(*spec));
  if (options.check_spec) KF_RETURN_IF_ERROR(options.check_spec(*spec));
  std::set<std::string> digests;
  for (const v1::KernelSpec& kernel : spec->kernels()) {
    digests.insert(kernel.module_digest());
  }
  KF_RETURN_IF_ERROR(CheckBlobs(digests));
  return std::shared_ptr<const v1::JobSpec>(std::move(spec));
}

absl::Status Coordinator::Parts::CheckBlobs(
    const std::set<std::string>& digests) const {
  if (!options.has_blob) return absl::OkStatus();
  for (const std::string& digest : digests) {
    if (!options.has_blob(digest)) {
      return FailedPrecondition(
          fmt::format("blob {} is not here: upload it first", digest));
    }
  }
  return absl::OkStatus();
}

void Coordinator::Submit(v1::SubmitRequest request,
                         Done<v1::SubmitResponse> done) {
  absl::StatusOr<std::shared_ptr<const v1::JobSpec>> spec =
      parts_->SpecFrom(&request);
  if (!spec.ok()) return done(spec.status());
  std::string body = Sha256Hex(CanonicalBytes(**spec));
  parts_->writer->Push(Make<v1::SubmitResponse>(
      std::move(done), [spec = *std::move(spec), body = std::move(body),
                        key = request.idempotency_key()](
                           Engine& engine, Answer<v1::SubmitResponse>* answer) {
        return engine.Submit(spec, key, body, answer);
      }));
}

void Coordinator::CancelJob(v1::CancelJobRequest request,
                            Done<v1::CancelJobResponse> done) {
  const absl::StatusOr<int64_t> job = [&]() -> absl::StatusOr<int64_t> {
    KF_ASSIGN_OR_RETURN(const ReaderPool::Lent reads, parts_->readers->Lend());
    return reads->FindJob(request.job_id());
  }();
  if (!job.ok()) return done(job.status());
  parts_->writer->Push(Make<v1::CancelJobResponse>(
      std::move(done),
      [id = *job, reason = request.reason()](
          Engine& engine, Answer<v1::CancelJobResponse>* answer) {
        return engine.CancelJob(id, reason.substr(0, 1024), answer);
      }));
}

void Coordinator::SetNodeState(v1::SetNodeStateRequest request,
                               Done<v1::SetNodeStateResponse> done) {
  const absl::Status check = CheckNodeState(request);
  if (!check.ok()) return done(check);
  parts_->writer->Push(Make<v1::SetNodeStateResponse>(
      std::move(done),
      [request = std::move(request)](Engine& engine,
                                     Answer<v1::SetNodeStateResponse>* answer) {
        return engine.SetNodeState(request, answer);
      }));
}

void Coordinator::Register(v1::RegisterRequest request,
                           Done<v1::RegisterResponse> done) {
  const absl::Status check = CheckFacts(request.facts());
  if (!check.ok()) return done(check);
  if (request.protocol() > kProtocol) {
    return done(FailedPrecondition(fmt::format(
        "the agent speaks protocol {}, this coordinator {}: upgrade the "
        "coordinator first",
        request.protocol(), kProtocol)));
  }
  parts_->writer->Push(Make<v1::RegisterResponse>(
      std::move(done),
      [request = std::move(request)](Engine& engine,
                                     Answer<v1::RegisterResponse>* answer) {
        return engine.Register(request, answer);
      }));
}

uint64_t Coordinator::Lease(v1::LeaseRequest request,
                            Done<v1::LeaseResponse> done) {
  const uint64_t call = ++parts_->last_call;
  // Parked once, even when its batch is tried again.
  auto once = std::make_shared<Done<v1::LeaseResponse>>(std::move(done));
  parts_->writer->Push(
      {[call, once, request = std::move(request)](Engine& engine) {
         if (*once) {
           engine.Park(call, request, std::exchange(*once, nullptr));
         }
         return absl::OkStatus();
       },
       [once](const absl::Status& status) {
         if (*once) (*once)(status);
       }});
  return call;
}

void Coordinator::Heartbeat(v1::HeartbeatRequest request,
                            Done<v1::HeartbeatResponse> done) {
  parts_->writer->Push(Make<v1::HeartbeatResponse>(
      std::move(done),
      [request = std::move(request)](Engine& engine,
                                     Answer<v1::HeartbeatResponse>* answer) {
        return engine.Heartbeat(request, answer);
      }));
}

void Coordinator::Complete(v1::CompleteRequest request,
                           Done<v1::CompleteResponse> done) {
  std::set<std::string> digests;
  for (const v1::Artifact& each : request.result().probe().artifacts()) {
    if (!each.digest().empty()) digests.insert(each.digest());
  }
  const absl::Status check = parts_->CheckBlobs(digests);
  if (!check.ok()) return done(check);
  std::string sha256 = Sha256Hex(CanonicalBytes(request.result()));
  parts_->writer->Push(Make<v1::CompleteResponse>(
      std::move(done),
      [request = std::move(request), sha256 = std::move(sha256)](
          Engine& engine, Answer<v1::CompleteResponse>* answer) {
        return engine.Complete(request, sha256, answer);
      }));
}

absl::StatusOr<v1::AppendLogResponse> Coordinator::AppendLog(
    const v1::AppendLogRequest& request) {
  {
    KF_ASSIGN_OR_RETURN(const ReaderPool::Lent reads, parts_->readers->Lend());
    KF_ASSIGN_OR_RETURN(const Reads::Attempt attempt,
                        reads->FindAttempt(request.fence()));
    if (attempt.task != request.task_id() ||
        attempt.node != request.node_id()) {
      return Error(
          absl::StatusCode::kPermissionDenied,
          fmt::format("attempt {} is not task {} on node {}", request.fence(),
                      request.task_id(), request.node_id()));
    }
  }
  KF_ASSIGN_OR_RETURN(
      const int64_t next,
      parts_->logs->Append(request.fence(), request.offset(), request.data(),
                           request.complete() ? LogBook::More::kComplete
                                              : LogBook::More::kMayCome));
  v1::AppendLogResponse response;
  response.set_next_offset(next);
  return response;
}

absl::StatusOr<v1::JobDetail> Coordinator::GetJob(
    const v1::GetJobRequest& request) {
  KF_ASSIGN_OR_RETURN(const ReaderPool::Lent reads, parts_->readers->Lend());
  KF_ASSIGN_OR_RETURN(const int64_t job, reads->FindJob(request.job_id()));
  v1::JobDetail detail;
  KF_ASSIGN_OR_RETURN(*detail.mutable_summary(), reads->Summary(job));
  if (!request.omit_tasks() && detail.summary().tasks() > kMostTasksAtOnce) {
    return FailedPrecondition(
        fmt::format("job {} has {} tasks: list them in pages (ListTasks)",
                    detail.summary().job_id(), detail.summary().tasks()));
  }
  KF_ASSIGN_OR_RETURN(
      *detail.mutable_spec(),
      reads->Spec(job, request.omit_tasks() ? Reads::Kernels::kNames
                                            : Reads::Kernels::kWhole));
  if (!request.omit_tasks()) {
    KF_ASSIGN_OR_RETURN(std::vector<v1::TaskRecord> tasks,
                        reads->Tasks(job, -1, 0, kMostTasksAtOnce));
    for (v1::TaskRecord& each : tasks) {
      parts_->Explain(detail.spec(), &each);
      *detail.add_tasks() = std::move(each);
    }
  }
  KF_ASSIGN_OR_RETURN(const std::vector<v1::Decision> decisions,
                      reads->Decisions(job));
  detail.mutable_decisions()->Assign(decisions.begin(), decisions.end());
  return detail;
}

absl::StatusOr<v1::ListTasksResponse> Coordinator::ListTasks(
    const v1::ListTasksRequest& request) {
  const std::optional<int64_t> after =
      request.page_token().empty() ? 0 : ParseInt(request.page_token());
  if (!after) return InvalidArgument("the page token is not one of ours");
  const int size = request.page_size() <= 0
                       ? kTaskPage
                       : std::min(request.page_size(), kMostTasksAtOnce);
  KF_ASSIGN_OR_RETURN(const ReaderPool::Lent reads, parts_->readers->Lend());
  KF_ASSIGN_OR_RETURN(const int64_t job, reads->FindJob(request.job_id()));
  KF_ASSIGN_OR_RETURN(const v1::JobSpec head, reads->Head(job));
  KF_ASSIGN_OR_RETURN(
      std::vector<v1::TaskRecord> tasks,
      reads->Tasks(job, request.has_kernel() ? request.kernel() : -1, *after,
                   size + 1));
  v1::ListTasksResponse response;
  if (tasks.size() > static_cast<size_t>(size)) {
    tasks.pop_back();
    response.set_next_page_token(std::to_string(tasks.back().task_id()));
  }
  for (v1::TaskRecord& each : tasks) {
    parts_->Explain(head, &each);
    *response.add_tasks() = std::move(each);
  }
  return response;
}

absl::StatusOr<v1::ListJobsResponse> Coordinator::ListJobs(
    const v1::ListJobsRequest& request) {
  KF_ASSIGN_OR_RETURN(const ReaderPool::Lent reads, parts_->readers->Lend());
  return reads->Jobs(request);
}

absl::StatusOr<v1::ListNodesResponse> Coordinator::ListNodes() {
  KF_ASSIGN_OR_RETURN(const ReaderPool::Lent reads, parts_->readers->Lend());
  KF_ASSIGN_OR_RETURN(std::vector<v1::NodeStatus> nodes, reads->Nodes());
  v1::ListNodesResponse response;
  for (v1::NodeStatus& node : nodes) {
    const auto line = parts_->board.NodeOf(node.facts().node_id());
    if (line) {
      node.set_state(line->state);
      node.set_reason(line->reason);
      node.set_last_seen_s(
          static_cast<double>(absl::ToUnixMicros(line->last_seen)) / 1e6);
      node.set_held(line->held);
    }
    *response.add_nodes() = std::move(node);
  }
  return response;
}

absl::StatusOr<v1::QueryResponse> Coordinator::Query(
    const v1::QueryRequest& request) {
  KF_ASSIGN_OR_RETURN(const ReaderPool::Lent reads, parts_->readers->Lend());
  return reads->Query(request, parts_->clock);
}

absl::StatusOr<v1::ServerInfo> Coordinator::GetServerInfo() {
  v1::ServerInfo info;
  info.set_version(parts_->options.version);
  info.set_schema(SchemaVersion());
  info.set_uptime_s(
      absl::ToDoubleSeconds(parts_->clock.Steady() - parts_->started));
  const auto [open_tasks, nodes] = parts_->board.Totals();
  info.set_open_tasks(open_tasks);
  info.set_nodes(nodes);
  info.set_data_dir(parts_->options.data_dir);
  info.set_protocol(kProtocol);
  return info;
}

uint64_t Coordinator::ReadLog(v1::ReadLogRequest request,
                              Done<v1::ReadLogResponse> done) {
  const uint64_t call = ++parts_->last_call;
  const absl::StatusOr<Reads::Attempt> attempt =
      [&]() -> absl::StatusOr<Reads::Attempt> {
    KF_ASSIGN_OR_RETURN(const ReaderPool::Lent reads, parts_->readers->Lend());
    KF_ASSIGN_OR_RETURN(const int64_t job, reads->FindJob(request.job_id()));
    if (request.fence() == 0) return reads->LastAttempt(job, request.task_id());
    return reads->FindAttempt(request.fence());
  }();
  if (!attempt.ok()) {
    done(attempt.status());
    return call;
  }
  // An agent that died never says that its log is complete.
  const bool over = attempt->finished + kLogTail < parts_->clock.Now();
  if (over || !request.follow()) {
    absl::StatusOr<v1::ReadLogResponse> response = parts_->logs->Read(
        attempt->fence, request.offset(), request.max_bytes());
    if (response.ok() && over && response->data().empty()) {
      response->set_complete(true);
    }
    done(std::move(response));
    return call;
  }
  parts_->logs->Follow(
      call, attempt->fence, request.offset(), request.max_bytes(),
      parts_->clock.Steady() + parts_->options.longest_poll, std::move(done));
  // So that the writer's clock knows about it.
  parts_->writer->Push(
      {[](Engine&) { return absl::OkStatus(); }, [](const absl::Status&) {}},
      Writer::Room::kAlways);
  return call;
}

absl::StatusOr<std::unique_ptr<Watch>> Coordinator::WatchJob(
    const v1::WatchJobRequest& request) {
  if (request.after_sequence() < 0) {
    return InvalidArgument("after_sequence is negative");
  }
  KF_ASSIGN_OR_RETURN(const ReaderPool::Lent reads, parts_->readers->Lend());
  KF_ASSIGN_OR_RETURN(const int64_t job, reads->FindJob(request.job_id()));
  return parts_->hub->Follow(job, request.after_sequence());
}

void Coordinator::CancelCall(uint64_t call) {
  parts_->logs->Cancel(call);
  parts_->writer->Push({[call](Engine& engine) {
                          engine.CancelParked(call);
                          return absl::OkStatus();
                        },
                        [](const absl::Status&) {}},
                       Writer::Room::kAlways);
}

void Coordinator::StopLeasing() {
  parts_->writer->Push({[](Engine& engine) {
                          engine.StopLeasing();
                          return absl::OkStatus();
                        },
                        [](const absl::Status&) {}},
                       Writer::Room::kAlways);
}

bool Coordinator::writable() const { return parts_->writer->writable(); }

absl::Duration Coordinator::Turn() { return parts_->writer->Turn(); }

}  // namespace kernelfleet::server
