#include "common/rpc/grpc_log.h"

#include "common/base/log.h"
#include "grpc/support/log.h"

namespace kernelfleet::rpc {

void RouteGrpcLog() {
  gpr_set_log_function([](gpr_log_func_args* args) {
    LogDebug(
        "grpc",
        {{"text", args->message}, {"file", args->file}, {"line", args->line}});
  });
}

}  // namespace kernelfleet::rpc
