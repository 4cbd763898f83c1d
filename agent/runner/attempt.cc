#include "attempt.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace kernelfleet::runner {
namespace {

// Enough for the limits and the toggles: the rest of a request is Python's.
constexpr std::streamsize kTailBytes = 8192;
constexpr size_t kMaxWords = 400;

// Larger than 0, else what stands there already.
template <typename T>
void TakePositive(T value, T* out) {
  if (value > 0) *out = value;
}

void TakeEnvironment(const Json& environment, AttemptSpec* spec) {
  for (const auto& [name, value] : environment.members()) {
    spec->environment.emplace_back(name, value.AsString());
  }
}

// Compilers say why they give up in one line, often far above the end of
// their dump; failing that, the last line.
std::string LastWords(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return "";
  const std::streamoff size = in.tellg();
  in.seekg(size > kTailBytes ? size - kTailBytes : 0);
  std::string cause;
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (line.find("LLVM ERROR") != std::string::npos ||
        line.find("Assertion `") != std::string::npos) {
      cause = line;
    }
    last = line;
  }
  return (cause.empty() ? last : cause).substr(0, kMaxWords);
}

std::string SignalName(int signal) {
  constexpr std::pair<int, const char*> kNames[] = {
      {SIGABRT, "SIGABRT"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},
      {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"},
      {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}, {SIGINT, "SIGINT"}};
  for (const auto& [number, name] : kNames) {
    if (number == signal) return name;
  }
  return "signal " + std::to_string(signal);
}

// A regular file that the worker had no reason to write after its end.
bool HasResult(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         info.st_size > 0;
}

// Aborts known by their words; the names are those of failures.py, which sees
// what does not kill the process.
const char* KnownAs(const std::string& words) {
  if (words.find("Cannot select") == std::string::npos) return nullptr;
  return words.find("BUFFER_ATOMIC") == std::string::npos
             ? "no_instruction"
             : "unsupported_atomic";
}

struct Finding {
  const char* outcome;
  std::string message;
};

Finding Explain(const AttemptSpec& spec, const AttemptEnd& end) {
  char limit[32];
  std::snprintf(limit, sizeof limit, "%g s", spec.run_s);
  if (end.process_limit) {
    return {"limit_exceeded", "started more than " +
                                  std::to_string(kMaxProcesses) +
                                  " processes; all were killed"};
  }
  if (end.timed_out) {
    return {"timed_out",
            std::string("still running after ") + limit + " and killed"};
  }
  if (end.cancelled) return {"skipped", "cancelled"};
  // A compiler that died was writing to its own log (compiler_log.py).
  std::string words = LastWords(spec.dir + "/compiler.log");
  if (words.empty()) words = LastWords(spec.dir + "/stderr.txt");
  if (end.signal != 0) {
    return {"crashed", "the process died of " + SignalName(end.signal) +
                           (words.empty() ? "" : ": " + words)};
  }
  return {"invalid_result",
          "the process ended with status " + std::to_string(end.exit_status) +
              " and left no result" + (words.empty() ? "" : ": " + words)};
}

}  // namespace

AttemptSpec SpecFromCommand(const Json& command) {
  AttemptSpec spec;
  spec.id = command["id"].AsString();
  spec.dir = command["dir"].AsString();
  TakePositive(command["run_s"].AsDouble(0), &spec.run_s);
  TakePositive(command["grace_s"].AsDouble(0), &spec.grace_s);
  TakePositive(command["output_bytes"].AsInt64(0), &spec.output_bytes);
  TakePositive(command["memory_bytes"].AsInt64(0), &spec.memory_bytes);
  TakePositive(command["file_bytes"].AsInt64(0), &spec.file_bytes);
  TakeEnvironment(command["environment"], &spec);
  return spec;
}

std::optional<AttemptSpec> SpecFromRequest(const std::string& dir) {
  std::ifstream in(dir + "/request.json", std::ios::binary);
  if (!in) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::optional<Json> request = Json::Parse(text);
  if (!request || request->kind() != Json::Kind::kObject) return std::nullopt;
  const Json& limits = (*request)["limits"];
  AttemptSpec spec;
  spec.id = "attempt";
  spec.dir = dir;
  TakePositive(limits["run_s"].AsDouble(0), &spec.run_s);
  TakePositive(limits["output_bytes"].AsInt64(0), &spec.output_bytes);
  TakePositive(limits["memory_bytes"].AsInt64(0), &spec.memory_bytes);
  TakePositive(limits["artifact_bytes"].AsInt64(0), &spec.file_bytes);
  TakeEnvironment((*request)["environment"], &spec);
  return spec;
}

std::string EndedEvent(const std::string& id, const AttemptEnd& end) {
  return JsonObject()
      .Add("event", "ended")
      .Add("id", id)
      .Add("exit_status", end.exit_status)
      .Add("signal", end.signal)
      .Add("timed_out", end.timed_out)
      .Add("cancelled", end.cancelled)
      .Add("output_truncated", end.output_truncated)
      .Add("process_limit", end.process_limit)
      .Add("peak_rss_bytes", end.peak_rss_bytes)
      .Add("wall_ms", end.wall_ms)
      .text();
}

bool SettleResult(const AttemptSpec& spec, const AttemptEnd& end) {
  const std::string path = spec.dir + "/result.json";
  const bool ended_well = end.exit_status == 0 && !end.process_limit &&
                          !end.timed_out && !end.cancelled;
  if (ended_well && HasResult(path)) return true;
  const Finding finding = Explain(spec, end);
  JsonObject failure;
  failure.Add("stage", end.stage).Add("message", finding.message);
  if (end.signal != 0 && !end.timed_out) failure.Add("signal", end.signal);
  if (const char* name = KnownAs(finding.message)) {
    failure.Add("known_as", name);
  }
  if (end.exit_status > 0) failure.Add("exit_status", end.exit_status);
  const std::string text = JsonObject()
                               .Add("outcome", finding.outcome)
                               .AddObject("failure", failure)
                               .Add("total_ms", end.wall_ms)
                               .Add("peak_rss_bytes", end.peak_rss_bytes)
                               .text();
  ::unlink(path.c_str());
  const int fd = ::open(
      path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) ==
                       static_cast<ssize_t>(text.size());
  return ::close(fd) == 0 && written;
}

}  // namespace kernelfleet::runner
