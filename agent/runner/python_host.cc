#include "python_host.h"

#include <pybind11/embed.h>
#include <pybind11/stl.h>

#include "json.h"
#include "keeper.h"

namespace py = pybind11;

namespace kernelfleet::runner {
namespace {

std::string Configure(const PythonOptions& options) {
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  // The same input gives the same result: hashes, and so orders, are fixed.
  config.use_hash_seed = 1;
  config.hash_seed = 0;
  config.write_bytecode = 0;
  // What a crash leaves in stderr.txt must be all that was printed.
  config.buffered_stdio = 0;
  PyStatus status = PyConfig_SetBytesString(&config, &config.executable,
                                            options.executable.c_str());
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (!PyStatus_Exception(status)) return "";
  return "cannot start Python " PY_VERSION " as " + options.executable + ": " +
         (status.err_msg ? status.err_msg : "unknown reason");
}

}  // namespace

// What the Python package may ask of its host.
PYBIND11_EMBEDDED_MODULE(kernelfleet_host, module) {
  module.def("note_stage", &NoteStage);
}

std::string StartPython(const PythonOptions& options) {
  if (std::string error = Configure(options); !error.empty()) return error;
  try {
    py::module_::import("sys").attr("path").attr("insert")(0, options.library);
    py::module_::import("kernelfleet_runner");
  } catch (const py::error_already_set& error) {
    return std::string("cannot import kernelfleet_runner from ") +
           options.library + ": " + error.what();
  }
  return "";
}

std::string Failed(const std::string& message) {
  return JsonObject().Add("event", "failed").Add("message", message).text();
}

std::string WarmUp(const std::vector<std::string>& targets) {
  try {
    const py::object warm = py::module_::import("kernelfleet_runner.warm");
    return warm.attr("warm_up")(targets).cast<std::string>();
  } catch (const std::exception& error) {
    // The traceback is for stderr; an event holds one sentence.
    std::fprintf(stderr, "kernelfleet-runner: %s\n", error.what());
    const std::string text = error.what();
    return Failed(text.substr(0, text.find('\n')));
  }
}

int RunPhase(const AttemptSpec& spec) {
  try {
    py::dict environment;
    for (const auto& [name, value] : spec.environment) {
      environment[py::str(name)] = value;
    }
    const py::object attempt =
        py::module_::import("kernelfleet_runner.attempt");
    return attempt.attr("run")(spec.dir, environment).cast<int>();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernelfleet-runner: %s\n", error.what());
    return 1;
  }
}

void BeforeFork() { PyOS_BeforeFork(); }
void AfterForkInParent() { PyOS_AfterFork_Parent(); }
void AfterForkInChild() { PyOS_AfterFork_Child(); }

}  // namespace kernelfleet::runner
