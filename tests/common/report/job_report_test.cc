#include "common/report/job_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/workflow/workflow.h"
#include "tests/support/probe_records.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::report {
namespace {

using testing::AddCode;
using ::testing::HasSubstr;
using testing::MakeRecord;
using ::testing::Not;

// A finished job of `kernels` kernels; the last one fails on AMD.
v1::JobDetail FinishedJob(int kernels) {
  v1::JobDetail job;
  *job.mutable_spec() = testing::MakeProbeJob();
  for (int i = 1; i < kernels; ++i) {
    *job.mutable_spec()->add_kernels() = job.spec().kernels(0);
    job.mutable_spec()->mutable_kernels(i)->set_name("copy_" +
                                                     std::to_string(i));
  }
  for (int i = 0; i < kernels; ++i) {
    std::vector<v1::TaskRecord> records;
    for (const v1::TaskSpec& task : workflow::Next(job.spec(), i, {}).tasks) {
      v1::TaskRecord record = MakeRecord(task, v1::Outcome::compiled);
      record.set_task_id(job.tasks_size() + 1);
      AddCode(record, "global", 2, 1, 16);
      if (kernels > 1 && i == kernels - 1 && !task.variant().empty()) {
        v1::ProbeResult& probe = *record.mutable_result()->mutable_probe();
        probe.set_outcome(v1::Outcome::compile_error);
        v1::Failure& failure = *probe.mutable_failure();
        failure.set_stage("frontend");
        failure.set_message("name 'libdevice' is not defined");
        failure.set_line(7);
        failure.set_column(9);
        failure.set_source_line("    y = libdevice.exp(x)");
      }
      records.push_back(record);
      *job.add_tasks() = record;
    }
    for (const auto& d : workflow::Next(job.spec(), i, records).decisions) {
      *job.add_decisions() = d;
    }
  }
  v1::JobSummary& summary = *job.mutable_summary();
  summary.set_job_id("j7k2m");
  summary.set_workflow("probe");
  summary.set_state(v1::JobState::done);
  summary.set_tasks(job.tasks_size());
  return job;
}

TEST(JobReportTest, OneKernelIsToldConclusionFirst) {
  const std::string out = ToTerminal(Describe(FinishedJob(1)), {120, false});
  EXPECT_THAT(out, ::testing::StartsWith("copy\n====\n"));
  EXPECT_THAT(out, HasSubstr("copy: compiles for cuda:sm_90, hip:gfx942"));
  EXPECT_LT(out.find("compiles for"), out.find("What it means"));
  EXPECT_LT(out.find("What it means"), out.find("What to try next"));
  EXPECT_THAT(out, HasSubstr("2 × global 16 B"));
}

TEST(JobReportTest, TheNextStepIsACommandThatCanBeRun) {
  EXPECT_THAT(
      ToTerminal(Describe(FinishedJob(1)), {120, false}),
      HasSubstr("kernelfleet submit copy.py --kernel copy --target hip:gfx942 "
                "--arg 'x_ptr=*fp16:range=32'"));
}

TEST(JobReportTest, ABatchStartsWithCountsAndCauses) {
  const std::string out = ToMarkdown(Describe(FinishedJob(3)));
  EXPECT_THAT(out, HasSubstr("2 of 3 kernels compile for every target"));
  EXPECT_THAT(out, HasSubstr("Causes of failure"));
  EXPECT_THAT(out, HasSubstr("| 2 | 1 | compile error in frontend |"));
}

TEST(JobReportTest, AFailureQuotesTheUsersLine) {
  const std::string out = ToTerminal(Describe(FinishedJob(2)), {120, false});
  EXPECT_THAT(out, HasSubstr("copy.py:7:9: name 'libdevice' is not defined"));
  EXPECT_THAT(out, HasSubstr("          y = libdevice.exp(x)\n"
                             "              ^\n"));
}

TEST(JobReportTest, ALargeBatchIsToldByItsExceptionsOnATerminal) {
  const v1::JobDetail job = FinishedJob(30);
  const std::string out =
      ToTerminal(Describe(job, Extent::kNotable), {120, false});
  EXPECT_THAT(out, HasSubstr("29 kernels that compile everywhere"));
  EXPECT_THAT(out, HasSubstr("copy_29"));
  EXPECT_THAT(out, Not(HasSubstr("copy_3\n")));
  EXPECT_THAT(ToMarkdown(Describe(job)), HasSubstr("copy\\_3\n"));
}

TEST(JobReportTest, GuessesAreOwnedUpTo) {
  v1::JobDetail job = FinishedJob(1);
  v1::KernelArg& arg =
      *job.mutable_spec()->mutable_kernels(0)->mutable_case_()->mutable_args(1);
  arg.set_guessed_from("default in line 4");
  EXPECT_THAT(ToTerminal(Describe(job), {120, false}),
              HasSubstr("n = i32 (from the default in line 4)"));
}

TEST(JobReportTest, WhySaysTheCompilersWords) {
  const std::string out = ToTerminal(Why(FinishedJob(2)), {120, false});
  EXPECT_THAT(out, HasSubstr("copy_1 hip:gfx942 buffer_ops=0"));
  EXPECT_THAT(out, HasSubstr("name 'libdevice' is not defined"));
}

TEST(JobReportTest, WhyGroupsTasksThatWaitForOneReason) {
  v1::JobDetail job = FinishedJob(1);
  for (v1::TaskRecord& task : *job.mutable_tasks()) {
    task.clear_result();
    task.set_state(v1::TaskState::waiting);
    task.set_reason("no node compiles cuda:sm_90");
  }
  EXPECT_THAT(ToTerminal(Why(job), {120, false}),
              HasSubstr("3 waiting: no node compiles cuda:sm_90"));
}

TEST(JobReportTest, RowsBecomeObjects) {
  v1::QueryResponse response;
  response.add_columns("kernel");
  response.add_columns("count");
  v1::QueryRow& row = *response.add_rows();
  row.add_values()->set_text("a\"b");
  row.add_values()->set_integer(3);
  ASSERT_OK_AND_ASSIGN(const std::string json, RowsToJson(response));
  EXPECT_THAT(json, HasSubstr("\"kernel\": \"a\\\"b\""));
  EXPECT_THAT(json, HasSubstr("\"count\": 3"));
}

}  // namespace
}  // namespace kernelfleet::report
