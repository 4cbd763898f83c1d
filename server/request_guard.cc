#include "server/request_guard.h"

namespace kernelfleet::server {
namespace {

using grpc::experimental::InterceptionHookPoints;

class Guard final : public grpc::experimental::Interceptor {
 public:
  void Intercept(grpc::experimental::InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(
            InterceptionHookPoints::PRE_SEND_STATUS)) {
      const grpc::Status status = batch->GetSendStatus();
      if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED &&
          status.error_message().empty()) {
        batch->ModifySendStatus(
            grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                         "the request is not a valid message of this method"));
      }
    }
    batch->Proceed();
  }
};

class GuardFactory final
    : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* call) override {
    // gRPC takes methods that nobody serves as bidirectional, which none of
    // ours is: these are UNIMPLEMENTED in earnest.
    using Type = grpc::experimental::ServerRpcInfo::Type;
    return call->type() == Type::BIDI_STREAMING ? nullptr : new Guard;
  }
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
MakeRequestGuard() {
  return std::make_unique<GuardFactory>();
}

}  // namespace kernelfleet::server
