#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/workflow/workflow.h"
#include "tests/support/probe_records.h"

namespace kernelfleet::workflow {
namespace {

using testing::AddCode;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeProbeJob;
using testing::MakeRecord;
using ::testing::Not;

std::vector<v1::TaskRecord> AllCompiled(const v1::JobSpec& job) {
  std::vector<v1::TaskRecord> records;
  for (const v1::TaskSpec& task : Next(job, 0, {}).tasks) {
    records.push_back(MakeRecord(task, v1::Outcome::compiled));
  }
  return records;
}

std::vector<std::string> RulesOf(const Plan& plan) {
  std::vector<std::string> rules;
  for (const v1::Decision& d : plan.decisions) rules.push_back(d.rule());
  return rules;
}

std::string TextOf(const Plan& plan, const std::string& rule) {
  for (const v1::Decision& d : plan.decisions) {
    if (d.rule() == rule) return d.text();
  }
  return "";
}

TEST(ProbeTest, AmdTargetsAreBuiltWithBufferOpsOffAndOn) {
  const Plan plan = Next(MakeProbeJob(), 0, {});
  ASSERT_EQ(plan.tasks.size(), 3u);
  EXPECT_THAT(plan.decisions, IsEmpty());
  EXPECT_EQ(plan.tasks[0].variant(), "");
  EXPECT_TRUE(plan.tasks[0].environment().empty());
  EXPECT_EQ(plan.tasks[1].variant(), "buffer_ops=0");
  EXPECT_EQ(plan.tasks[1].environment().at("AMDGCN_USE_BUFFER_OPS"), "0");
  EXPECT_EQ(plan.tasks[2].variant(), "buffer_ops=1");
  EXPECT_EQ(plan.tasks[2].environment().at("AMDGCN_USE_BUFFER_OPS"), "1");
  for (const v1::TaskSpec& task : plan.tasks) {
    EXPECT_EQ(task.phase(), v1::Phase::compile_probe);
    EXPECT_TRUE(task.deterministic());
    EXPECT_FALSE(task.needs_gpu());
  }
}

TEST(ProbeTest, AKernelsOwnTargetsReplaceTheJobs) {
  v1::JobSpec job = MakeProbeJob();
  *job.mutable_kernels(0)->add_targets() = testing::MakeTarget("cuda", "sm_80");
  const Plan plan = Next(job, 0, {});
  ASSERT_EQ(plan.tasks.size(), 1u);
  EXPECT_EQ(plan.tasks[0].target().arch(), "sm_80");
}

TEST(ProbeTest, NothingIsDecidedWhileATaskIsOpen) {
  const v1::JobSpec job = MakeProbeJob();
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  records[1].set_state(v1::TaskState::running);
  const Plan plan = Next(job, 0, records);
  EXPECT_THAT(plan.tasks, IsEmpty());
  EXPECT_THAT(plan.decisions, IsEmpty());
}

TEST(ProbeTest, TheSameRecordsGiveTheSamePlan) {
  const v1::JobSpec job = MakeProbeJob();
  const std::vector<v1::TaskRecord> records = AllCompiled(job);
  const Plan a = Next(job, 0, records);
  const Plan b = Next(job, 0, records);
  ASSERT_EQ(a.decisions.size(), b.decisions.size());
  for (size_t i = 0; i < a.decisions.size(); ++i) {
    // By fields: maps have no order in bytes.
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(
        a.decisions[i], b.decisions[i]));
  }
}

TEST(ProbeTest, BufferOpsWithoutPointerRangeChangeNothingAndTheReasonIsSaid) {
  const v1::JobSpec job = MakeProbeJob();
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  AddCode(records[1], "global", 2, 1, 16);
  AddCode(records[2], "global", 2, 1, 16);
  const Plan plan = Next(job, 0, records);
  EXPECT_THAT(RulesOf(plan), Contains("probe.buffer-ops-need-pointer-range"));
  EXPECT_THAT(TextOf(plan, "probe.buffer-ops-need-pointer-range"),
              HasSubstr("x_ptr has no 32-bit pointer range"));
  EXPECT_THAT(RulesOf(plan), Not(Contains("probe.buffer-ops-convert")));
}

TEST(ProbeTest, BufferOpsThatConvertAreCounted) {
  v1::JobSpec job = MakeProbeJob();
  job.mutable_kernels(0)->mutable_case_()->mutable_args(0)->set_pointer_range(
      32);
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  AddCode(records[1], "global", 2, 1, 16);
  AddCode(records[2], "buffer", 2, 1, 16);
  const Plan plan = Next(job, 0, records);
  EXPECT_EQ(TextOf(plan, "probe.buffer-ops-convert"),
            "Buffer ops turn 2 loads and 1 store into buffer instructions on "
            "hip:gfx942; none stays global");
}

TEST(ProbeTest, AToggleThatTheStackIgnoresIsNoticed) {
  const v1::JobSpec job = MakeProbeJob();
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  AddCode(records[1], "buffer", 2, 1, 4);
  AddCode(records[2], "buffer", 2, 1, 4);
  EXPECT_THAT(RulesOf(Next(job, 0, records)),
              Contains("probe.buffer-ops-toggle-ignored"));
}

TEST(ProbeTest, SpillsDoNotCountAsTensorTraffic) {
  const v1::JobSpec job = MakeProbeJob();
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  AddCode(records[1], "global", 2, 1, 16);
  v1::IsaKernel& on = AddCode(records[2], "global", 2, 1, 16);
  v1::MemoryCount& spill = *on.add_memory();
  spill.set_space("buffer");
  spill.set_direction("store");
  spill.set_spill(true);
  spill.set_count(900);
  EXPECT_THAT(RulesOf(Next(job, 0, records)),
              Not(Contains("probe.buffer-ops-convert")));
}

TEST(ProbeTest, AFailureNamesStagePlaceAndCauseOnceForBothToggles) {
  const v1::JobSpec job = MakeProbeJob();
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  for (size_t i : {1u, 2u}) {
    v1::ProbeResult& probe = *records[i].mutable_result()->mutable_probe();
    probe.set_outcome(v1::Outcome::compile_error);
    probe.mutable_failure()->set_stage("ttgir");
    probe.mutable_failure()->set_error_class("RuntimeError");
    probe.mutable_failure()->set_message("PassManager::run failed\nand more");
    probe.mutable_failure()->set_line(12);
    probe.mutable_failure()->set_column(5);
  }
  const Plan plan = Next(job, 0, records);
  EXPECT_EQ(TextOf(plan, "probe.compile-error"),
            "Does not compile for hip:gfx942 with buffer ops off or on, in "
            "stage ttgir, at copy.py:12:5: RuntimeError: PassManager::run "
            "failed");
  const std::vector<std::string> rules = RulesOf(plan);
  EXPECT_EQ(std::count(rules.begin(), rules.end(), "probe.compile-error"), 1);
  EXPECT_EQ(plan.decisions[0].verdict(), "fail");
  EXPECT_EQ(plan.decisions[0].text(),
            "copy: compiles for cuda:sm_90; fails for hip:gfx942");
}

TEST(ProbeTest, BufferOpsThatBreakTheCompileAreToBeLeftOff) {
  const v1::JobSpec job = MakeProbeJob();
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  records[2].mutable_result()->mutable_probe()->set_outcome(
      v1::Outcome::compile_error);
  EXPECT_THAT(TextOf(Next(job, 0, records), "probe.buffer-ops-break-compile"),
              HasSubstr("Leave AMDGCN_USE_BUFFER_OPS at 0"));
}

TEST(ProbeTest, OutOfResourcesSaysRequiredAndLimit) {
  const v1::JobSpec job = MakeProbeJob();
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  v1::ProbeResult& probe = *records[0].mutable_result()->mutable_probe();
  probe.set_outcome(v1::Outcome::out_of_resources);
  probe.mutable_failure()->set_resource("bytes of shared memory");
  probe.mutable_failure()->set_required(98304);
  probe.mutable_failure()->set_limit(65536);
  EXPECT_THAT(TextOf(Next(job, 0, records), "probe.out-of-resources"),
              HasSubstr("98304 bytes of shared memory required, the limit is "
                        "65536"));
}

TEST(ProbeTest, AHostileMessageStaysOnePrintableLine) {
  const v1::JobSpec job = MakeProbeJob();
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  v1::ProbeResult& probe = *records[0].mutable_result()->mutable_probe();
  probe.set_outcome(v1::Outcome::compile_error);
  probe.mutable_failure()->set_message("\x1b]52;c;ZXZpbA==\x07" +
                                       std::string(100000, 'x'));
  const std::string text = TextOf(Next(job, 0, records), "probe.compile-error");
  EXPECT_EQ(text.find_first_of("\x1b\x07\n"), std::string::npos);
  EXPECT_LT(text.size(), 600u);
}

TEST(ProbeTest, WhatWasLostIsUnknownNotFailed) {
  const v1::JobSpec job = MakeProbeJob();
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  records[0].clear_result();
  records[0].set_state(v1::TaskState::dead);
  records[0].set_reason("lost three nodes");
  const Plan plan = Next(job, 0, records);
  EXPECT_EQ(plan.decisions[0].verdict(), "unknown");
  EXPECT_EQ(TextOf(plan, "probe.no-result"),
            "Nothing is known for cuda:sm_90: the task ended dead, lost three "
            "nodes");
}

TEST(ProbeTest, ADotWithoutMatrixInstructionsIsAnAlarm) {
  v1::JobSpec job = MakeProbeJob();
  job.mutable_kernels(0)->set_classification("dot-related");
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  AddCode(records[0], "global", 2, 1, 16);
  EXPECT_THAT(RulesOf(Next(job, 0, records)),
              Contains("probe.dot-without-matrix"));
  records[0]
      .mutable_result()
      ->mutable_isa(0)
      ->mutable_summary()
      ->set_matrix_ops(4);
  EXPECT_THAT(RulesOf(Next(job, 0, records)),
              Not(Contains("probe.dot-without-matrix")));
}

TEST(ProbeTest, SpillsAreSaidInTheToolsUnit) {
  const v1::JobSpec job = MakeProbeJob();
  std::vector<v1::TaskRecord> records = AllCompiled(job);
  records[0]
      .mutable_result()
      ->mutable_probe()
      ->mutable_resources()
      ->set_spill_store_bytes(24);
  EXPECT_THAT(TextOf(Next(job, 0, records), "probe.spills"),
              HasSubstr("Spills 24 bytes on cuda:sm_90"));
}

TEST(ProbeTest, EveryDecisionNamesItsKernelAndRule) {
  const v1::JobSpec job = MakeProbeJob();
  for (const v1::Decision& d : Next(job, 0, AllCompiled(job)).decisions) {
    EXPECT_EQ(d.kernel(), 0);
    EXPECT_THAT(d.rule(), ::testing::StartsWith("probe."));
    EXPECT_FALSE(d.text().empty());
    EXPECT_FALSE(d.text().ends_with('.'));
  }
}

}  // namespace
}  // namespace kernelfleet::workflow
