// What this machine has for Triton: interpreters, GPUs, vendor tools.
#include <fmt/format.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <optional>
#include <set>

#include "cli/check_env_python.h"
#include "cli/siblings.h"
#include "cli/verbs.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/base/subprocess.h"
#include "common/report/document.h"
#include "common/report/job_report.h"

namespace kernelfleet::cli {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr Flag kFlags[] = {
    {"--python", "EXE", "Interpreter to look into (the active one)"},
    {"--prove", "", "Compile a small kernel for each target (seconds)"},
    {"--out", "FILE", "Write the JSON here as well"},
    {"--json", "", "Print JSON"},
};

struct Tool {
  std::string_view name;
  std::string_view version_flag;
};
// What the two vendors' work needs; looked up on PATH and in kToolFolders.
constexpr std::array<Tool, 13> kTools = {{
    {"nvidia-smi", "--version"},
    {"ptxas", "--version"},
    {"nvdisasm", "--version"},
    {"cuobjdump", "--version"},
    {"tileiras", "--version"},
    {"hipcc", "--version"},
    {"hipprof", "--version"},
    {"dccobjdump", "--version"},
    {"rocminfo", ""},
    {"rocm-smi", "--version"},
    {"hy-smi", "--version"},
    {"gcc", "--version"},
    {"perf", "--version"},
}};
constexpr std::string_view kToolFolders[] = {"/opt/dtk/bin", "/opt/rocm/bin",
                                             "/usr/local/cuda/bin"};
constexpr std::string_view kVariables[] = {"AMDGCN_USE_BUFFER_OPS",
                                           "HCUGCN_USE_BUFFER_OPS",
                                           "ENABLE_TILE",
                                           "HIP_VISIBLE_DEVICES",
                                           "CUDA_VISIBLE_DEVICES",
                                           "TRITON_CACHE_DIR",
                                           "TORCHINDUCTOR_CACHE_DIR",
                                           "TORCH_LOGS",
                                           "TORCHINDUCTOR_TRACE",
                                           "TRITON_CAPTURE_DIR",
                                           "ROCM_PATH"};

Value Word(std::string_view text) {
  Value value;
  value.set_string_value(Printable(Shorten(text, 400)));
  return value;
}
Value Flagged(bool flag) {
  Value value;
  value.set_bool_value(flag);
  return value;
}

std::string FirstLine(std::string_view text) {
  text = Trim(text);
  return std::string(Trim(text.substr(0, text.find('\n'))));
}

std::optional<std::string> FindTool(std::string_view name) {
  if (auto found = FindProgram(std::string(name))) return found;
  for (const std::string_view folder : kToolFolders) {
    if (auto found = FindProgram(JoinPath(folder, name))) return found;
  }
  return {};
}

std::optional<ProcessResult> RunQuietly(std::vector<std::string> argv,
                                        absl::Duration timeout) {
  ProcessOptions options;
  options.argv = std::move(argv);
  options.timeout = timeout;
  absl::StatusOr<ProcessResult> result = RunProcess(options);
  if (!result.ok()) return {};
  return *std::move(result);
}

Value LookAtTool(const Tool& tool) {
  Value value;
  auto& fields = *value.mutable_struct_value()->mutable_fields();
  const std::optional<std::string> path = FindTool(tool.name);
  fields["available"] = Flagged(path.has_value());
  if (!path) return value;
  fields["path"] = Word(*path);
  std::vector<std::string> argv = {*path};
  if (!tool.version_flag.empty()) argv.emplace_back(tool.version_flag);
  const auto result = RunQuietly(argv, absl::Seconds(10));
  if (!result) return value;
  fields["returncode"].set_number_value(result->exit_status);
  fields["first_line"] =
      Word(FirstLine(result->out.empty() ? result->err : result->out));
  return value;
}

// gfx names in rocminfo's text, in order, each once.
std::vector<std::string> RocminfoArches() {
  const std::optional<std::string> path = FindTool("rocminfo");
  if (!path) return {};
  const auto result = RunQuietly({*path}, absl::Seconds(10));
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const std::string_view line : Split(result ? result->out : "", '\n')) {
    const std::string_view text = Trim(line);
    if (!text.starts_with("Name:")) continue;
    std::string_view name = Trim(text.substr(5));
    name = name.substr(0, name.find(':'));
    if (name.starts_with("gfx") && seen.emplace(name).second) {
      out.emplace_back(name);
    }
  }
  return out;
}

