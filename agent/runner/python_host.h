// The embedded interpreter: the one place that knows Python and pybind11.
//
// Isolated: PYTHON* variables, the user's site-packages and the current folder
// have no say in what is imported. At most one per process, one thread.
#ifndef KERNELFLEET_AGENT_RUNNER_PYTHON_HOST_H_
#define KERNELFLEET_AGENT_RUNNER_PYTHON_HOST_H_

#include <string>
#include <vector>

#include "attempt.h"

namespace kernelfleet::runner {

struct PythonOptions {
  // The interpreter whose packages are used; a venv's is fine.
  std::string executable;
  // The folder that holds the package kernelfleet_runner.
  std::string library;
};

// Starts the interpreter. Returns "", or one sentence saying why not.
std::string StartPython(const PythonOptions& options);

// Imports Triton and compiles a throw-away kernel for each target. Returns the
// zygote's `ready` or `failed` event.
std::string WarmUp(const std::vector<std::string>& targets);

// That `failed` event.
std::string Failed(const std::string& message);

// Runs the attempt in the directory; returns the worker's exit status.
int RunPhase(const AttemptSpec& spec);

// Around a fork of a process in which Python runs.
void BeforeFork();
void AfterForkInParent();
void AfterForkInChild();

}  // namespace kernelfleet::runner

#endif  // KERNELFLEET_AGENT_RUNNER_PYTHON_HOST_H_
