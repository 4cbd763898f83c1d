#include <fmt/format.h>

#include "cli/verbs.h"

namespace kernelfleet::cli {
namespace {

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  if (!args.positional().empty()) {
    const Verb* verb = FindVerb(args.positional()[0]);
    if (verb == nullptr) return UnknownVerb(args.positional()[0]);
    terminal.Print(HelpOf(*verb));
    return Exit::kYes;
  }
  std::string out =
      "kernelfleet compiles Triton kernels for every GPU you name, reads their "
      "machine\ncode and explains what it found.\n\n"
      "Usage: kernelfleet VERB [arguments]\n\nVerbs:\n";
  for (const Verb* verb : Verbs()) {
    out += fmt::format("  {:<11} {}\n", verb->name, verb->summary);
  }
  out +=
      "\n`kernelfleet help VERB` or `kernelfleet VERB --help` shows flags and "
      "examples.\nFirst steps: kernelfleet dev, then in another terminal "
      "kernelfleet submit\nexamples/vector_add.py\n";
  terminal.Print(out);
  return Exit::kYes;
}

}  // namespace

const Verb kHelpVerb = {"help",
                        "[VERB]",
                        "Show this list, or one verb's flags and examples",
                        {},
                        0,
                        1,
                        "",
                        "  kernelfleet help submit\n",
                        &Run};

}  // namespace kernelfleet::cli