std::string PythonPath(const Arguments& args) {
  if (args.Has("--python")) return args.Get("--python");
  const char* environment = std::getenv("VIRTUAL_ENV");
  return environment == nullptr || *environment == '\0'
             ? "python3"
             : JoinPath(environment, "bin/python3");
}

// What the interpreter says of itself; a warning when it says nothing.
void AskPython(const std::string& python, Struct& out,
               std::vector<std::string>& warnings) {
  const auto result =
      RunQuietly({python, "-I", "-c", kCheckEnvPython}, absl::Seconds(60));
  if (!result) {
    warnings.push_back(fmt::format("{}: no such interpreter", python));
    return;
  }
  Struct said;
  if (!result->ok() ||
      !google::protobuf::util::JsonStringToMessage(result->out, &said).ok()) {
    warnings.push_back(fmt::format(
        "{}: could not be asked: {}", python,
        Shorten(FirstLine(result->timed_out ? "no answer" : result->err),
                200)));
    return;
  }
  for (const auto& [key, value] : said.fields()) {
    (*out.mutable_fields())[key] = value;
  }
}

// The agent compiles a small kernel for each target it might meet.
void Prove(const std::string& python, Struct& out,
           std::vector<std::string>& warnings) {
  const std::optional<std::string> agent = FindSibling("kernelfleet-agent");
  if (!agent) {
    warnings.push_back("kernelfleet-agent is not beside this program");
    return;
  }
  char folder[] = "/tmp/kernelfleet-check.XXXXXX";
  if (::mkdtemp(folder) == nullptr) {
    warnings.push_back("no temporary folder");
    return;
  }
  const auto result = RunQuietly({*agent, "--print-facts", "--data-dir", folder,
                                  "--python", python, "--log-level", "error"},
                                 absl::Minutes(5));
  (void)RemoveTree(folder);
  Struct facts;
  if (!result || !result->ok() ||
      !google::protobuf::util::JsonStringToMessage(result->out, &facts).ok()) {
    warnings.push_back(fmt::format(
        "the agent could not prove targets: {}",
        Shorten(FirstLine(result ? result->err : "it did not start"), 200)));
    return;
  }
  *(*out.mutable_fields())["node"].mutable_struct_value() = std::move(facts);
}

bool BoolField(const Struct& from, const std::string& key) {
  const auto at = from.fields().find(key);
  return at != from.fields().end() && at->second.bool_value();
}

std::string Recommendation(const Struct& found) {
  if (!BoolField(found, "triton_installed")) {
    return "Install Triton: pip install triton";
  }
  if (!BoolField(found, "nvtriton_installed")) {
    return "Ready for PTX and AMD targets; the TileIR backend needs nvtriton";
  }
  if (!BoolField(found, "blackwell_gpu")) {
    return "The TileIR backend is there but no Blackwell GPU is";
  }
  return BoolField(found, "tileir_active")
             ? "Ready for TileIR"
             : "Set ENABLE_TILE=1 and TRITON_TILEIRAS_PATH to use TileIR";
}

