#include "server/node_service.h"

#include "kernelfleet/v1/service.grpc.pb.h"
#include "server/unary.h"

namespace kernelfleet::server {
namespace {

class NodeHandlers final : public v1::NodeService::CallbackService {
 public:
  NodeHandlers(Coordinator& coordinator, OpenCalls& calls, WorkPool& disk)
      : coordinator_(coordinator), calls_(calls), disk_(disk) {}

  grpc::ServerUnaryReactor* Register(grpc::CallbackServerContext* context,
                                     const v1::RegisterRequest* request,
                                     v1::RegisterResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    coordinator_.Register(*request, FinishLater(reactor, response));
    return reactor;
  }

  grpc::ServerUnaryReactor* Lease(grpc::CallbackServerContext*,
                                  const v1::LeaseRequest* request,
                                  v1::LeaseResponse* response) override {
    return new ParkedCall<v1::LeaseResponse>(
        coordinator_, calls_, response, [&](Done<v1::LeaseResponse> done) {
          return coordinator_.Lease(*request, std::move(done));
        });
  }

  grpc::ServerUnaryReactor* Heartbeat(
      grpc::CallbackServerContext* context, const v1::HeartbeatRequest* request,
      v1::HeartbeatResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    coordinator_.Heartbeat(*request, FinishLater(reactor, response));
    return reactor;
  }

  grpc::ServerUnaryReactor* Complete(grpc::CallbackServerContext* context,
                                     const v1::CompleteRequest* request,
                                     v1::CompleteResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    coordinator_.Complete(*request, FinishLater(reactor, response));
    return reactor;
  }

  grpc::ServerUnaryReactor* AppendLog(
      grpc::CallbackServerContext* context, const v1::AppendLogRequest* request,
      v1::AppendLogResponse* response) override {
    return FinishOn<v1::AppendLogResponse>(
        disk_, context, response,
        [this, request] { return coordinator_.AppendLog(*request); });
  }

 private:
  Coordinator& coordinator_;
  OpenCalls& calls_;
  WorkPool& disk_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeNodeService(Coordinator& coordinator,
                                               OpenCalls& calls,
                                               WorkPool& disk) {
  return std::make_unique<NodeHandlers>(coordinator, calls, disk);
}

}  // namespace kernelfleet::server
