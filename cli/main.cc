// kernelfleet: the command line. Finds the verb, parses its flags, runs it and
// turns what came back into an exit code and at most one sentence.
#include <fmt/format.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "common/base/status.h"

namespace kernelfleet::cli {
namespace {

absl::StatusOr<Exit> RunVerb(const Verb& verb,
                             const std::vector<std::string>& words,
                             Terminal& terminal) {
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word == "--help" || word == "-h") {
      terminal.Print(HelpOf(verb));
      return Exit::kYes;
    }
  }
  KF_ASSIGN_OR_RETURN(const Arguments args, ParseArguments(verb.flags, words));
  const size_t count = args.positional().size();
  if (count < verb.min_arguments || count > verb.max_arguments) {
    return InvalidArgument(fmt::format("usage: kernelfleet {}{}{}", verb.name,
                                       verb.arguments.empty() ? "" : " ",
                                       verb.arguments));
  }
  return verb.run(args, terminal);
}

absl::StatusOr<Exit> RunCommand(std::vector<std::string> words,
                                Terminal& terminal) {
  std::string name = words.empty() ? "help" : words[0];
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  if (!words.empty()) words.erase(words.begin());
  const Verb* verb = FindVerb(name);
  if (verb == nullptr) return UnknownVerb(name);
  return RunVerb(*verb, words, terminal);
}

}  // namespace
}  // namespace kernelfleet::cli

int main(int argc, char** argv) {
  using namespace kernelfleet::cli;
  // A reader that went away (`| head`) ends us quietly through Flush().
  std::signal(SIGPIPE, SIG_IGN);
  Terminal terminal = Terminal::OfProcess();
  absl::StatusOr<Exit> exit =
      RunCommand(std::vector<std::string>(argv + 1, argv + argc), terminal);
  if (!exit.ok()) {
    terminal.Say(
        fmt::format("kernelfleet: {}\n", kernelfleet::Text(exit.status())));
    exit = ExitOf(exit.status());
  }
  (void)terminal.Flush();
  return static_cast<int>(*exit);
}
