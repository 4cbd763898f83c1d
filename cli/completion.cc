// Shell completion, generated from the table of verbs.
#include <fmt/format.h>

#include <string>

#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/workflow/target.h"
#include "common/workflow/workflow.h"

namespace kernelfleet::cli {
namespace {

std::string VerbNames() {
  std::string out;
  for (const Verb* verb : Verbs()) {
    out += fmt::format("{}{}", out.empty() ? "" : " ", verb->name);
  }
  return out;
}

std::string FlagNames(const Verb& verb) {
  std::string out = "--help";
  for (const Flag& flag : verb.flags) out += fmt::format(" {}", flag.name);
  return out;
}

// Words to offer for a flag's value; empty: file names.
std::string ValuesOf(const Flag& flag) {
  if (!flag.choices.empty()) return std::string(flag.choices);
  if (flag.name == "--target") return Join(workflow::WellKnownTargets(), " ");
  if (flag.name == "--workflow") return Join(workflow::WorkflowNames(), " ");
  return {};
}

// One `case` over "verb --flag" for values and one over the verb for flags:
// both shells run the same function, zsh through bashcompinit.
std::string Script() {
  std::string values;
  std::string flags;
  for (const Verb* verb : Verbs()) {
    flags +=
        fmt::format("    {}) words=\"{}\" ;;\n", verb->name, FlagNames(*verb));
    for (const Flag& flag : verb->flags) {
      const std::string words = ValuesOf(flag);
      if (words.empty()) continue;
      values += fmt::format("    '{} {}') words=\"{}\" ;;\n", verb->name,
                            flag.name, words);
    }
  }
  return fmt::format(
      R"(_kernelfleet() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local verb=${{COMP_WORDS[1]}} words=
  # Colons belong to targets: complete what follows the last one.
  local line=${{COMP_LINE:0:COMP_POINT}}
  local whole=${{line##*[[:space:]]}}
  local prefix=${{whole%"$word"}}
  [ "$word" = : ] && word= && prefix=$whole
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{0}" -- "$word"))
    return
  fi
  local rest=${{line%"$whole"}}
  rest=${{rest%"${{rest##*[![:space:]]}}"}}
  before=${{rest##*[[:space:]]}}
  case "$verb $before" in
{1}    'help '*) words="{0}" ;;
    'completion '*) words="bash zsh" ;;
  esac
  if [ -z "$words" ] && [[ $whole == -* ]]; then
    case "$verb" in
{2}    esac
  fi
  if [ -n "$words" ]; then
    local found=($(compgen -W "$words" -- "$whole"))
    COMPREPLY=("${{found[@]#"$prefix"}}")
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
)",
      VerbNames(), values, flags);
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  const std::string& shell = args.positional()[0];
  if (shell != "bash" && shell != "zsh") {
    return InvalidArgument(
        fmt::format("no completion for '{}': expected bash or zsh",
                    Shorten(Printable(shell), 40)));
  }
  if (shell == "zsh") {
    terminal.Print("autoload -U +X bashcompinit && bashcompinit\n");
  }
  terminal.Print(Script());
  terminal.Print("complete -o filenames -F _kernelfleet kernelfleet\n");
  return Exit::kYes;
}

}  // namespace

const Verb kCompletionVerb = {"completion",
                              "bash|zsh",
                              "Print a completion script for your shell",
                              {},
                              1,
                              1,
                              "",
                              "  kernelfleet completion zsh >> ~/.zshrc\n"
                              "  source <(kernelfleet completion bash)\n",
                              &Run};

}  // namespace kernelfleet::cli
