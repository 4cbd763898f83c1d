// The shipped programs on loopback: a server, agents, and a client's view.
#ifndef KERNELFLEET_TESTS_E2E_FLEET_H_
#define KERNELFLEET_TESTS_E2E_FLEET_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/base/subprocess.h"
#include "common/rpc/blob_client.h"
#include "kernelfleet/v1/service.grpc.pb.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::e2e {

// The Python of the environment that holds Triton; nothing if there is none.
std::optional<std::string> PythonWithTriton();

// Why these tests cannot run here, on a line that ctest knows; empty: they can.
std::string WhySkip();

class Fleet {
 public:
  Fleet();
  ~Fleet();

  // Each ends the test program when the program does not start.
  void StartServer();
  void StartAgent(const std::vector<std::string>& more = {});
  // SIGKILL: no program gets to clean up.
  void KillServer();
  void KillAgent();
  // SIGTERM; its exit status, -1 when it had to be killed after `limit`.
  int StopAgent(absl::Duration limit = absl::Seconds(45));
  pid_t agent_pid() const { return agent_->pid(); }

  const std::string& folder() const { return folder_.path(); }
  // Both programs' logs, for the message of a failed test.
  std::string Logs() const;
  // How often the agents' log holds `phrase`.
  int LogCount(const std::string& phrase) const;
  // Returns once it holds it `count` times, or after a minute.
  void WaitForLog(const std::string& phrase, int count) const;

  v1::JobService::Stub& jobs() { return *jobs_; }
  rpc::BlobClient& blobs() { return *blobs_; }

  // Submits one probe job; one kernel for each text, all called `entry`.
  std::string Submit(const std::vector<std::string>& modules,
                     const std::string& entry, const v1::CompileCase& with,
                     const std::vector<std::string>& targets,
                     const std::string& key, double run_s = 0);
  v1::JobDetail GetJob(const std::string& id);
  // The job once it ended; as it is then after `limit`.
  v1::JobDetail WaitForEnd(const std::string& id, absl::Duration limit);
  // The first column of a query's first row, as a number.
  int64_t QueryInt(const std::string& sql);

  // Processes of this fleet's runners that are alive.
  std::vector<pid_t> RunnerProcesses() const;
  // Those that remain after `limit`.
  std::vector<pid_t> WaitForNoRunners(absl::Duration limit) const;

 private:
  Process Start(std::vector<std::string> argv, const std::string& log);

  testing::TempDir folder_;
  // A link of our own, so that this fleet's runners are known by their name.
  std::string runner_;
  int port_ = 0;
  std::optional<Process> server_;
  std::optional<Process> agent_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::JobService::Stub> jobs_;
  std::unique_ptr<rpc::BlobClient> blobs_;
};

// A real wait; these tests have real processes to wait for.
void Pause(absl::Duration duration);

}  // namespace kernelfleet::e2e

#endif  // KERNELFLEET_TESTS_E2E_FLEET_H_
