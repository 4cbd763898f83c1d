// The shipped runner, driven by its protocol.
#ifndef KERNELFLEET_TESTS_AGENT_RUNNER_TEST_RUNNER_H_
#define KERNELFLEET_TESTS_AGENT_RUNNER_TEST_RUNNER_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/subprocess.h"
#include "google/protobuf/struct.pb.h"
#include "kernelfleet/v1/probe.pb.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::testing {

std::string RunnerPath();
std::string PythonPath();
// The test environment's Python has Triton.
bool HasTriton();

// A module with the kernels `add` (x, y, o, n, B) and others, and requests for
// it.
extern const char kKernels[];
v1::ProbeRequest AddRequest(std::string_view backend, std::string_view arch);
v1::KernelArg* AddArg(v1::CompileCase* to, std::string_view name,
                      std::string_view type);
void AddInt(v1::CompileCase* to, std::string_view name, int64_t value);

// Writes module.py and request.json.
void WriteAttempt(const std::string& dir, std::string_view module,
                  const v1::ProbeRequest& request);
// result.json by the proto's own rules: an unknown field fails the test.
v1::ProbeResult ReadResult(const std::string& dir);

// Processes below `root`, from /proc.
std::vector<pid_t> ProcessesBelow(pid_t root);

struct Ended {
  v1::ProbeResult result;
  // The `ended` event.
  google::protobuf::Struct event;
  bool Flag(const char* name) const;
  double Number(const char* name) const;
};

struct RunLimits {
  double run_s = 30;
  double grace_s = 0.2;
  int64_t output_bytes = 1 << 20;
  int64_t file_bytes = 64 << 20;
  int64_t memory_bytes = 0;
};

// A warm zygote.
class TestZygote {
 public:
  TestZygote();
  pid_t pid() const { return process_->pid(); }
  const google::protobuf::Struct& ready() const { return ready_; }
  void Send(const std::string& line);
  // The next event; nothing at the end of events.
  std::optional<google::protobuf::Struct> Next();
  void Start(const std::string& id, const std::string& dir,
             const RunLimits& limits);
  // Runs one attempt in `dir` to its end, with nothing else going on.
  Ended Run(const std::string& dir, const RunLimits& limits = {});
  // Waits until only the spare keeper and its worker are below the zygote.
  // False: something else is still there.
  bool OnlySpareLeft();
  void CloseCommands() { in_.Reset(); }
  // Waits for the zygote's own end.
  bool WaitForEnd();

 private:
  Fd in_;
  Fd out_;
  std::string unread_;
  std::optional<Process> process_;
  google::protobuf::Struct ready_;
};

// One zygote for all tests of a suite: an attempt must not spoil it for the
// next, and they show it.
class ZygoteTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite() { zygote_.reset(); }
  void SetUp() override;
  // Every attempt leaves a zygote that still compiles, and nothing else.
  void ExpectUnharmed();
  Ended RunModule(std::string_view module, const RunLimits& limits = {});
  Ended RunRequest(std::string_view module, const v1::ProbeRequest& request,
                   const RunLimits& limits = {});

  static std::unique_ptr<TestZygote> zygote_;
  TempDir dir_;
};

}  // namespace kernelfleet::testing

#endif  // KERNELFLEET_TESTS_AGENT_RUNNER_TEST_RUNNER_H_
