#include "common/rpc/setup.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <cstdlib>
#include <string>

#include "common/base/log.h"

namespace kernelfleet::rpc {

void SetUpGrpc() {
  gpr_set_log_function([](gpr_log_func_args* args) {
    LogDebug(
        "grpc",
        {{"text", args->message}, {"file", args->file}, {"line", args->line}});
  });
  google::protobuf::SetLogHandler([](google::protobuf::LogLevel,
                                     const char* file, int line,
                                     const std::string& text) {
    LogDebug("protobuf", {{"text", text}, {"file", file}, {"line", line}});
  });
  // The user's own setting wins.
  ::setenv("GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS", "100", 0);
}

}  // namespace kernelfleet::rpc
