#include "tests/agent/runner/test_runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "common/base/file.h"
#include "google/protobuf/util/json_util.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::testing {
namespace {

using google::protobuf::Struct;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience(30);

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

pid_t ParentOf(pid_t pid, char* state) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(in, text, '\0');
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return 0;
  std::istringstream rest(text.substr(close + 1));
  pid_t parent = 0;
  rest >> *state >> parent;
  return parent;
}

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  KF_CHECK(google::protobuf::util::MessageToJsonString(message, &text, options)
               .ok());
  return text;
}

}  // namespace

const char kKernels[] = R"(import triton
import triton.language as tl


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(o + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def wrong_inside(v):
    return v.nosuch()


@triton.jit
def calls_wrong(x):
    tl.store(x, wrong_inside(tl.load(x)))


@triton.jit
def matmul(a, b, c, K, M: tl.constexpr, N: tl.constexpr, L: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, L)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, K, L):
        acc += tl.dot(tl.load(a + m[:, None] * K + k[None, :] + i),
                      tl.load(b + (k[:, None] + i) * N + n[None, :]))
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def square(v):
    return v * v


@triton.jit
def constants(x, T: tl.constexpr, F: tl.constexpr, N: tl.constexpr,
              S: tl.constexpr, P: tl.constexpr):
    v = tl.load(x).to(T)
    if N is None:
        v = F(v)
    if S == "plus":
        v = v + P[1]
    tl.store(x, v.to(tl.float32))


@triton.jit
def bogus_instruction(x):
    i = tl.arange(0, 32)
    v = tl.inline_asm_elementwise("bogus.instr $0, $1;", "=r,r", [i],
                                  dtype=tl.int32, is_pure=True, pack=1)
    tl.store(x + i, v)


@triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 128})],
                 key=["n"])
@triton.heuristics({"E": lambda args: True})
@triton.jit
def tuned(x, o, n, B: tl.constexpr, E: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)
)";

std::string RunnerPath() {
  return JoinPath(Environment("KERNELFLEET_BIN_DIR"), "kernelfleet-runner");
}

std::string PythonPath() {
  return JoinPath(Environment("KERNELFLEET_VENV"), "bin/python3");
}

bool HasTriton() {
  static const bool has = [] {
    ProcessOptions options;
    options.argv = {PythonPath(), "-c", "import triton"};
    const auto result = RunProcess(options);
    return result.ok() && result->ok();
  }();
  return has;
}

v1::KernelArg* AddArg(v1::CompileCase* to, std::string_view name,
                      std::string_view type) {
  v1::KernelArg* arg = to->add_args();
  arg->set_name(std::string(name));
  arg->set_type(std::string(type));
  return arg;
}

void AddInt(v1::CompileCase* to, std::string_view name, int64_t value) {
  AddArg(to, name, "")->mutable_constant()->set_int_value(value);
}

v1::ProbeRequest AddRequest(std::string_view backend, std::string_view arch) {
  v1::ProbeRequest request;
  request.set_phase(v1::Phase::compile_probe);
  request.set_module_file("module.py");
  request.set_entry("add");
  for (const char* name : {"x", "y", "o"}) {
    AddArg(request.mutable_case_(), name, "*fp32")->set_divisibility(16);
  }
  AddArg(request.mutable_case_(), "n", "i32")->set_divisibility(16);
  AddInt(request.mutable_case_(), "B", 1024);
  request.mutable_target()->set_backend(std::string(backend));
  request.mutable_target()->set_arch(std::string(arch));
  return request;
}

void WriteAttempt(const std::string& dir, std::string_view module,
                  const v1::ProbeRequest& request) {
  EXPECT_OK(MakeDirectories(dir));
  EXPECT_OK(WriteFileAtomic(JoinPath(dir, "module.py"), module));
  EXPECT_OK(WriteFileAtomic(JoinPath(dir, "request.json"), ToJson(request)));
}

v1::ProbeResult ReadResult(const std::string& dir) {
  v1::ProbeResult result;
  const auto text = ReadFile(JoinPath(dir, "result.json"));
  EXPECT_OK(text);
  if (!text.ok()) return result;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage(*text, &result);
  EXPECT_TRUE(parsed.ok()) << parsed.ToString() << "\n" << *text;
  return result;
}

std::vector<pid_t> ProcessesBelow(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  DIR* proc = ::opendir("/proc");
  while (const dirent* entry = ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    char state = 0;
    const pid_t parent = pid > 0 ? ParentOf(pid, &state) : 0;
    if (parent > 0 && state != 'Z') children.emplace(parent, pid);
  }
  ::closedir(proc);
  std::vector<pid_t> found = {root};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto it = begin; it != end; ++it) found.push_back(it->second);
  }
  found.erase(found.begin());
  return found;
}

