#include "agent/node_facts.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/gpu_tools.h"
#include "agent/run_proof.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/base/subprocess.h"
#include "kernelfleet/v1/probe.pb.h"

namespace kernelfleet::agent {
namespace {

// Vendors' tools hang when a driver does.
constexpr absl::Duration kToolLimit = absl::Seconds(15);
constexpr absl::Duration kProbeLimit = absl::Minutes(5);

// Tools that compiles and readers use, with what makes them tell a version;
// empty: they have no such flag.
struct KnownTool {
  std::string_view name;
  std::string_view version_flag;
};
constexpr KnownTool kTools[] = {
    {"ptxas", "--version"},     {"nvdisasm", "--version"},
    {"cuobjdump", "--version"}, {"nvcc", "--version"},
    {"tileiras", "--version"},  {"hipcc", "--version"},
    {"rocminfo", ""},           {"dccobjdump", "--version"},
    {"hipprof", "--version"},
};

// CUDA's tools; hipcc of ROCm; hipcc of DTK.
constexpr std::string_view kVersionMarkers[] = {
    ", V", "HIP version: ", "dcc version: "};

std::optional<std::string> OutputOf(std::vector<std::string> argv) {
  ProcessOptions options;
  options.argv = std::move(argv);
  options.timeout = kToolLimit;
  const absl::StatusOr<ProcessResult> result = RunProcess(options);
  if (!result.ok() || !result->ok()) return {};
  return result->out.empty() ? result->err : result->out;
}

// The value of a "key<blanks>: value" or KEY=value line of a small file.
std::string FieldOf(const std::string& path, std::string_view key,
                    char separator) {
  const absl::StatusOr<std::string> text = ReadFile(path, 1 << 20);
  if (!text.ok()) return "";
  for (const std::string_view line : Split(*text, '\n')) {
    const size_t at = line.find(separator);
    if (at == line.npos || Trim(line.substr(0, at)) != key) continue;
    std::string_view value = Trim(line.substr(at + 1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return Printable(value);
  }
  return "";
}

int Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

void AddMachine(v1::NodeFacts& facts) {
  struct utsname name = {};
  ::uname(&name);
  facts.set_hostname(name.nodename);
  const std::string os = FieldOf("/etc/os-release", "PRETTY_NAME", '=');
  facts.set_os(fmt::format("{} ({} {})", os.empty() ? name.sysname : os,
                           name.release, name.machine));
  const std::string cpu = FieldOf("/proc/cpuinfo", "model name", ':');
  facts.set_cpu(cpu.empty() ? name.machine : cpu);
  facts.set_cores(Cores());
  const std::string memory = FieldOf("/proc/meminfo", "MemTotal", ':');
  facts.set_memory_bytes(
      ParseInt(memory.substr(0, memory.find(' '))).value_or(0) << 10);
}

std::vector<v1::Gpu> FindGpus(std::vector<std::string>& warnings) {
  std::vector<v1::Gpu> gpus;
  if (FindProgram("nvidia-smi")) {
    const auto csv =
        OutputOf({"nvidia-smi", fmt::format("--query-gpu={}", kNvidiaSmiFields),
                  "--format=csv,nounits"});
    if (csv) gpus = ParseNvidiaSmi(*csv);
    if (!csv) warnings.push_back("nvidia-smi failed: no NVIDIA GPU is used");
  }
  if (FindProgram("rocminfo")) {
    const auto text = OutputOf({"rocminfo"});
    std::vector<v1::Gpu> found;
    if (text) found = ParseRocminfo(*text);
    if (!text) warnings.push_back("rocminfo failed: no AMD GPU is used");
    for (const char* smi : {"hy-smi", "rocm-smi"}) {
      if (found.empty() || !FindProgram(smi)) continue;
      const auto details =
          OutputOf({smi, "--showproductname", "--showuniqueid",
                    "--showdriverversion", "--showmeminfo", "vram"});
      if (details) AddSmi(*details, found);
      break;
    }
    gpus.insert(gpus.end(), found.begin(), found.end());
  }
  return gpus;
}

// Two interpreters may bring the same Triton: "triton-3.9.0", "triton-3.9.0-2".
void NameApart(const v1::NodeFacts& facts, v1::Environment& environment) {
  const std::string base = environment.name();
  int count = 1;
  for (const v1::Environment& other : facts.environments()) {
    if (other.name() == environment.name()) {
      environment.set_name(fmt::format("{}-{}", base, ++count));
    }
  }
}

// Sets `runs` for each compiling target whose GPU is here and ran a kernel.
void ProveTargets(const FactsOptions& options, const std::vector<v1::Gpu>& gpus,
                  v1::Environment& environment, ProcessRunner& runner) {
  for (v1::TargetCapability& each : *environment.mutable_targets()) {
    const auto gpu = std::find_if(gpus.begin(), gpus.end(), [&](const auto& g) {
      return g.arch() == each.target().arch();
    });
    if (!each.compiles() || gpu == gpus.end()) continue;
    const absl::Status proved =
        ProveRuns({.python = environment.python(),
                   .target = each.target(),
                   .gpu = *gpu,
                   .meter = options.meter,
                   .directory = JoinPath(options.data_dir, "run_proof")},
                  runner);
    each.set_runs(proved.ok());
    if (!proved.ok()) each.set_reason(Text(proved));
  }
}

void AddTools(v1::NodeFacts& facts) {
  for (const KnownTool& known : kTools) {
    const auto path = FindProgram(std::string(known.name));
    if (!path) continue;
    v1::Tool& tool = *facts.add_tools();
    tool.set_name(std::string(known.name));
    tool.set_path(*path);
    if (known.version_flag.empty()) continue;
    const auto output = OutputOf({*path, std::string(known.version_flag)});
    if (output) tool.set_version(VersionIn(*output));
  }
}

}  // namespace

std::string VersionIn(std::string_view output) {
  for (const std::string_view marker : kVersionMarkers) {
    const size_t at = output.find(marker);
    if (at == output.npos) continue;
    const std::string_view rest = output.substr(at + marker.size());
    return Printable(rest.substr(0, rest.find_first_of(" \r\n")));
  }
  return Shorten(Printable(Trim(output.substr(0, output.find('\n')))), 100);
}

std::string EnvironmentHash(const v1::Environment& environment,
                            const std::map<std::string, std::string>& process) {
  // Instruction counts are made here, so they depend on us.
  std::vector<std::string> lines = {"agent=" KERNELFLEET_VERSION,
                                    "python=" + environment.python_version(),
                                    "triton=" + environment.triton_version(),
                                    "torch=" + environment.torch_version()};
  const std::map<std::string, std::string> facts(environment.facts().begin(),
                                                 environment.facts().end());
  for (const auto& [name, value] : facts) {
    if (!name.ends_with(".path")) lines.push_back(name + "=" + value);
  }
  for (const v1::TargetCapability& each : environment.targets()) {
    lines.push_back(fmt::format("{}:{}={}", each.target().backend(),
                                each.target().arch(), each.compiles()));
  }
  for (const auto& [name, value] : process) {
    if (name.starts_with("TRITON_")) lines.push_back(name + "=" + value);
  }
  return Sha256Hex(Join(lines, "\n"));
}

absl::StatusOr<v1::Environment> ProbeEnvironment(
    const EnvironmentSource& source, const std::string& directory,
    ProcessRunner& runner) {
  KF_RETURN_IF_ERROR(RemoveTree(directory));
  KF_RETURN_IF_ERROR(MakeDirectories(directory));
  KF_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(directory, "request.json"),
                                     R"({"phase": "env_probe"})"));
  KF_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(directory, "module.py"), ""));
  PhaseRun run;
  run.id = "env-probe";
  run.directory = directory;
  run.python = source.python;
  run.timeout = kProbeLimit;
  KF_ASSIGN_OR_RETURN(const PhaseEnd end,
                      runner.RunAlone(run, std::stop_token()));
  KF_ASSIGN_OR_RETURN(std::string json,
                      ReadFileBeneath(directory, "result.json", 4 << 20));
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  v1::ProbeResult result;
  v1::Environment environment;
  if (!google::protobuf::util::JsonStringToMessage(json, &result, options)
           .ok() ||
      result.outcome() != v1::Outcome::completed ||
      !google::protobuf::util::JsonStringToMessage(result.detail_json(),
                                                   &environment, options)
           .ok()) {
    const std::string& said = result.failure().message();
    return FailedPrecondition(fmt::format(
        "{}: {}", source.python,
        said.empty() ? fmt::format("env_probe ended with status {}, signal {}",
                                   end.exit_status, end.signal)
                     : Shorten(said, 500)));
  }
  environment.set_name(source.name.empty()
                           ? "triton-" + environment.triton_version()
                           : source.name);
  environment.set_python(source.python);
  environment.set_hash(EnvironmentHash(environment, RunnerEnvironment()));
  (void)RemoveTree(directory);
  return environment;
}

