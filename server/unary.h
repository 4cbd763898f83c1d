// How a handler answers one request: unwrap, call, map.
#ifndef KERNELFLEET_SERVER_UNARY_H_
#define KERNELFLEET_SERVER_UNARY_H_

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "common/base/status.h"
#include "common/rpc/limits.h"
#include "common/rpc/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "server/coordinator.h"
#include "server/open_calls.h"
#include "server/work_pool.h"

namespace kernelfleet::server {

// Ends the call with this answer; nothing of it may be touched afterwards.
template <typename Response>
void Finish(grpc::ServerUnaryReactor* reactor, Response* response,
            absl::StatusOr<Response> answer) {
  if (!answer.ok()) {
    reactor->Finish(rpc::ToGrpc(answer.status()));
    return;
  }
  *response = *std::move(answer);
  // gRPC would let the client fail with RESOURCE_EXHAUSTED, and retry.
  if (const size_t size = response->ByteSizeLong();
      size > static_cast<size_t>(rpc::kMaxResponseBytes)) {
    reactor->Finish(rpc::ToGrpc(Error(
        absl::StatusCode::kOutOfRange,
        fmt::format("the answer has {} bytes, more than the limit of {}; ask "
                    "for less at a time",
                    size, rpc::kMaxResponseBytes))));
    return;
  }
  reactor->Finish(grpc::Status::OK);
}

// For writes: the coordinator answers after its commit.
template <typename Response>
Done<Response> FinishLater(grpc::ServerUnaryReactor* reactor,
                           Response* response) {
  return [=](absl::StatusOr<Response> answer) {
    Finish(reactor, response, std::move(answer));
  };
}

// For what blocks on the disk.
template <typename Response>
grpc::ServerUnaryReactor* FinishOn(
    WorkPool& pool, grpc::CallbackServerContext* context, Response* response,
    std::function<absl::StatusOr<Response>()> work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (!pool.Post(
          [=, work = std::move(work)] { Finish(reactor, response, work()); })) {
    reactor->Finish(rpc::ToGrpc(Error(absl::StatusCode::kResourceExhausted,
                                      "the server is busy; try again")));
  }
  return reactor;
}

// For long polls: told to the coordinator when the caller or the server goes
// away. Deletes itself.
template <typename Response>
class ParkedCall final : public grpc::ServerUnaryReactor {
 public:
  // Parks and returns the id for CancelCall.
  using Park = std::function<uint64_t(Done<Response>)>;

  ParkedCall(Coordinator& coordinator, OpenCalls& calls, Response* response,
             const Park& park)
      : coordinator_(coordinator), calls_(calls) {
    // The answer may come before park returns; the reactor still lives, since
    // OnDone waits until gRPC has been given it.
    call_ = park([this, response](absl::StatusOr<Response> answer) {
      if (!answer.ok()) answer = calls_.Explain(answer.status());
      server::Finish(this, response, std::move(answer));
    });
    open_ = calls_.Add([this] { coordinator_.CancelCall(call_); });
  }

  void OnCancel() override { coordinator_.CancelCall(call_); }
  void OnDone() override {
    calls_.Remove(open_);
    delete this;
  }

 private:
  Coordinator& coordinator_;
  OpenCalls& calls_;
  uint64_t call_ = 0;
  uint64_t open_ = 0;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_UNARY_H_