bool Ended::Flag(const char* name) const {
  return event.fields().at(name).bool_value();
}

double Ended::Number(const char* name) const {
  return event.fields().at(name).number_value();
}

TestZygote::TestZygote() {
  int in[2], out[2];
  KF_CHECK(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0);
  in_ = Fd(in[1]);
  out_ = Fd(out[0]);
  const Fd child_in(in[0]);
  const Fd child_out(out[1]);
  ProcessOptions options;
  options.argv = {RunnerPath(), "--zygote",   "--python", PythonPath(),
                  "--warm",     "cuda:sm_90", "--warm",   "hip:gfx942"};
  Process::Streams streams;
  streams.in = child_in.get();
  streams.out = child_out.get();
  auto process = Process::Start(options, streams);
  KF_CHECK(process.ok());
  process_.emplace(std::move(*process));
  ready_ = Next().value_or(Struct());
}

void TestZygote::Send(const std::string& line) {
  EXPECT_OK(WriteAll(in_.get(), line + "\n", "commands"));
}

std::optional<Struct> TestZygote::Next() {
  size_t end;
  while ((end = unread_.find('\n')) == std::string::npos) {
    pollfd events = {out_.get(), POLLIN, 0};
    char buffer[4096];
    if (::poll(&events, 1, 60'000) <= 0) return std::nullopt;
    const ssize_t size = ::read(out_.get(), buffer, sizeof buffer);
    if (size <= 0) return std::nullopt;
    unread_.append(buffer, static_cast<size_t>(size));
  }
  Struct event;
  const auto parsed = google::protobuf::util::JsonStringToMessage(
      unread_.substr(0, end), &event);
  EXPECT_TRUE(parsed.ok()) << unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return event;
}

void TestZygote::Start(const std::string& id, const std::string& dir,
                       const RunLimits& limits) {
  std::ostringstream line;
  line << R"({"op":"run","id":")" << id << R"(","dir":")" << dir
       << R"(","run_s":)" << limits.run_s << R"(,"grace_s":)" << limits.grace_s
       << R"(,"output_bytes":)" << limits.output_bytes << R"(,"file_bytes":")"
       << limits.file_bytes << R"(","memory_bytes":)" << limits.memory_bytes
       << "}";
  Send(line.str());
}

Ended TestZygote::Run(const std::string& dir, const RunLimits& limits) {
  Start("run", dir, limits);
  Ended ended;
  for (std::optional<Struct> event; (event = Next());) {
    const std::string name = event->fields().at("event").string_value();
    EXPECT_NE(name, "refused") << event->ShortDebugString();
    if (name == "started") continue;
    ended.event = *event;
    ended.result = ReadResult(dir);
    return ended;
  }
  ADD_FAILURE() << "the zygote ended";
  return ended;
}

bool TestZygote::OnlySpareLeft() {
  const auto deadline = Clock::now() + kPatience;
  while (ProcessesBelow(pid()).size() != 2) {
    if (Clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

bool TestZygote::WaitForEnd() {
  return process_->Wait(absl::Seconds(30)).has_value();
}

std::unique_ptr<TestZygote> ZygoteTest::zygote_;

void ZygoteTest::SetUpTestSuite() {
  if (HasTriton()) zygote_ = std::make_unique<TestZygote>();
}

void ZygoteTest::SetUp() {
  if (!zygote_) GTEST_SKIP() << "no Triton in " << PythonPath();
  ASSERT_EQ(zygote_->ready().fields().at("event").string_value(), "ready")
      << zygote_->ready().ShortDebugString();
}

Ended ZygoteTest::RunRequest(std::string_view module,
                             const v1::ProbeRequest& request,
                             const RunLimits& limits) {
  WriteAttempt(dir_ / "attempt", module, request);
  return zygote_->Run(dir_ / "attempt", limits);
}

Ended ZygoteTest::RunModule(std::string_view module, const RunLimits& limits) {
  return RunRequest(module, AddRequest("cuda", "sm_90"), limits);
}

void ZygoteTest::ExpectUnharmed() {
  EXPECT_TRUE(zygote_->OnlySpareLeft());
  WriteAttempt(dir_ / "next", kKernels, AddRequest("cuda", "sm_90"));
  EXPECT_EQ(zygote_->Run(dir_ / "next").result.outcome(),
            v1::Outcome::compiled);
}

}  // namespace kernelfleet::testing
