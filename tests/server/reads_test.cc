// What people ask: SQL, logs, watches, listings; and what the disk refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <thread>

#include "common/base/status.h"
#include "server/store/schema.h"
#include "server/store/store.h"
#include "tests/server/house.h"

namespace kernelfleet::server {
namespace {

using ::testing::HasSubstr;

// A house with one finished job.
v1::LeasedTask FinishOne(House& house) {
  house.AddNode(CompileNode("a"));
  EXPECT_OK(house.Submit(SpecOf(1)));
  const auto lease = house.Lease("a");
  EXPECT_OK(house.Complete("a", lease->tasks(0), CompiledResult()));
  return lease->tasks(0);
}

TEST(QueryTest, EveryViewAnswers) {
  House house;
  FinishOne(house);
  for (const std::string_view view : PublicViews()) {
    EXPECT_EQ(house.Sql("SELECT count(*) > 0 FROM " + std::string(view)),
              view == "benchmarks" ? "0" : "1")
        << view;
  }
  EXPECT_EQ(house.Sql("SELECT outcome FROM probes WHERE registers=32 AND "
                      "triton_version='3.6.0'"),
            "compiled");
  EXPECT_EQ(house.Sql("SELECT count FROM isa WHERE family='global_load'"), "4");
  EXPECT_EQ(house.Sql("SELECT json_extract(toolchain, '$.ptxas') FROM probes"),
            "12.9");
  EXPECT_EQ(house.Sql("SELECT json_extract(stages, '$.ptx') FROM probes"), "3");
}

TEST(QueryTest, NothingButReadingTheViewsIsAllowed) {
  House house;
  FinishOne(house);
  for (const char* sql : {
           "DELETE FROM jobs",
           "INSERT INTO job_row VALUES(1)",
           "SELECT * FROM job_row",
           "SELECT * FROM \"task_row\"",
           "WITH jobs AS (SELECT * FROM [Job_Row]) SELECT * FROM jobs",
           "SELECT * FROM sqlite_master",
           "SELECT * FROM sqlite_schema",
           "PRAGMA user_version=9",
           "SELECT * FROM pragma_table_info('jobs')",
           "ATTACH '/tmp/x.db' AS x",
           "VACUUM INTO '/tmp/x.db'",
           "SELECT load_extension('x')",
           "SELECT writefile('/tmp/x', 'y')",
           "SELECT randomblob(1000000000)",
           "BEGIN",
           "CREATE TEMP TABLE x(y)",
           "SELECT 1; SELECT 2",
           "",
           "SELECT nonsense FROM jobs",
       }) {
    v1::QueryRequest request;
    request.set_sql(sql);
    const auto answer = house.coordinator->Query(request);
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kInvalidArgument)
        << sql;
  }
  EXPECT_EQ(house.Sql("SELECT count(*) FROM jobs"), "1");
}

TEST(QueryTest, RowsAndTimeAreBounded) {
  House house;
  v1::QueryRequest request;
  request.set_sql(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) "
      "SELECT i FROM n");
  request.set_max_rows(10);
  ASSERT_OK_AND_ASSIGN(const auto answer, house.coordinator->Query(request));
  EXPECT_EQ(answer.rows_size(), 10);
  EXPECT_TRUE(answer.truncated());
  // The fake clock stands still, so the deadline has to have passed already.
  request.set_sql(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) "
      "SELECT count(*) FROM n");
  request.set_timeout_s(1e-10);
  EXPECT_EQ(house.coordinator->Query(request).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(LogTest, LogsResumeByOffsetAndAreCappedWithAMarker) {
  House house;
  house.options.log_cap_bytes = 10;
  house.Reopen();
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  const v1::LeasedTask& task = lease.tasks(0);
  v1::AppendLogRequest append;
  append.set_node_id("a");
  append.set_task_id(task.task_id());
  append.set_fence(task.fence());
  append.set_data("hello ");
  ASSERT_OK_AND_ASSIGN(auto next, house.coordinator->AppendLog(append));
  EXPECT_EQ(next.next_offset(), 6);
  // The same again, and a part of it, add nothing twice.
  append.set_offset(3);
  append.set_data("lo wo");
  ASSERT_OK_AND_ASSIGN(next, house.coordinator->AppendLog(append));
  EXPECT_EQ(next.next_offset(), 8);
  // A hole is not filled: the answer says where to go on.
  append.set_offset(100);
  ASSERT_OK_AND_ASSIGN(next, house.coordinator->AppendLog(append));
  EXPECT_EQ(next.next_offset(), 8);

  v1::ReadLogRequest read;
  read.set_job_id("last");
  read.set_task_id(task.task_id());
  std::vector<v1::ReadLogResponse> got;
  const auto keep = [&](const auto& answer) {
    ASSERT_OK(answer);
    got.push_back(*answer);
  };
  house.coordinator->ReadLog(read, keep);
  EXPECT_EQ(got.back().data(), "hello wo");
  EXPECT_FALSE(got.back().complete());
  read.set_offset(8);
  read.set_follow(true);
  house.coordinator->ReadLog(read, keep);
  EXPECT_EQ(got.size(), 1);
  append.set_offset(8);
  append.set_data("rld and much more");
  append.set_complete(true);
  ASSERT_OK_AND_ASSIGN(next, house.coordinator->AppendLog(append));
  EXPECT_EQ(next.next_offset(), 25);
  ASSERT_EQ(got.size(), 2);
  EXPECT_THAT(got.back().data(),
              HasSubstr("rl\n[kernelfleet: the log was cut"));
  EXPECT_TRUE(got.back().complete());
  append.set_node_id("b");
  EXPECT_EQ(house.coordinator->AppendLog(append).status().code(),
            absl::StatusCode::kPermissionDenied);
}

TEST(WatchTest, AWatchReplaysThenFollowsThenEnds) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  v1::WatchJobRequest request;
  request.set_job_id("last");
  ASSERT_OK_AND_ASSIGN(const auto watch, house.coordinator->WatchJob(request));
  std::vector<std::string> kinds;
  bool last = false;
  int answers = 0;
  const auto keep = [&](absl::StatusOr<WatchBatch> batch) {
    ASSERT_OK(batch);
    ++answers;
    for (const auto& event : batch->events) kinds.push_back(event.kind());
    last = batch->last;
  };
  watch->Next(keep);
  EXPECT_EQ(kinds, std::vector<std::string>{"submitted"});
  watch->Next(keep);
  EXPECT_EQ(answers, 1);
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  EXPECT_EQ(answers, 2);
  ASSERT_OK(house.Complete("a", lease.tasks(0), CompiledResult()));
  watch->Next(keep);
  EXPECT_TRUE(last);
  EXPECT_EQ(kinds, (std::vector<std::string>{"submitted", "leased", "done",
                                             "decided", "job_done"}));
}