Struct Look(const Arguments& args) {
  Struct out;
  std::vector<std::string> warnings;
  auto& fields = *out.mutable_fields();
  struct utsname system = {};
  ::uname(&system);
  fields["platform"] = Word(
      fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  char cwd[PATH_MAX] = "";
  fields["cwd"] = Word(::getcwd(cwd, sizeof cwd) ? cwd : "");
  const std::string python = PythonPath(args);
  AskPython(python, out, warnings);
  auto& tools = *fields["tools"].mutable_struct_value()->mutable_fields();
  for (const Tool& tool : kTools) {
    tools[std::string(tool.name)] = LookAtTool(tool);
  }
  auto& variables = *fields["env"].mutable_struct_value()->mutable_fields();
  for (const std::string_view name : kVariables) {
    const char* value = std::getenv(std::string(name).c_str());
    if (value != nullptr) {
      variables[std::string(name)] = Word(value);
    } else {
      variables[std::string(name)].set_null_value(google::protobuf::NULL_VALUE);
    }
  }
  const std::vector<std::string> arches = RocminfoArches();
  auto& list = *fields["rocminfo_arches"].mutable_list_value();
  for (const std::string& arch : arches) *list.add_values() = Word(arch);
  if (!fields.contains("primary_arch") && !arches.empty()) {
    fields["primary_arch"] = Word(arches[0]);
  }
  if (args.Has("--prove")) Prove(python, out, warnings);
  fields["recommendation"] = Word(Recommendation(out));
  auto& warned = *fields["warnings"].mutable_list_value();
  for (const std::string& one : warnings) *warned.add_values() = Word(one);
  return out;
}

std::string Shown(const Value& value) {
  if (value.has_string_value()) return value.string_value();
  if (value.has_bool_value()) return value.bool_value() ? "yes" : "no";
  if (value.has_number_value()) return fmt::format("{}", value.number_value());
  return "";
}

std::string Field(const Struct& from, const std::string& key) {
  const auto at = from.fields().find(key);
  return at == from.fields().end() ? "" : Shown(at->second);
}

std::string Nested(const Struct& from, const std::string& key,
                   const std::string& inner) {
  const auto at = from.fields().find(key);
  return at == from.fields().end() ? ""
                                   : Field(at->second.struct_value(), inner);
}

report::Document Describe(const Struct& found) {
  report::Table facts;
  facts.columns = {{"what"}, {"found"}};
  const auto add = [&](const char* what, std::string text) {
    facts.rows.push_back({what, text.empty() ? "-" : std::move(text)});
  };
  add("platform", Field(found, "platform"));
  add("python", Field(found, "python"));
  add("interpreter", Field(found, "executable"));
  add("Triton", Nested(found, "triton", "version"));
  add("torch", Nested(found, "torch", "version"));
  add("TileIR backend", Field(found, "nvtriton_installed"));
  add("GPU architecture", Field(found, "primary_arch"));
  report::Table tools;
  tools.columns = {{"tool"}, {"path"}, {"says"}};
  for (const Tool& tool : kTools) {
    const Struct& all = found.fields().at("tools").struct_value();
    const std::string name(tool.name);
    const std::string path = Nested(all, name, "path");
    if (!path.empty()) {
      tools.rows.push_back({name, path, Nested(all, name, "first_line")});
    }
  }
  report::Document out = {facts, tools};
  for (const Value& warning :
       found.fields().at("warnings").list_value().values()) {
    out.push_back(
        report::Paragraph{warning.string_value(), report::Tone::kAdvice});
  }
  out.push_back(report::Paragraph{Field(found, "recommendation")});
  return out;
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  const Struct found = Look(args);
  KF_ASSIGN_OR_RETURN(const std::string json, report::ToJson(found));
  if (args.Has("--out")) {
    KF_RETURN_IF_ERROR(WriteFileAtomic(args.Get("--out"), json));
  }
  terminal.Print(args.Has("--json")
                     ? json
                     : report::ToTerminal(Describe(found), {terminal.width(),
                                                            terminal.color()}));
  return BoolField(found, "triton_installed") ? Exit::kYes : Exit::kNo;
}

}  // namespace

const Verb kCheckEnvVerb = {
    "check-env",
    "",
    "Say what this machine has for Triton: Python, GPUs, tools",
    kFlags,
    0,
    0,
    "Exit status 1 when the interpreter has no Triton.",
    "  kernelfleet check-env\n"
    "  kernelfleet check-env --python .venv/bin/python3 --prove --json\n",
    &Run};

}  // namespace kernelfleet::cli
