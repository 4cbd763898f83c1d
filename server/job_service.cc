#include "server/job_service.h"

#include "kernelfleet/v1/service.grpc.pb.h"
#include "server/unary.h"
#include "server/watch_call.h"

namespace kernelfleet::server {
namespace {

class JobHandlers final : public v1::JobService::CallbackService {
 public:
  JobHandlers(Coordinator& coordinator, OpenCalls& calls, WorkPool& reads,
              WorkPool& queries)
      : coordinator_(coordinator),
        calls_(calls),
        reads_(reads),
        queries_(queries) {}

  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext* context,
                                   const v1::SubmitRequest* request,
                                   v1::SubmitResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    coordinator_.Submit(*request, FinishLater(reactor, response));
    return reactor;
  }

  grpc::ServerUnaryReactor* CancelJob(
      grpc::CallbackServerContext* context, const v1::CancelJobRequest* request,
      v1::CancelJobResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    coordinator_.CancelJob(*request, FinishLater(reactor, response));
    return reactor;
  }

  grpc::ServerUnaryReactor* SetNodeState(
      grpc::CallbackServerContext* context,
      const v1::SetNodeStateRequest* request,
      v1::SetNodeStateResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    coordinator_.SetNodeState(*request, FinishLater(reactor, response));
    return reactor;
  }

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::JobDetail* response) override {
    return FinishOn<v1::JobDetail>(reads_, context, response, [this, request] {
      return coordinator_.GetJob(*request);
    });
  }

  grpc::ServerUnaryReactor* ListTasks(
      grpc::CallbackServerContext* context, const v1::ListTasksRequest* request,
      v1::ListTasksResponse* response) override {
    return FinishOn<v1::ListTasksResponse>(
        reads_, context, response,
        [this, request] { return coordinator_.ListTasks(*request); });
  }

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override {
    return FinishOn<v1::ListJobsResponse>(
        reads_, context, response,
        [this, request] { return coordinator_.ListJobs(*request); });
  }

  grpc::ServerUnaryReactor* ListNodes(
      grpc::CallbackServerContext* context, const v1::ListNodesRequest*,
      v1::ListNodesResponse* response) override {
    return FinishOn<v1::ListNodesResponse>(
        reads_, context, response, [this] { return coordinator_.ListNodes(); });
  }

  grpc::ServerUnaryReactor* Query(grpc::CallbackServerContext* context,
                                  const v1::QueryRequest* request,
                                  v1::QueryResponse* response) override {
    return FinishOn<v1::QueryResponse>(
        queries_, context, response,
        [this, request] { return coordinator_.Query(*request); });
  }

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest*,
                                          v1::ServerInfo* response) override {
    return FinishOn<v1::ServerInfo>(reads_, context, response, [this] {
      return coordinator_.GetServerInfo();
    });
  }

  grpc::ServerUnaryReactor* ReadLog(grpc::CallbackServerContext*,
                                    const v1::ReadLogRequest* request,
                                    v1::ReadLogResponse* response) override {
    return new ParkedCall<v1::ReadLogResponse>(
        coordinator_, calls_, response, [&](Done<v1::ReadLogResponse> done) {
          return coordinator_.ReadLog(*request, std::move(done));
        });
  }

  grpc::ServerWriteReactor<v1::JobEvent>* WatchJob(
      grpc::CallbackServerContext*,
      const v1::WatchJobRequest* request) override {
    return new WatchCall(coordinator_.WatchJob(*request), calls_);
  }

 private:
  Coordinator& coordinator_;
  OpenCalls& calls_;
  WorkPool& reads_;
  WorkPool& queries_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeJobService(Coordinator& coordinator,
                                              OpenCalls& calls, WorkPool& reads,
                                              WorkPool& queries) {
  return std::make_unique<JobHandlers>(coordinator, calls, reads, queries);
}

}  // namespace kernelfleet::server
