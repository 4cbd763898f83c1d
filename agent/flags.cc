#include "agent/flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/base/subprocess.h"

namespace kernelfleet::agent {
namespace {

constexpr int kMaxSlots = 1024;

// The programs are installed beside each other.
std::string Beside(const char* program) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return JoinPath(self.parent_path().string(), program);
}

std::string DefaultPython() {
  const char* venv = std::getenv("VIRTUAL_ENV");
  if (venv != nullptr && *venv != '\0') return JoinPath(venv, "bin/python3");
  return "python3";
}

// "EXE" or "NAME=EXE". The path is made absolute, links left alone: a virtual
// environment's interpreter is a link, and where it stands decides what it
// imports.
absl::StatusOr<EnvironmentSource> ParsePython(std::string_view text) {
  EnvironmentSource source;
  const size_t equals = text.find('=');
  if (equals != text.npos) {
    source.name = text.substr(0, equals);
    text.remove_prefix(equals + 1);
    if (source.name.empty()) return InvalidArgument("--python: empty name");
  }
  const std::optional<std::string> found = FindProgram(std::string(text));
  if (!found) {
    return InvalidArgument(
        fmt::format("--python: no program {}", Printable(text)));
  }
  std::error_code error;
  source.python = std::filesystem::absolute(*found, error).string();
  return source;
}

absl::Status ParsePythons(const std::vector<std::string>& given,
                          std::vector<EnvironmentSource>& out) {
  for (const std::string& list : given) {
    for (const std::string_view each : Split(list, ',')) {
      KF_ASSIGN_OR_RETURN(EnvironmentSource source, ParsePython(each));
      out.push_back(std::move(source));
    }
  }
  if (!out.empty()) return absl::OkStatus();
  KF_ASSIGN_OR_RETURN(EnvironmentSource source, ParsePython(DefaultPython()));
  out.push_back(std::move(source));
  return absl::OkStatus();
}

absl::Status ParseLabels(const std::vector<std::string>& given,
                         std::map<std::string, std::string>& out) {
  for (const std::string& label : given) {
    const size_t equals = label.find('=');
    if (equals == label.npos || equals == 0) {
      return InvalidArgument(fmt::format(
          "--label: {} is not of the form key=value", Printable(label)));
    }
    out[label.substr(0, equals)] = label.substr(equals + 1);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Flags> ParseFlags(int argc, const char* const* argv) {
  Flags flags;
  std::string server = rpc::ToString(rpc::Address());
  std::vector<std::string> pythons;
  std::vector<std::string> labels;
  bool insecure_plaintext = false;
  double drain_s = absl::ToDoubleSeconds(flags.drain_limit);
  double idle_s = absl::ToDoubleSeconds(flags.runner.idle_limit);
  flags.runner.program = Beside("kernelfleet-runner");
  flags.facts.meter = Beside("kernelfleet-meter");
  CLI::App app("The agent of a kernelfleet: runs attempts on this node.",
               "kernelfleet-agent");
  app.set_version_flag("--version", "kernelfleet-agent " KERNELFLEET_VERSION);
  app.add_option("--server", server, "The coordinator, HOST:PORT")
      ->envname("KERNELFLEET_SERVER")
      ->capture_default_str();
  app.add_flag("--insecure-plaintext", insecure_plaintext,
               "Talk to a server beyond loopback although nothing is "
               "encrypted or authenticated");
  app.add_option("--data-dir", flags.data_dir,
                 "Folder for attempts and results not yet sent")
      ->required();
  app.add_option("--name", flags.name,
                 "Start of the node's id when it is first made (default: the "
                 "host name)");
  app.add_option("--python", pythons,
                 "Interpreters that have Triton, each EXE or NAME=EXE "
                 "(default: the active virtual environment's)");
  app.add_option("--slots", flags.facts.compile_slots,
                 "Compiles at once (default: the number of cores)")
      ->check(CLI::Range(1, kMaxSlots));
  app.add_option("--runner", flags.runner.program,
                 "The kernelfleet-runner program (default: beside this one)");
  app.add_option("--meter", flags.facts.meter,
                 "The kernelfleet-meter program (default: beside this one)");
  app.add_option("--label", labels, "key=value, shown by `kernelfleet nodes`");
  app.add_option("--idle-seconds", idle_s,
                 "Stop a warm runner after so long without work")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--drain-seconds", drain_s,
                 "After SIGTERM attempts may run on for so long")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--print-facts", flags.print_facts,
               "Print what this node can do as JSON, and exit");
  app.add_option("--log-level", flags.log_level,
                 "debug, info, warning, error or off")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    // --help and --version arrive as exceptions.
    std::ostringstream out;
    app.exit(asked, out, out);
    flags.say = out.str();
    return flags;
  } catch (const CLI::ParseError& error) {
    return InvalidArgument(
        fmt::format("{}; see --help", Printable(error.what())));
  }
  if (insecure_plaintext) flags.plaintext = rpc::Plaintext::kAnywhere;
  flags.drain_limit = absl::Seconds(drain_s);
  flags.runner.idle_limit = absl::Seconds(idle_s);
  std::error_code error;
  flags.data_dir = std::filesystem::absolute(flags.data_dir, error).string();
  KF_ASSIGN_OR_RETURN(flags.server, rpc::ParseAddress(server));
  KF_RETURN_IF_ERROR(ParsePythons(pythons, flags.facts.environments));
  KF_RETURN_IF_ERROR(ParseLabels(labels, flags.facts.labels));
  return flags;
}

}  // namespace kernelfleet::agent
