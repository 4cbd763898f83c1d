// JobService over gRPC: people's calls, handed to the coordinator.
#ifndef KERNELFLEET_SERVER_JOB_SERVICE_H_
#define KERNELFLEET_SERVER_JOB_SERVICE_H_

#include <memory>

#include "grpcpp/impl/service_type.h"
#include "server/coordinator.h"
#include "server/open_calls.h"
#include "server/work_pool.h"

namespace kernelfleet::server {

// `reads` runs short reads, `queries` what users wrote in SQL, so that a slow
// query holds up queries alone. All arguments outlive the service.
std::unique_ptr<grpc::Service> MakeJobService(Coordinator& coordinator,
                                              OpenCalls& calls, WorkPool& reads,
                                              WorkPool& queries);

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_JOB_SERVICE_H_
