// What a compile probe finds, in the words of the contract.
#include "tests/agent/runner/test_runner.h"

namespace kernelfleet::testing {
namespace {

using CompileProbeTest = ZygoteTest;

v1::ProbeRequest MatmulRequest(std::string_view backend, std::string_view arch,
                               int tile, int stages) {
  v1::ProbeRequest request = AddRequest(backend, arch);
  request.set_entry("matmul");
  v1::CompileCase* to = request.mutable_case_();
  to->clear_args();
  for (const char* name : {"a", "b"}) {
    AddArg(to, name, "*fp16")->set_divisibility(16);
  }
  AddArg(to, "c", "*fp32")->set_divisibility(16);
  AddArg(to, "K", "i32")->set_divisibility(16);
  for (const char* name : {"M", "N", "L"}) AddInt(to, name, tile);
  to->mutable_options()->set_num_stages(stages);
  to->mutable_options()->set_num_warps(8);
  return request;
}

TEST_F(CompileProbeTest, SaysRegistersSpillsAndTimePerStage) {
  const v1::ProbeResult result =
      RunRequest(kKernels, AddRequest("cuda", "sm_90")).result;
  ASSERT_EQ(result.outcome(), v1::Outcome::compiled);
  EXPECT_EQ(result.symbol(), "add");
  EXPECT_GT(result.resources().registers(), 0);
  EXPECT_TRUE(result.resources().has_spill_store_bytes());
  EXPECT_EQ(result.resources().num_warps(), 4);
  std::vector<std::string> stages;
  for (const v1::StageTime& stage : result.stages()) {
    EXPECT_GE(stage.ms(), 0);
    stages.push_back(stage.name());
  }
  EXPECT_EQ(stages,
            (std::vector<std::string>{"import", "frontend", "ttir", "ttgir",
                                      "llir", "ptx", "cubin"}));
  EXPECT_EQ(result.environment().at("TRITON_DEFAULT_FP_FUSION"), "1");
  EXPECT_GT(result.environment().count("triton"), 0u);
  EXPECT_GT(result.peak_rss_bytes(), 0);
}

TEST_F(CompileProbeTest, ReadsAmdResourcesFromTheAssembly) {
  const v1::ProbeResult result =
      RunRequest(kKernels, AddRequest("hip", "gfx942")).result;
  ASSERT_EQ(result.outcome(), v1::Outcome::compiled);
  EXPECT_GT(result.resources().registers(), 0);
  EXPECT_GT(result.resources().sgprs(), 0);
  EXPECT_TRUE(result.resources().has_vgpr_spills());
  EXPECT_GT(result.resources().occupancy_waves(), 0);
}

TEST_F(CompileProbeTest, TheSameProbeGivesTheSameMachineCode) {
  const v1::ProbeRequest request = AddRequest("cuda", "sm_90");
  const std::string a = dir_ / "a";
  const std::string b = dir_ / "b";
  for (const std::string& dir : {a, b}) {
    WriteAttempt(dir, kKernels, request);
    ASSERT_EQ(zygote_->Run(dir).result.outcome(), v1::Outcome::compiled);
  }
  for (const char* file : {"/kernel.ttir", "/kernel.ptx", "/kernel.cubin"}) {
    EXPECT_EQ(ReadFile(a + file).value(), ReadFile(b + file).value()) << file;
  }
}

TEST_F(CompileProbeTest, AnErrorInACalleeNamesItsLineInTheUsersFile) {
  v1::ProbeRequest request = AddRequest("cuda", "sm_90");
  request.set_entry("calls_wrong");
  request.mutable_case_()->clear_args();
  AddArg(request.mutable_case_(), "x", "*fp32");
  // The module's lines 1… stand at 101… of the user's file.
  for (int line = 1; line < 80; ++line) request.add_source_lines(line + 100);
  const v1::Failure failure = RunRequest(kKernels, request).result.failure();
  EXPECT_EQ(failure.stage(), "frontend");
  EXPECT_EQ(failure.line(), 114);
  EXPECT_EQ(failure.column(), 12);
  EXPECT_EQ(failure.source_line(), "    return v.nosuch()");
  EXPECT_NE(failure.message().find("nosuch"), std::string::npos);
}

TEST_F(CompileProbeTest, ASyntaxErrorNamesItsLine) {
  const v1::ProbeResult result = RunModule("import triton\nx = = 1\n").result;
  EXPECT_EQ(result.outcome(), v1::Outcome::compile_error);
  EXPECT_EQ(result.failure().stage(), "import");
  EXPECT_EQ(result.failure().error_class(), "SyntaxError");
  EXPECT_EQ(result.failure().line(), 2);
  EXPECT_EQ(result.failure().column(), 5);
}

TEST_F(CompileProbeTest, AnErrorAtImportNamesItsLine) {
  const v1::Failure failure =
      RunModule("import triton\n\nimport no_such_thing\n").result.failure();
  EXPECT_EQ(failure.error_class(), "ModuleNotFoundError");
  EXPECT_EQ(failure.line(), 3);
}

TEST_F(CompileProbeTest, APtxasErrorIsOneLineOfItsOwnWords) {
  v1::ProbeRequest request = AddRequest("cuda", "sm_90");
  request.set_entry("bogus_instruction");
  request.mutable_case_()->clear_args();
  AddArg(request.mutable_case_(), "x", "*i32");
  const v1::ProbeResult result = RunRequest(kKernels, request).result;
  EXPECT_EQ(result.outcome(), v1::Outcome::compile_error);
  EXPECT_EQ(result.failure().stage(), "cubin");
  EXPECT_NE(result.failure().message().find("ptxas: "), std::string::npos);
  EXPECT_LT(result.failure().message().size(), 200u);
  // What came before the failure is kept for whoever wants to look.
  bool has_ptx = false;
  for (const v1::Artifact& artifact : result.artifacts()) {
    has_ptx |= artifact.kind() == "ptx";
  }
  EXPECT_TRUE(has_ptx);
}

TEST_F(CompileProbeTest, TooMuchSharedMemoryIsFoundWithoutADriver) {
  const v1::ProbeResult cuda =
      RunRequest(kKernels, MatmulRequest("cuda", "sm_80", 128, 4)).result;
  EXPECT_EQ(cuda.outcome(), v1::Outcome::out_of_resources);
  EXPECT_EQ(cuda.failure().resource(), "shared memory");
  EXPECT_EQ(cuda.failure().limit(), 163 << 10);
  EXPECT_GT(cuda.failure().required(), cuda.failure().limit());
  const v1::ProbeResult amd =
      RunRequest(kKernels, MatmulRequest("hip", "gfx942", 128, 4)).result;
  EXPECT_EQ(amd.outcome(), v1::Outcome::out_of_resources);
  EXPECT_EQ(amd.failure().limit(), 64 << 10);
}

TEST_F(CompileProbeTest, TargetsTheStackLacksAreNoFaultOfTheKernel) {
  const std::pair<const char*, const char*> kTargets[] = {
      {"hip", "gfx936"}, {"hcu", "gfx938"},    {"cuda", "sm_99"},
      {"cuda", "foo"},   {"tileir", "sm_100"}, {"xpu", "bmg"}};
  for (const auto& [backend, arch] : kTargets) {
    const v1::ProbeResult result =
        RunRequest(kKernels, AddRequest(backend, arch)).result;
    EXPECT_EQ(result.outcome(), v1::Outcome::unsupported_target) << arch;
    EXPECT_FALSE(result.failure().message().empty()) << arch;
    EXPECT_EQ(result.failure().line(), 0) << arch;
  }
}

TEST_F(CompileProbeTest, ConstantsOfEveryKind) {
  v1::ProbeRequest request = AddRequest("cuda", "sm_90");
  request.set_entry("constants");
  v1::CompileCase* to = request.mutable_case_();
  to->clear_args();
  AddArg(to, "x", "*fp32");
  AddArg(to, "T", "")->mutable_constant()->set_dtype_value("bf16");
  AddArg(to, "F", "")->mutable_constant()->set_function_value("square");
  AddArg(to, "N", "")->mutable_constant()->set_none(true);
  AddArg(to, "S", "")->mutable_constant()->set_string_value("plus");
  v1::ConstantTuple* tuple =
      AddArg(to, "P", "")->mutable_constant()->mutable_tuple();
  tuple->add_items()->set_int_value(1);
  tuple->add_items()->set_float_value(2.5);
  const v1::ProbeResult result = RunRequest(kKernels, request).result;
  EXPECT_EQ(result.outcome(), v1::Outcome::compiled)
      << result.failure().ShortDebugString();
}

TEST_F(CompileProbeTest, DecoratorsAreSeenThrough) {
  v1::ProbeRequest request = AddRequest("cuda", "sm_90");
  request.set_entry("tuned");
  v1::CompileCase* to = request.mutable_case_();
  to->clear_args();
  AddArg(to, "x", "*fp32");
  AddArg(to, "o", "*fp32");
  AddArg(to, "n", "i32");
  AddInt(to, "B", 64);
  AddArg(to, "E", "")->mutable_constant()->set_bool_value(true);
  EXPECT_EQ(RunRequest(kKernels, request).result.outcome(),
            v1::Outcome::compiled);
}

TEST_F(CompileProbeTest, AnAlternativeIsTriedWhenTheFirstGuessFails) {
  v1::ProbeRequest request = AddRequest("cuda", "sm_90");
  const v1::CompileCase good = request.case_();
  v1::CompileCase* bad = request.mutable_case_();
  bad->mutable_args(4)->mutable_constant()->set_int_value(1000);
  *request.add_alternatives() = *bad;
  *request.add_alternatives() = good;
  const v1::ProbeResult result = RunRequest(kKernels, request).result;
  EXPECT_EQ(result.outcome(), v1::Outcome::compiled);
  EXPECT_EQ(result.alternative(), 2);
}

TEST_F(CompileProbeTest, CasesThatDoNotFitSaySo) {
  struct Row {
    const char* words;
    void (*spoil)(v1::ProbeRequest*);
  };
  const Row kRows[] = {
      {"no 'nope'; its kernels are add",
       [](v1::ProbeRequest* r) { r->set_entry("nope"); }},
      {"'tl' is no @triton.jit function",
       [](v1::ProbeRequest* r) { r->set_entry("tl"); }},
      {"no parameter 'z'",
       [](v1::ProbeRequest* r) { AddInt(r->mutable_case_(), "z", 1); }},
      {"no type '*fp33'",
       [](v1::ProbeRequest* r) {
         r->mutable_case_()->mutable_args(0)->set_type("*fp33");
       }},
      {"neither a type nor a value",
       [](v1::ProbeRequest* r) {
         r->mutable_case_()->mutable_args()->RemoveLast();
       }},
      {"no option 'occupancy'",
       [](v1::ProbeRequest* r) {
         (*r->mutable_case_()->mutable_options()->mutable_extra())["occupancy"]
             .set_int_value(2);
       }},
      {"power of 2", [](v1::ProbeRequest* r) {
         r->mutable_case_()->mutable_options()->set_num_warps(3);
       }}};
  for (const Row& row : kRows) {
    v1::ProbeRequest request = AddRequest("cuda", "sm_90");
    row.spoil(&request);
    const v1::ProbeResult result = RunRequest(kKernels, request).result;
    EXPECT_EQ(result.outcome(), v1::Outcome::compile_error) << row.words;
    EXPECT_NE(result.failure().message().find(row.words), std::string::npos)
        << result.failure().message();
  }
}

}  // namespace
}  // namespace kernelfleet::testing
