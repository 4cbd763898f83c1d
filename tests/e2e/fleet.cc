#include "tests/e2e/fleet.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/rpc/call.h"
#include "common/rpc/channel.h"

namespace kernelfleet::e2e {
namespace {

constexpr absl::Duration kStartLimit = absl::Seconds(60);
constexpr absl::Duration kPoll = absl::Milliseconds(20);

std::string Program(const std::string& name) {
  const char* folder = std::getenv("KERNELFLEET_BIN_DIR");
  return std::filesystem::absolute(
             JoinPath(folder ? folder : "build/debug/bin", name))
      .string();
}

absl::Duration Now() { return RealClock().Steady(); }

}  // namespace

void Pause(absl::Duration duration) {
  std::this_thread::sleep_for(absl::ToChronoMilliseconds(duration));
}

std::optional<std::string> PythonWithTriton() {
  const char* venv = std::getenv("KERNELFLEET_VENV");
  const std::string python = JoinPath(venv ? venv : ".venv", "bin/python3");
  if (!PathExists(python)) return {};
  ProcessOptions options;
  options.argv = {python, "-c",
                  "import importlib.util, sys; "
                  "sys.exit(importlib.util.find_spec('triton') is None)"};
  const absl::StatusOr<ProcessResult> result = RunProcess(options);
  if (!result.ok() || !result->ok()) return {};
  return std::filesystem::absolute(python).string();
}

std::string WhySkip() {
  if (PythonWithTriton()) return "";
  return "[SKIP-ALL] no Python with Triton: say -DKERNELFLEET_VENV=DIR";
}

Fleet::Fleet() : runner_(folder_ / "kernelfleet-runner") {
  std::filesystem::create_symlink(Program("kernelfleet-runner"), runner_);
}

Fleet::~Fleet() {
  agent_.reset();
  server_.reset();
  (void)WaitForNoRunners(absl::Seconds(10));
}

Process Fleet::Start(std::vector<std::string> argv, const std::string& log) {
  ProcessOptions options;
  options.argv = std::move(argv);
  const Fd fd(::open((folder_ / log).c_str(),
                     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  Process::Streams streams;
  streams.out = streams.err = fd.get();
  absl::StatusOr<Process> process = Process::Start(options, streams);
  KF_CHECK(process.ok());
  return *std::move(process);
}

void Fleet::StartServer() {
  const std::string port_file = folder_ / "port";
  ::unlink(port_file.c_str());
  server_ =
      Start({Program("kernelfleet-server"), "--data-dir", folder_ / "server",
             "--listen", fmt::format("127.0.0.1:{}", port_), "--port-file",
             port_file},
            "server.log");
  const absl::Duration deadline = Now() + kStartLimit;
  while (!PathExists(port_file)) {
    KF_CHECK(Now() < deadline);
    Pause(kPoll);
  }
  rpc::Address address;
  port_ = static_cast<int>(*ParseInt(Trim(*ReadFile(port_file))));
  address.port = port_;
  channel_ = *rpc::MakeChannel(address, rpc::Plaintext::kLoopbackOnly);
  jobs_ = v1::JobService::NewStub(channel_);
  blobs_ = std::make_unique<rpc::BlobClient>(channel_);
}

void Fleet::StartAgent(const std::vector<std::string>& more) {
  std::vector<std::string> argv = {Program("kernelfleet-agent"),
                                   "--data-dir",
                                   folder_ / "agent",
                                   "--server",
                                   fmt::format("127.0.0.1:{}", port_),
                                   "--runner",
                                   runner_,
                                   "--python",
                                   *PythonWithTriton(),
                                   "--log-level",
                                   "debug"};
  argv.insert(argv.end(), more.begin(), more.end());
  agent_ = Start(std::move(argv), "agent.log");
}

void Fleet::KillServer() { server_.reset(); }

void Fleet::KillAgent() { agent_.reset(); }

int Fleet::StopAgent(absl::Duration limit) {
  agent_->Signal(SIGTERM);
  const std::optional<ProcessResult> result = agent_->Wait(limit);
  agent_.reset();
  return result ? result->exit_status : -1;
}

std::string Fleet::Logs() const {
  std::string out;
  for (const char* name : {"server.log", "agent.log"}) {
    const absl::StatusOr<std::string> text = ReadFile(folder_ / name);
    if (!text.ok()) continue;
    const size_t from = text->size() > 6000 ? text->size() - 6000 : 0;
    out += fmt::format("--- {}\n{}", name, text->substr(from));
  }
  return out;
}

int Fleet::LogCount(const std::string& phrase) const {
  const absl::StatusOr<std::string> text = ReadFile(folder_ / "agent.log");
  int count = 0;
  for (size_t at = 0; text.ok(); ++count) {
    at = text->find(phrase, at);
    if (at == text->npos) break;
    at += phrase.size();
  }
  return count;
}

void Fleet::WaitForLog(const std::string& phrase, int count) const {
  const absl::Duration deadline = Now() + kStartLimit;
  while (LogCount(phrase) < count && Now() < deadline) Pause(kPoll);
}

std::string Fleet::Submit(const std::vector<std::string>& modules,
                          const std::string& entry, const v1::CompileCase& with,
                          const std::vector<std::string>& targets,
                          const std::string& key, double run_s) {
  v1::SubmitRequest request;
  request.set_idempotency_key(key);
  v1::JobSpec& spec = *request.mutable_spec();
  spec.set_workflow("probe");
  if (run_s > 0) spec.mutable_limits()->set_run_s(run_s);
  for (const std::string& name : targets) {
    const size_t colon = name.find(':');
    v1::Target& target = *spec.add_targets();
    target.set_backend(name.substr(0, colon));
    target.set_arch(name.substr(colon + 1));
  }
  for (const std::string& module : modules) {
    v1::KernelSpec& kernel = *spec.add_kernels();
    kernel.set_name(entry);
    kernel.set_source_file("k.py");
    const absl::StatusOr<std::string> digest = blobs_->Upload(module);
    KF_CHECK(digest.ok());
    kernel.set_module_digest(*digest);
    kernel.set_file_sha256(digest->substr(digest->find(':') + 1));
    *kernel.mutable_case_() = with;
  }
  const auto response =
      rpc::Call(*jobs_, &v1::JobService::Stub::Submit, request);
  if (!response.ok()) {
    fmt::print(stderr, "submit: {}\n", Text(response.status()));
    return "";
  }
  return response->job_id();
}

v1::JobDetail Fleet::GetJob(const std::string& id) {
  v1::GetJobRequest request;
  request.set_job_id(id);
  const auto job = rpc::Call(*jobs_, &v1::JobService::Stub::GetJob, request);
  return job.ok() ? *job : v1::JobDetail();
}

v1::JobDetail Fleet::WaitForEnd(const std::string& id, absl::Duration limit) {
  const absl::Duration deadline = Now() + limit;
  for (;;) {
    v1::JobDetail job = GetJob(id);
    const v1::JobState::Name state = job.summary().state();
    if (state == v1::JobState::done || state == v1::JobState::failed ||
        state == v1::JobState::cancelled || Now() > deadline) {
      return job;
    }
    Pause(kPoll * 5);
  }
}

int64_t Fleet::QueryInt(const std::string& sql) {
  v1::QueryRequest request;
  request.set_sql(sql);
  const auto rows = rpc::Call(*jobs_, &v1::JobService::Stub::Query, request);
  if (!rows.ok() || rows->rows_size() == 0) {
    fmt::print(stderr, "{}: {}\n", sql, Text(rows.status()));
    return -1;
  }
  return rows->rows(0).values(0).integer();
}

std::vector<pid_t> Fleet::RunnerProcesses() const {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = ParseInt(entry.path().filename().string());
    if (!pid) continue;
    const absl::StatusOr<std::string> line =
        ReadFile(JoinPath(entry.path().string(), "cmdline"), 64 << 10);
    if (line.ok() && line->starts_with(runner_)) {
      found.push_back(static_cast<pid_t>(*pid));
    }
  }
  return found;
}

std::vector<pid_t> Fleet::WaitForNoRunners(absl::Duration limit) const {
  const absl::Duration deadline = Now() + limit;
  std::vector<pid_t> found = RunnerProcesses();
  while (!found.empty() && Now() < deadline) {
    Pause(kPoll);
    found = RunnerProcesses();
  }
  return found;
}

}  // namespace kernelfleet::e2e
