// BlobService over gRPC: streams in and out of the blob store.
#ifndef KERNELFLEET_SERVER_BLOB_SERVICE_H_
#define KERNELFLEET_SERVER_BLOB_SERVICE_H_

#include <memory>

#include "grpcpp/impl/service_type.h"
#include "server/blobs.h"
#include "server/transfers.h"
#include "server/work_pool.h"

namespace kernelfleet::server {

// `disk` runs what blocks. All arguments outlive the service.
std::unique_ptr<grpc::Service> MakeBlobService(BlobStore& blobs,
                                               Transfers& transfers,
                                               WorkPool& disk);

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_BLOB_SERVICE_H_
