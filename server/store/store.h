// The only connection that writes: every statement that changes the database.
//
// Used by the writer's thread alone. A verb opens a transaction when none is
// open; Commit() ends it. After any error the caller must Rollback(): nothing
// of the transaction then happened.
#ifndef KERNELFLEET_SERVER_STORE_STORE_H_
#define KERNELFLEET_SERVER_STORE_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "kernelfleet/v1/service.pb.h"
#include "server/open_work.h"
#include "server/options.h"
#include "server/store/database.h"

namespace kernelfleet::server {

struct AttemptRow {
  int64_t task = 0;
  std::string node;
  std::string state;
  std::string reason;
  std::string result_sha256;
  int gpu = -1;
  std::string environment_hash;
};

class Store {
 public:
  static absl::StatusOr<std::unique_ptr<Store>> Open(
      const std::string& data_dir, Durability durability);
  static std::string DatabasePath(const std::string& data_dir);

  absl::Status Commit();
  void Rollback();
  bool in_transaction() const { return in_transaction_; }
  // Moves the write-ahead log into the database when it is long, or, when
  // `idle`, whenever it is not empty.
  enum class Moment { kBusy, kIdle };
  void Checkpoint(Moment moment);

  // --- Jobs.
  struct KnownJob {
    std::string job_id;
    std::string body_sha256;
  };
  absl::StatusOr<std::optional<KnownJob>> FindKey(const std::string& user,
                                                  const std::string& key);
  absl::Status InsertJob(const OpenJob& job, const v1::JobSpec& spec,
                         const std::string& key, const std::string& body);
  // Counters, state, sequence and planned of the job.
  absl::Status SaveJob(const OpenJob& job);
  absl::Status SetJobReason(int64_t job, const std::string& reason);
  absl::Status InsertEvent(int64_t job, int64_t sequence, int64_t time_us,
                           std::string_view kind, int64_t task,
                           const std::string& node, const std::string& text);
  // False: the same decision was already there.
  absl::StatusOr<bool> PutDecision(int64_t job, const v1::Decision& decision,
                                   absl::Time now);
  absl::StatusOr<std::shared_ptr<const v1::JobSpec>> LoadSpec(int64_t job);
  // The spec without its kernels.
  absl::StatusOr<v1::JobSpec> LoadHead(int64_t job);
  absl::StatusOr<v1::KernelSpec> LoadKernel(int64_t job, int kernel);
  absl::StatusOr<std::vector<v1::TaskRecord>> LoadRecords(int64_t job,
                                                          int kernel);

  // --- Tasks.
  absl::Status InsertTask(const OpenTask& task, const v1::TaskSpec& spec);
  absl::StatusOr<v1::TaskSpec> LoadTaskSpec(int64_t task);
  absl::Status SetLeased(const OpenTask& task, const std::string& node,
                         absl::Time now);
  absl::Status SetRunning(int64_t task, int64_t fence, const std::string& step);
  absl::Status SetWaiting(const OpenTask& task, const std::string& reason);
  // The one place where a result is accepted. False: another attempt owns the
  // task, or it ended.
  absl::StatusOr<bool> AcceptResult(int64_t task, int64_t fence,
                                    absl::Time now);
  // Ends an open task without a result of its own; `result_fence` names the
  // attempt whose result it shares, or 0.
  absl::Status EndTask(int64_t task, v1::TaskState::Name state,
                       const std::string& reason, int64_t result_fence,
                       absl::Time now);
  // Ends all open tasks of the job.
  absl::Status EndTasks(int64_t job, v1::TaskState::Name state,
                        const std::string& reason, absl::Time now);

  // --- Attempts and results.
  absl::Status InsertAttempt(const OpenAttempt& attempt, int64_t session,
                             const v1::Environment& environment,
                             const v1::Gpu* gpu, absl::Time now);
  absl::StatusOr<std::optional<AttemptRow>> FindAttempt(int64_t fence);
  // The task is its node's again, and leased.
  absl::Status ReviveAttempt(const OpenTask& task, const std::string& node);
  absl::Status EndAttempt(int64_t fence, const std::string& state,
                          const std::string& reason, absl::Time now);
  absl::Status SaveResult(int64_t fence, const std::string& state,
                          const std::string& reason, const std::string& sha256,
                          const v1::TaskResult& result, absl::Time now);
  absl::Status PutCache(const std::string& key, const std::string& hash,
                        int64_t fence);
  struct CacheHit {
    std::string environment_hash;
    int64_t fence = 0;
    v1::Outcome::Code outcome = v1::Outcome::outcome_unspecified;
  };
  absl::StatusOr<std::vector<CacheHit>> FindCache(const std::string& key);

  // --- Nodes.
  absl::Status SaveNode(const Node& node, absl::Time now);
  absl::Status SaveNodeState(const Node& node);

  // --- Start.
  absl::StatusOr<std::vector<OpenJob>> LoadOpenJobs();
  struct LoadedTask {
    OpenTask task;
    v1::TaskSpec spec;
  };
  absl::StatusOr<std::vector<LoadedTask>> LoadOpenTasks();
  // Every attempt that nothing has ended yet, also of tasks that have.
  absl::StatusOr<std::vector<OpenAttempt>> LoadOpenAttempts();
  absl::StatusOr<std::vector<Node>> LoadNodes();
  struct LastIds {
    int64_t job = 0;
    int64_t task = 0;
    int64_t fence = 0;
    int64_t session = 0;
  };
  absl::StatusOr<LastIds> LoadLastIds();

 private:
  Store() = default;
  absl::Status Begin();
  absl::Status SaveIsa(int64_t fence, const v1::TaskResult& result);

  // Released last.
  Fd lock_;
  std::unique_ptr<Database> db_;
  // Pages in the write-ahead log after the last commit.
  int wal_pages_ = 0;
  int next_checkpoint_ = 0;
  bool in_transaction_ = false;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_STORE_STORE_H_
