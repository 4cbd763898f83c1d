#include "server/server.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/status.h"
#include "common/rpc/limits.h"
#include "common/workflow/workflow.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/blob_service.h"
#include "server/blobs.h"
#include "server/coordinator.h"
#include "server/job_service.h"
#include "server/node_service.h"
#include "server/open_calls.h"
#include "server/request_guard.h"
#include "server/transfers.h"
#include "server/work_pool.h"

namespace kernelfleet::server {
namespace {

constexpr int kReadThreads = 2;
constexpr int kQueryThreads = 2;
constexpr int kDiskThreads = 4;
// Spare ones serve the short reads that begin a watch or a log.
constexpr int kReaders = kReadThreads + kQueryThreads + 2;
constexpr size_t kReadQueue = 256;
constexpr size_t kDiskQueue = 1024;
constexpr auto kTransferGrace = std::chrono::seconds(5);
constexpr absl::Duration kTick = absl::Seconds(1);
// Names in grpc.health.v1; the empty name is the whole server.
constexpr char kWholeServer[] = "";
constexpr char kWriting[] = "coordinator.write";
constexpr char kReading[] = "coordinator.read";

int Ms(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

CoordinatorOptions CoordinatorOptionsFor(const ServerOptions& options,
                                         BlobStore& blobs) {
  CoordinatorOptions out;
  out.data_dir = options.data_dir;
  out.durability = options.durability;
  out.readers = kReaders;
  out.longest_poll = rpc::kMaxLongPoll;
  out.version = KERNELFLEET_VERSION;
  out.next = [](const v1::JobSpec& job, int kernel,
                std::span<const v1::TaskRecord> records) {
    workflow::Plan plan = workflow::Next(job, kernel, records);
    return Plan{std::move(plan.tasks), std::move(plan.decisions)};
  };
  out.check_spec = workflow::ValidateJob;
  out.read_blob = [&blobs](const std::string& digest) {
    return blobs.Get(digest);
  };
  out.has_blob = [&blobs](const std::string& digest) {
    return blobs.Has(digest);
  };
  return out;
}

// The reflection plugin, present exactly when asked for: gRPC's library adds it
// to every server of a process that is linked with it.
class ReflectionOption final : public grpc::ServerBuilderOption {
 public:
  explicit ReflectionOption(Reflection reflection) : reflection_(reflection) {}
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>*
                         plugins) override {
    auto plugin =
        std::make_unique<grpc::reflection::ProtoServerReflectionPlugin>();
    std::erase_if(*plugins, [&](const auto& other) {
      return other->name() == plugin->name();
    });
    if (reflection_ == Reflection::kOn) plugins->push_back(std::move(plugin));
  }

 private:
  const Reflection reflection_;
};

void SetLimits(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(rpc::kMaxRequestBytes);
  builder.SetMaxSendMessageSize(rpc::kMaxResponseBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE,
                             rpc::kMaxMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             rpc::kMaxStreamsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             Ms(rpc::kHandshakeTimeout));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             Ms(rpc::kMaxConnectionIdle));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Ms(rpc::kServerPing));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             Ms(rpc::kServerPingTimeout));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      Ms(rpc::kMinPingInterval));
  // By default a second server would share the port in silence.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  grpc::ResourceQuota quota("kernelfleet");
  quota.Resize(static_cast<size_t>(rpc::kServerMemoryBytes));
  quota.SetMaxThreads(rpc::kServerMaxThreads);
  builder.SetResourceQuota(quota);
  std::vector<
      std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
      interceptors;
  interceptors.push_back(MakeRequestGuard());
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
}

}  // namespace

// In the order of construction: what comes later uses what comes before.
struct Server::Parts {
  explicit Parts(Clock& c) : clock(c), transfers(c, rpc::kMaxSilence) {}

  Clock& clock;
  rpc::Address address;
  std::unique_ptr<BlobStore> blobs;
  std::unique_ptr<Coordinator> coordinator;
  OpenCalls calls;
  Transfers transfers;
  WorkPool reads{kReadThreads, kReadQueue};
  WorkPool queries{kQueryThreads, kReadQueue};
  WorkPool disk{kDiskThreads, kDiskQueue};
  std::vector<std::unique_ptr<grpc::Service>> services;
  std::unique_ptr<grpc::Server> grpc;

  Mutex mutex;
  CondVar wake;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  std::thread ticker;

  absl::Status Listen(const ServerOptions& options);
  // Once a second: says whether the store can write, cuts off silent peers.
  void Tick();
};

absl::Status Server::Parts::Listen(const ServerOptions& options) {
  KF_ASSIGN_OR_RETURN(auto credentials, rpc::ListenCredentials(
                                            options.listen, options.plaintext));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(rpc::ToString(options.listen), credentials, &port);
  SetLimits(builder);
  builder.SetOption(std::make_unique<ReflectionOption>(options.reflection));
  services.push_back(MakeJobService(*coordinator, calls, reads, queries));
  services.push_back(MakeNodeService(*coordinator, calls, disk));
  services.push_back(MakeBlobService(*blobs, transfers, disk));
  for (auto& service : services) builder.RegisterService(service.get());
  grpc = builder.BuildAndStart();
  if (grpc == nullptr || port == 0) {
    return Unavailable(
        fmt::format("cannot listen on {}: another program uses the port, or "
                    "the address is not this machine's",
                    rpc::ToString(options.listen)));
  }
  address = options.listen;
  address.port = port;
  return absl::OkStatus();
}

void Server::Parts::Tick() {
  grpc::HealthCheckServiceInterface& service = *grpc->GetHealthCheckService();
  MutexLock lock(mutex);
  while (!stopping) {
    const bool writable = coordinator->writable();
    service.SetServingStatus(kWholeServer, writable);
    service.SetServingStatus(kWriting, writable);
    service.SetServingStatus(kReading, true);
    transfers.Sweep();
    wake.Wait(mutex, clock, kTick);
  }
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    const ServerOptions& options) {
  // Before anything is touched on disk.
  KF_RETURN_IF_ERROR(
      rpc::ListenCredentials(options.listen, options.plaintext).status());
  auto parts = std::make_unique<Parts>(*options.clock);
  KF_ASSIGN_OR_RETURN(
      parts->blobs,
      BlobStore::Open({.directory = JoinPath(options.data_dir, "blobs"),
                       .max_blob_bytes = rpc::kMaxBlobBytes,
                       .durable = options.durability == Durability::kFull}));
  KF_ASSIGN_OR_RETURN(
      parts->coordinator,
      Coordinator::Open(CoordinatorOptionsFor(options, *parts->blobs),
                        *options.clock, *options.random));
  // The folder is ours now.
  KF_RETURN_IF_ERROR(parts->blobs->Sweep());
  KF_RETURN_IF_ERROR(parts->Listen(options));
  Parts& started = *parts;
  started.ticker = std::thread([&started] { started.Tick(); });
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

Server::~Server() { Shutdown(); }

const rpc::Address& Server::address() const { return parts_->address; }

void Server::Shutdown() {
  Parts& parts = *parts_;
  {
    MutexLock lock(parts.mutex);
    if (parts.stopping) return;
    parts.stopping = true;
    parts.wake.NotifyAll();
  }
  parts.ticker.join();
  parts.grpc->GetHealthCheckService()->Shutdown();
  parts.coordinator->StopLeasing();
  parts.calls.EndAll();
  parts.grpc->Shutdown(std::chrono::system_clock::now() + kTransferGrace);
  parts.grpc.reset();
  parts.coordinator.reset();
}

}  // namespace kernelfleet::server
