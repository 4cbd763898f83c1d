#include "agent/run_proof.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>

#include "agent/collect.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/base/subprocess.h"
#include "kernelfleet/v1/probe.pb.h"

namespace kernelfleet::agent {
namespace {

constexpr absl::Duration kCompileLimit = absl::Minutes(2);
constexpr absl::Duration kLaunchLimit = absl::Minutes(1);
constexpr int kElements = 1024;
constexpr int64_t kBytes = kElements * 4;

constexpr char kModule[] = R"(import triton
import triton.language as tl


@triton.jit
def copy(source, sink, count, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(sink + offsets, tl.load(source + offsets, mask=mask), mask=mask)
)";

constexpr char kRequest[] = R"({{"phase": "compile_probe", "entry": "copy",
 "module_file": "module.py", "source_file": "module.py",
 "target": {{"backend": "{}", "arch": "{}"}},
 "case": {{"args": [{{"name": "source", "type": "*fp32"}},
   {{"name": "sink", "type": "*fp32"}}, {{"name": "count", "type": "i32"}},
   {{"name": "BLOCK", "constant": {{"int_value": {}}}}}],
  "options": {{"num_warps": 4}}}}}})";

// The two null pointers stand for the scratch memory that newer versions of
// Triton append; a kernel without them ignores them.
constexpr char kPlan[] = R"({{"device": 0, "dump": ".", "repeats": 0,
 "buffers": [
  {{"name": "source", "bytes": {0},
    "fill": {{"kind": "file", "dtype": "i8", "file": "source.bin"}}}},
  {{"name": "sink", "bytes": {0}, "output": true,
    "fill": {{"kind": "zeros", "dtype": "i8"}}}}],
 "arms": [{{"name": "copy", "launches": [
  {{"binary": "{1}", "entry": "{2}", "grid": [1, 1, 1],
    "block": [{3}, 1, 1], "shared_bytes": {4}, "arguments": [
     {{"buffer": "source"}}, {{"buffer": "sink"}},
     {{"type": "i32", "value": {5}}}, {{"scratch": 0}}, {{"scratch": 0}}]}}]}}]
}})";

// Bytes that no memory holds by chance.
std::string Pattern() {
  std::string out(static_cast<size_t>(kBytes), '\0');
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<char>((i * 131 + 7) & 0xff);
  }
  return out;
}

// GCN and CDNA run 64 lanes a warp, everything else 32.
int ThreadsOf(const std::string& arch) {
  return 4 * (arch.starts_with("gfx9") ? 64 : 32);
}

absl::StatusOr<v1::ProbeResult> Compile(const RunProof& proof,
                                        ProcessRunner& runner) {
  KF_RETURN_IF_ERROR(
      WriteFileAtomic(JoinPath(proof.directory, "module.py"), kModule));
  KF_RETURN_IF_ERROR(
      WriteFileAtomic(JoinPath(proof.directory, "request.json"),
                      fmt::format(kRequest, proof.target.backend(),
                                  proof.target.arch(), kElements)));
  PhaseRun run;
  run.id = "run-proof";
  run.directory = proof.directory;
  run.python = proof.python;
  run.timeout = kCompileLimit;
  run.environment = VisibleDevices(nullptr);
  KF_ASSIGN_OR_RETURN(const PhaseEnd end,
                      runner.RunAlone(run, std::stop_token()));
  v1::TaskResult result =
      CollectResult(proof.directory, end, "", CollectLimits());
  if (result.probe().outcome() != v1::Outcome::compiled) {
    return FailedPrecondition(
        fmt::format("a tiny kernel did not compile: {}",
                    Shorten(result.probe().failure().message(), 300)));
  }
  return std::move(*result.mutable_probe());
}

absl::StatusOr<std::string> PlanOf(const RunProof& proof,
                                   const v1::ProbeResult& compiled) {
  std::string binary;
  for (const v1::Artifact& artifact : compiled.artifacts()) {
    if (artifact.kind() == "cubin" || artifact.kind() == "hsaco") {
      binary = artifact.name();
    }
  }
  // The name goes into JSON; a kernel of ours has a plain one.
  if (binary.empty() || !IsArtifactName(compiled.symbol())) {
    return FailedPrecondition("a tiny kernel compiled to no binary");
  }
  return fmt::format(kPlan, kBytes, binary, compiled.symbol(),
                     ThreadsOf(proof.target.arch()),
                     compiled.resources().shared_bytes(), kElements);
}

absl::Status Launch(const RunProof& proof) {
  ProcessOptions options;
  options.argv = {proof.meter, "plan.json", "measured.json"};
  options.directory = proof.directory;
  options.timeout = kLaunchLimit;
  options.clear_environment = true;
  options.environment = RunnerEnvironment();
  for (const auto& [name, value] : VisibleDevices(&proof.gpu)) {
    options.environment[name] = value;
  }
  KF_ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(options));
  if (result.timed_out) {
    return FailedPrecondition(
        "a tiny kernel did not end: the driver or the GPU hangs");
  }
  if (!result.ok()) {
    const std::string words = Printable(Trim(result.err));
    return FailedPrecondition(
        fmt::format("a tiny kernel did not run: {}",
                    words.empty() ? fmt::format("signal {}", result.signal)
                                  : Shorten(words, 300)));
  }
  KF_ASSIGN_OR_RETURN(const std::string copied,
                      ReadFileBeneath(proof.directory, "copy.sink", kBytes));
  if (copied == Pattern()) return absl::OkStatus();
  return FailedPrecondition("a tiny kernel ran and gave wrong numbers");
}

absl::Status Prove(const RunProof& proof, ProcessRunner& runner) {
  if (!FindProgram(proof.meter)) {
    return FailedPrecondition(
        fmt::format("not proved: no program {}", proof.meter));
  }
  KF_RETURN_IF_ERROR(RemoveTree(proof.directory));
  KF_RETURN_IF_ERROR(MakeDirectories(proof.directory));
  KF_ASSIGN_OR_RETURN(const v1::ProbeResult compiled, Compile(proof, runner));
  KF_ASSIGN_OR_RETURN(const std::string plan, PlanOf(proof, compiled));
  KF_RETURN_IF_ERROR(
      WriteFileAtomic(JoinPath(proof.directory, "source.bin"), Pattern()));
  KF_RETURN_IF_ERROR(
      WriteFileAtomic(JoinPath(proof.directory, "plan.json"), plan));
  return Launch(proof);
}

}  // namespace

absl::Status ProveRuns(const RunProof& proof, ProcessRunner& runner) {
  const absl::Status status = Prove(proof, runner);
  (void)RemoveTree(proof.directory);
  return status;
}

std::map<std::string, std::string> VisibleDevices(const v1::Gpu* gpu) {
  if (gpu == nullptr) {
    return {{"CUDA_VISIBLE_DEVICES", ""}, {"HIP_VISIBLE_DEVICES", "-1"}};
  }
  const std::string index = std::to_string(gpu->index());
  if (gpu->vendor() == "nvidia") {
    return {{"CUDA_VISIBLE_DEVICES", gpu->uuid().empty() ? index : gpu->uuid()},
            {"HIP_VISIBLE_DEVICES", "-1"}};
  }
  // HIP reads CUDA's name too and would take "" as no device.
  return {{"CUDA_VISIBLE_DEVICES", index}, {"HIP_VISIBLE_DEVICES", index}};
}

}  // namespace kernelfleet::agent
