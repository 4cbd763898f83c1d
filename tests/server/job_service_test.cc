#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "common/rpc/limits.h"
#include "common/rpc/status.h"
#include "tests/server/server_fixture.h"

namespace kernelfleet::server {
namespace {

using ::kernelfleet::testing::SampleJob;
using ::kernelfleet::testing::SampleResult;
using ::testing::Contains;
using ::testing::HasSubstr;

class JobServiceTest : public ServerTest {
 protected:
  absl::StatusOr<v1::JobDetail> Get(const std::string& id) {
    v1::GetJobRequest request;
    request.set_job_id(id);
    return rpc::Call(*jobs_, &Jobs::GetJob, request, kOnce);
  }

  // Leases one task and completes it.
  void RunOneTask(const std::string& node, int64_t session) {
    ASSERT_OK_AND_ASSIGN(
        const v1::LeaseResponse lease,
        rpc::Call(*nodes_, &Nodes::Lease, LeaseOf(node, session, 10), kOnce));
    ASSERT_EQ(lease.tasks_size(), 1);
    ASSERT_OK_AND_ASSIGN(
        const v1::CompleteResponse done,
        rpc::Call(*nodes_, &Nodes::Complete,
                  SampleResult(lease.tasks(0), node, session), kOnce));
    EXPECT_TRUE(done.accepted()) << done.reason();
  }
};

TEST_F(JobServiceTest, ShowsASubmittedJobUntilItIsDone) {
  const std::string id = Submit(2);
  ASSERT_OK_AND_ASSIGN(const v1::JobDetail waiting, Get(id));
  EXPECT_EQ(waiting.summary().state(), v1::JobState::active);
  EXPECT_EQ(waiting.summary().tasks(), 2);
  const int64_t session = Register("node-a");
  RunOneTask("node-a", session);
  RunOneTask("node-a", session);
  ASSERT_OK_AND_ASSIGN(const v1::JobDetail done, Get(id));
  EXPECT_EQ(done.summary().state(), v1::JobState::done);
  ASSERT_EQ(done.tasks_size(), 2);
  EXPECT_EQ(done.tasks(0).result().probe().outcome(), v1::Outcome::compiled);
  EXPECT_EQ(done.tasks(0).node_id(), "node-a");
}

TEST_F(JobServiceTest, TakesTheSameKeyForTheSameJobOnly) {
  v1::SubmitRequest request;
  *request.mutable_spec() = SampleJob();
  request.set_idempotency_key("once");
  ASSERT_OK_AND_ASSIGN(const auto first,
                       rpc::Call(*jobs_, &Jobs::Submit, request, kOnce));
  EXPECT_TRUE(first.created());
  ASSERT_OK_AND_ASSIGN(const auto again,
                       rpc::Call(*jobs_, &Jobs::Submit, request, kOnce));
  EXPECT_FALSE(again.created());
  EXPECT_EQ(again.job_id(), first.job_id());
  *request.mutable_spec() = SampleJob(2);
  EXPECT_EQ(rpc::Call(*jobs_, &Jobs::Submit, request, kOnce).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(JobServiceTest, TakesALargeSpecAsABlob) {
  const v1::JobSpec spec = SampleJob(20'000);
  v1::SubmitRequest request;
  ASSERT_OK_AND_ASSIGN(
      const std::string digest,
      rpc::BlobClient(channel_).Upload(spec.SerializeAsString()));
  request.set_spec_digest(digest);
  ASSERT_OK_AND_ASSIGN(const auto answer,
                       rpc::Call(*jobs_, &Jobs::Submit, request, kOnce));
  v1::GetJobRequest get;
  get.set_job_id(answer.job_id());
  get.set_omit_tasks(true);
  ASSERT_OK_AND_ASSIGN(const v1::JobDetail job,
                       rpc::Call(*jobs_, &Jobs::GetJob, get, kOnce));
  EXPECT_EQ(job.summary().kernels(), 20'000);
  v1::ListTasksRequest list;
  list.set_job_id(answer.job_id());
  list.set_page_size(100);
  ASSERT_OK_AND_ASSIGN(const auto page,
                       rpc::Call(*jobs_, &Jobs::ListTasks, list, kOnce));
  EXPECT_EQ(page.tasks_size(), 100);
  EXPECT_NE(page.next_page_token(), "");
}

TEST_F(JobServiceTest, SaysWhichJobItDoesNotKnow) {
  const absl::Status status = Get("nosuchjob").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(kernelfleet::Text(status), HasSubstr("nosuchjob"));
}

TEST_F(JobServiceTest, CancelsWaitingTasks) {
  const std::string id = Submit(3);
  v1::CancelJobRequest request;
  request.set_job_id(id);
  request.set_reason("changed my mind");
  ASSERT_OK_AND_ASSIGN(const auto answer,
                       rpc::Call(*jobs_, &Jobs::CancelJob, request, kOnce));
  EXPECT_EQ(answer.cancelled_tasks(), 3);
  ASSERT_OK_AND_ASSIGN(const v1::JobDetail job, Get(id));
  EXPECT_EQ(job.summary().state(), v1::JobState::cancelled);
}

TEST_F(JobServiceTest, ListsJobsAndNodes) {
  const std::string id = Submit();
  Register("node-a");
  ASSERT_OK_AND_ASSIGN(const auto jobs,
                       rpc::Call(*jobs_, &Jobs::ListJobs, {}, kOnce));
  ASSERT_EQ(jobs.jobs_size(), 1);
  EXPECT_EQ(jobs.jobs(0).job_id(), id);
  ASSERT_OK_AND_ASSIGN(const auto nodes,
                       rpc::Call(*jobs_, &Jobs::ListNodes, {}, kOnce));
  ASSERT_EQ(nodes.nodes_size(), 1);
  EXPECT_EQ(nodes.nodes(0).facts().node_id(), "node-a");
  EXPECT_EQ(nodes.nodes(0).state(), "online");
}

TEST_F(JobServiceTest, CordonsANode) {
  Register("node-a");
  v1::SetNodeStateRequest request;
  request.set_node_id("node-a");
  request.set_state("cordoned");
  request.set_reason("new driver");
  ASSERT_OK(rpc::Call(*jobs_, &Jobs::SetNodeState, request, kOnce));
  ASSERT_OK_AND_ASSIGN(const auto nodes,
                       rpc::Call(*jobs_, &Jobs::ListNodes, {}, kOnce));
  EXPECT_EQ(nodes.nodes(0).state(), "cordoned");
  EXPECT_EQ(nodes.nodes(0).reason(), "new driver");
}

TEST_F(JobServiceTest, AnswersReadOnlySqlAndNothingElse) {
  Submit();
  v1::QueryRequest request;
  request.set_sql("select count(*) as n from probes");
  ASSERT_OK_AND_ASSIGN(const auto answer,
                       rpc::Call(*jobs_, &Jobs::Query, request, kOnce));
  EXPECT_THAT(answer.columns(), ::testing::ElementsAre("n"));
  ASSERT_EQ(answer.rows_size(), 1);
  for (const char* bad : {"delete from nodes", "selec 1", ""}) {
    request.set_sql(bad);
    EXPECT_FALSE(rpc::Call(*jobs_, &Jobs::Query, request, kOnce).ok()) << bad;
  }
}

TEST_F(JobServiceTest, RefusesAnAnswerThatIsTooLargeInsteadOfSendingIt) {
  v1::QueryRequest request;
  request.set_sql("select printf('%.*c', 5000000, 'x')");
  EXPECT_EQ(rpc::Call(*jobs_, &Jobs::Query, request, kOnce).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST_F(JobServiceTest, SaysWhatItIs) {
  ASSERT_OK_AND_ASSIGN(const v1::ServerInfo info,
                       rpc::Call(*jobs_, &Jobs::GetServerInfo, {}, kOnce));
  EXPECT_NE(info.version(), "");
  EXPECT_EQ(info.protocol(), rpc::kProtocol);
  EXPECT_EQ(info.data_dir(), dir_ / "data");
}

TEST_F(JobServiceTest, StreamsEveryEventOfAJobOnceAndInOrder) {
  const std::string id = Submit();
  std::thread node([&] { RunOneTask("node-a", Register("node-a")); });
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(30));
  v1::WatchJobRequest request;
  request.set_job_id(id);
  auto stream = jobs_->WatchJob(&context, request);
  std::vector<std::string> kinds;
  v1::JobEvent event;
  int64_t last = 0;
  while (stream->Read(&event)) {
    kinds.push_back(event.kind());
    EXPECT_EQ(event.sequence(), last + 1);
    last = event.sequence();
  }
  node.join();
  EXPECT_OK(rpc::FromGrpc(stream->Finish()));
  ASSERT_FALSE(kinds.empty());
  EXPECT_EQ(kinds.front(), "submitted");
  EXPECT_THAT(kinds, Contains("leased"));
  EXPECT_EQ(kinds.back(), "job_done");
}

TEST_F(JobServiceTest, ResumesAWatchWhereItBrokeOff) {
  const std::string id = Submit();
  RunOneTask("node-a", Register("node-a"));
  const auto read = [&](int64_t after) {
    grpc::ClientContext context;
    v1::WatchJobRequest request;
    request.set_job_id(id);
    request.set_after_sequence(after);
    auto stream = jobs_->WatchJob(&context, request);
    std::vector<int64_t> sequences;
    v1::JobEvent event;
    while (stream->Read(&event)) sequences.push_back(event.sequence());
    EXPECT_OK(rpc::FromGrpc(stream->Finish()));
    return sequences;
  };
  const std::vector<int64_t> all = read(0);
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(read(2), std::vector<int64_t>(all.begin() + 2, all.end()));
}

TEST_F(JobServiceTest, ForgetsAWatcherThatWentAway) {
  const std::string id = Submit();
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    v1::WatchJobRequest request;
    request.set_job_id(id);
    auto stream = jobs_->WatchJob(&context, request);
    v1::JobEvent event;
    ASSERT_TRUE(stream->Read(&event));
    context.TryCancel();
    EXPECT_EQ(rpc::FromGrpc(stream->Finish()).code(),
              absl::StatusCode::kCancelled);
  }
  // The job still runs and a new watcher sees it through.
  RunOneTask("node-a", Register("node-a"));
  EXPECT_OK(Get(id));
}

TEST_F(JobServiceTest, SaysWhichJobCannotBeWatched) {
  grpc::ClientContext context;
  v1::WatchJobRequest request;
  request.set_job_id("nosuchjob");
  auto stream = jobs_->WatchJob(&context, request);
  v1::JobEvent event;
  EXPECT_FALSE(stream->Read(&event));
  EXPECT_EQ(rpc::FromGrpc(stream->Finish()).code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace kernelfleet::server