TEST(ListTest, JobsAreFoundByPrefixLabelKernelTargetAndPage) {
  House house;
  for (int i = 0; i < 5; ++i) {
    v1::JobSpec spec = SpecOf(1);
    spec.mutable_kernels(0)->set_name("k" + std::to_string(i));
    (*spec.mutable_labels())["parity"] = i % 2 ? "odd" : "even";
    ASSERT_OK(house.Submit(spec));
  }
  const std::string id = house.Job().summary().job_id();
  EXPECT_EQ(house.Job(id.substr(0, 8)).summary().job_id(), id);
  v1::GetJobRequest get;
  get.set_job_id("nothing-like-it");
  EXPECT_EQ(house.coordinator->GetJob(get).status().code(),
            absl::StatusCode::kNotFound);
  v1::ListJobsRequest list;
  (*list.mutable_labels())["parity"] = "even";
  list.set_target("cuda:sm_90");
  list.set_page_size(2);
  ASSERT_OK_AND_ASSIGN(auto jobs, house.coordinator->ListJobs(list));
  ASSERT_EQ(jobs.jobs_size(), 2);
  EXPECT_EQ(jobs.jobs(0).title(), "k4");
  list.set_page_token(jobs.next_page_token());
  ASSERT_OK_AND_ASSIGN(jobs, house.coordinator->ListJobs(list));
  ASSERT_EQ(jobs.jobs_size(), 1);
  EXPECT_EQ(jobs.next_page_token(), "");
  v1::ListJobsRequest kernel;
  kernel.set_kernel("k3");
  ASSERT_OK_AND_ASSIGN(jobs, house.coordinator->ListJobs(kernel));
  EXPECT_EQ(jobs.jobs_size(), 1);
  list.add_states("nonsense");
  EXPECT_EQ(house.coordinator->ListJobs(list).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(SchemaTest, ANewerSchemaIsRefusedInOneSentence) {
  House house;
  house.Close();
  sqlite3* db = nullptr;
  const std::string path = Store::DatabasePath(house.options.data_dir);
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "PRAGMA user_version=99", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  const auto opened =
      Coordinator::Open(house.options, house.clock, house.random);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Text(opened.status()), HasSubstr("has schema 99"));
}

TEST(ThreadTest, ManyCallersShareOneWriter) {
  House house;
  house.Close();
  house.options.writer = WriterMode::kThread;
  house.options.readers = 2;
  ASSERT_OK_AND_ASSIGN(
      auto coordinator,
      Coordinator::Open(house.options, RealClock(), SystemRandom()));
  std::atomic<int> created = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      for (int j = 0; j < 50; ++j) {
        v1::SubmitRequest request;
        *request.mutable_spec() = SpecOf(1);
        // Every key is used by two callers.
        request.set_idempotency_key(std::to_string(i / 2 * 50 + j));
        coordinator->Submit(request, [&](const auto& answer) {
          if (answer.ok()) created += answer->created();
        });
        (void)coordinator->ListJobs({});
        (void)coordinator->GetServerInfo();
      }
    });
  }
  for (std::thread& each : callers) each.join();
  coordinator.reset();
  EXPECT_EQ(created, 100);
}

}  // namespace
}  // namespace kernelfleet::server
