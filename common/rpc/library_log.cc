#include "common/rpc/library_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include "common/base/log.h"

namespace kernelfleet::rpc {

void RouteLibraryLogs() {
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
}

}  // namespace kernelfleet::rpc
