#include "command_line.h"

#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

extern char** environ;

namespace kernelfleet::runner {
namespace {

constexpr char kUsage[] =
    "usage: kernelfleet-runner --attempt DIR [--python EXE] [--library DIR]\n"
    "       kernelfleet-runner --zygote [--python EXE] [--library DIR]\n"
    "                          [--warm BACKEND:ARCH]...\n"
    "\n"
    "--attempt  run DIR/request.json once; writes DIR/result.json, artifacts,\n"
    "           stdout.txt and stderr.txt; exit status 0 when there is a "
    "result\n"
    "--zygote   stay warm and fork one attempt per command on stdin\n"
    "--python   the interpreter whose Triton is used (default: the active\n"
    "           virtual environment's, else python3 on PATH)\n"
    "--library  the folder that holds kernelfleet_runner (default: the\n"
    "           program's own, then KERNELFLEET_RUNNER_LIB)\n"
    "--warm     compile a throw-away kernel for this target first\n";

[[noreturn]] void Refuse(const std::string& sentence) {
  std::fprintf(stderr, "kernelfleet-runner: %s\n%s", sentence.c_str(), kUsage);
  std::exit(2);
}

std::string RealPath(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) ? resolved : "";
}

std::string FindOnPath(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string DefaultPython() {
  if (const char* venv = std::getenv("VIRTUAL_ENV")) {
    return std::string(venv) + "/bin/python3";
  }
  return FindOnPath("python3");
}

bool HoldsLibrary(const std::string& folder) {
  return ::access((folder + "/kernelfleet_runner/__init__.py").c_str(), R_OK) ==
         0;
}

std::string DefaultLibrary() {
  const std::string self = RealPath("/proc/self/exe");
  const std::string folder = self.substr(0, self.rfind('/'));
  for (const char* place : {"/python", "/../lib/kernelfleet/python"}) {
    if (HoldsLibrary(folder + place)) return RealPath(folder + place);
  }
  const char* named = std::getenv("KERNELFLEET_RUNNER_LIB");
  return named ? named : "";
}

void Complete(CommandLine* line) {
  if (line->zygote != line->attempt.empty()) {
    Refuse("give either --attempt DIR or --zygote");
  }
  if (!line->zygote) {
    const std::string given = line->attempt;
    line->attempt = RealPath(given);
    if (line->attempt.empty()) Refuse("no such directory: " + given);
  }
  PythonOptions& python = line->python;
  if (python.executable.empty()) python.executable = DefaultPython();
  if (::access(python.executable.c_str(), X_OK) != 0) {
    Refuse("no Python at '" + python.executable + "'; say --python EXE");
  }
  // Absolute, but through no link: a venv is known by where its link stands.
  if (python.executable[0] != '/') {
    python.executable = RealPath(".") + "/" + python.executable;
  }
  if (python.library.empty()) python.library = DefaultLibrary();
  if (!HoldsLibrary(python.library)) {
    Refuse("no kernelfleet_runner package in '" + python.library +
           "'; say --library DIR");
  }
}

}  // namespace

void CleanEnvironment(char** argv) {
  const bool preloaded = std::getenv("LD_PRELOAD") || std::getenv("LD_AUDIT");
  std::vector<std::string> unwanted = {"LD_PRELOAD", "LD_AUDIT"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.substr(0, 6) == "PYTHON") {
      unwanted.emplace_back(text.substr(0, text.find('=')));
    }
  }
  for (const std::string& name : unwanted) ::unsetenv(name.c_str());
  if (preloaded) ::execv("/proc/self/exe", argv);
}

CommandLine ParseCommandLine(int argc, char** argv) {
  CommandLine line;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) Refuse(flag + " needs a value");
      return argv[++i];
    };
    if (flag == "--zygote") {
      line.zygote = true;
    } else if (flag == "--attempt") {
      line.attempt = value();
    } else if (flag == "--python") {
      line.python.executable = value();
    } else if (flag == "--library") {
      line.python.library = value();
    } else if (flag == "--warm") {
      line.warm.push_back(value());
    } else if (flag == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    } else {
      Refuse("unknown flag " + flag);
    }
  }
  Complete(&line);
  return line;
}

}  // namespace kernelfleet::runner
