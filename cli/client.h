// The coordinator as the verbs see it. The only file of the CLI that knows
// gRPC is client.cc.
//
//   KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
//   KF_ASSIGN_OR_RETURN(v1::JobDetail job, client.GetJob("last"));
#ifndef KERNELFLEET_CLI_CLIENT_H_
#define KERNELFLEET_CLI_CLIENT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/flags.h"
#include "kernelfleet/v1/service.pb.h"

namespace kernelfleet::cli {

// Not thread-safe, but Stop() may be called from any thread.
class Client {
 public:
  // Finds the server's address (see server_address.h). Connects with the first
  // call..
  static absl::StatusOr<Client> Connect(const Arguments& args);
  Client(Client&&) noexcept;
  ~Client();

  const std::string& address() const;
  // Ends the running call with CANCELLED, and every later one.
  void Stop();

  // Uploads those of `blobs` (digest to bytes) that the server lacks, then
  // submits. Large specs travel as a blob.
  absl::StatusOr<v1::SubmitResponse> Submit(
      const v1::JobSpec& spec, const std::string& key,
      const std::map<std::string, std::string>& blobs);

  // The job with all its tasks, however many.
  absl::StatusOr<v1::JobDetail> GetJob(const std::string& id);
  // Without tasks.
  absl::StatusOr<v1::JobDetail> GetJobHead(const std::string& id);
  absl::StatusOr<v1::ListJobsResponse> ListJobs(
      const v1::ListJobsRequest& request);
  absl::StatusOr<v1::CancelJobResponse> CancelJob(const std::string& id,
                                                  const std::string& reason);
  absl::StatusOr<v1::ListNodesResponse> ListNodes();
  absl::Status SetNodeState(const v1::SetNodeStateRequest& request);
  absl::StatusOr<v1::ReadLogResponse> ReadLog(
      const v1::ReadLogRequest& request);
  absl::StatusOr<v1::QueryResponse> Query(const v1::QueryRequest& request);
  absl::StatusOr<v1::ServerInfo> GetServerInfo();

  // Calls `event` for each event from the first on, until the job ends. A lost
  // connection is taken up again where it broke, for up to two minutes without
  // news. CANCELLED after Stop().
  absl::Status Watch(const std::string& id,
                     const std::function<void(const v1::JobEvent&)>& event);

  absl::StatusOr<std::string> Download(const std::string& digest);
  absl::Status DownloadFile(const std::string& digest, const std::string& path);

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_CLIENT_H_
