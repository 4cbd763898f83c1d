// The runner's flags, and the environment it accepts.
#ifndef KERNELFLEET_AGENT_RUNNER_COMMAND_LINE_H_
#define KERNELFLEET_AGENT_RUNNER_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "python_host.h"

namespace kernelfleet::runner {

struct CommandLine {
  bool zygote = false;
  // Absolute path of the attempt directory, unless `zygote`.
  std::string attempt;
  PythonOptions python;
  // Targets to compile for before the first attempt: "cuda:sm_90".
  std::vector<std::string> warm;
};

// Removes what would change the interpreter or the process behind its back
// (PYTHON*, LD_PRELOAD, LD_AUDIT). A library that was preloaded already is
// shed by starting the program anew.
void CleanEnvironment(char** argv);

// Prints usage or one sentence and exits with status 2 on a bad line.
CommandLine ParseCommandLine(int argc, char** argv);

}  // namespace kernelfleet::runner

#endif  // KERNELFLEET_AGENT_RUNNER_COMMAND_LINE_H_
