// kernelfleet-runner: runs one phase of one kernel in an embedded Python.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "command_line.h"
#include "keeper.h"
#include "python_host.h"
#include "zygote.h"

namespace kernelfleet::runner {
namespace {

int RunOnce(const CommandLine& line) {
  const std::optional<AttemptSpec> spec = SpecFromRequest(line.attempt);
  if (!spec) {
    std::fprintf(stderr, "kernelfleet-runner: no readable JSON in %s\n",
                 (line.attempt + "/request.json").c_str());
    return 1;
  }
  // The worker alone starts Python: its keeper must not share its fate.
  Keeper keeper(-1, [&line](const AttemptSpec& attempt) {
    const std::string error = StartPython(line.python);
    if (error.empty()) return RunPhase(attempt);
    std::fprintf(stderr, "kernelfleet-runner: %s\n", error.c_str());
    return 1;
  });
  return SettleResult(*spec, keeper.Run(*spec)) ? 0 : 1;
}

int RunZygote(const CommandLine& line) {
  // Python's own input and output must not mix with commands and events.
  const int commands = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  const int events = ::fcntl(1, F_DUPFD_CLOEXEC, 3);
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
  ::dup2(2, 1);
  const std::string error = StartPython(line.python);
  const std::string ready = error.empty() ? WarmUp(line.warm) : Failed(error);
  Zygote zygote(commands, events, RunPhase);
  zygote.Emit(ready);
  if (ready.find("\"ready\"") == std::string::npos) return 1;
  zygote.Serve();
  return 0;
}

}  // namespace
}  // namespace kernelfleet::runner

int main(int argc, char** argv) {
  using namespace kernelfleet::runner;
  CleanEnvironment(argv);
  const CommandLine line = ParseCommandLine(argc, argv);
  const int status = line.zygote ? RunZygote(line) : RunOnce(line);
  std::fflush(nullptr);
  // Without Python's shutdown: compilers tear down badly, and nothing waits.
  ::_exit(status);
}