v1::NodeFacts GatherFacts(const FactsOptions& options, ProcessRunner& runner) {
  v1::NodeFacts facts;
  facts.set_node_id(options.node_id);
  facts.set_agent_version(KERNELFLEET_VERSION);
  AddMachine(facts);
  facts.set_compile_slots(options.compile_slots > 0 ? options.compile_slots
                                                    : facts.cores());
  facts.mutable_labels()->insert(options.labels.begin(), options.labels.end());
  std::vector<std::string> warnings;
  const std::vector<v1::Gpu> gpus = FindGpus(warnings);
  facts.mutable_gpus()->Add(gpus.begin(), gpus.end());
  AddTools(facts);
  for (const EnvironmentSource& source : options.environments) {
    absl::StatusOr<v1::Environment> environment = ProbeEnvironment(
        source, JoinPath(options.data_dir, "env_probe"), runner);
    if (environment.ok()) {
      ProveTargets(options, gpus, *environment, runner);
      NameApart(facts, *environment);
      *facts.add_environments() = *std::move(environment);
    } else {
      warnings.push_back(Text(environment.status()));
    }
  }
  for (const std::string& warning : warnings) {
    LogWarning("node facts incomplete", {{"reason", warning}});
    facts.add_warnings(warning);
  }
  return facts;
}

}  // namespace kernelfleet::agent
