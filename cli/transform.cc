// kernelfleet transform: rewrites a kernel file for TileIR, on a laptop.
#include "common/kernel/transform.h"

#include <fmt/format.h>

#include <string>

#include "cli/kernel_source.h"
#include "cli/unified_diff.h"
#include "cli/verbs.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::cli {
namespace {

constexpr int64_t kMaxSourceBytes = int64_t{64} << 20;

constexpr Flag kFlags[] = {
    {"--for", "BACKEND", "What to rewrite for", Repeat::kNo, {}, "tileir"},
    {"--kernel", "NAME", "Only this jit function"},
    {"--add-autotuner", "",
     "Give an autotuner to kernels without one, where every launch in the "
     "file allows it"},
    {"--with",
     "RULE",
     "Also apply this rule, which is off by default",
     Repeat::kYes,
     {},
     "sigmoid exp2"},
    {"--out", "FILE", "Write the result here", Repeat::kNo, "-o"},
    {"--diff", "", "Print the edits as a unified diff"},
    {"--json", "", "Print code, changes and reasons as JSON"},
};

kernel::TransformOptions OptionsFrom(const Arguments& args) {
  kernel::TransformOptions options;
  options.kernel = args.Get("--kernel");
  options.add_autotuner = args.Has("--add-autotuner");
  for (const std::string& rule : args.All("--with")) {
    options.expand_sigmoid |= rule == "sigmoid";
    options.fold_exp2 |= rule == "exp2";
  }
  return options;
}

void Say(std::string_view word,
         const google::protobuf::RepeatedPtrField<v1::Change>& changes,
         const std::string& file, Terminal& terminal) {
  for (const v1::Change& change : changes) {
    const std::string kernel =
        change.kernel().empty() ? "" : Printable(change.kernel()) + ": ";
    terminal.Say(fmt::format("{} {} at {}:{}: {}{}\n", word, change.rule(),
                             Printable(file), change.line(), kernel,
                             Printable(change.reason())));
    if (!change.suggestion().empty()) {
      terminal.Say(fmt::format("    {}\n", Printable(change.suggestion())));
    }
  }
}

// The user's own bytes; made safe where a person reads them.
void PrintSource(std::string_view text, Terminal& terminal) {
  if (terminal.interactive()) {
    terminal.Print(Printable(text, Newlines::kKeep));
  } else {
    terminal.Print(text);
  }
}

absl::Status PrintResult(const Arguments& args, const std::string& before,
                         const v1::TransformResult& result,
                         Terminal& terminal) {
  if (args.Has("--json")) {
    return PrintJson(result, terminal);
  }
  const std::string& file = args.positional()[0];
  Say("applied", result.changes_applied(), file, terminal);
  Say("declined", result.changes_declined(), file, terminal);
  Say("advice", result.advice(), file, terminal);
  if (args.Has("--diff")) {
    PrintSource(
        UnifiedDiff(before, result.optimized_code(), "a/" + file, "b/" + file),
        terminal);
  } else if (!args.Has("--out")) {
    PrintSource(result.optimized_code(), terminal);
  }
  return absl::OkStatus();
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  const std::string& path = args.positional()[0];
  KF_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxSourceBytes));
  if (!IsValidUtf8(text)) {
    return InvalidArgument(fmt::format("{} is not UTF-8", Printable(path)));
  }
  const v1::TransformResult result =
      kernel::Transform(path, text, OptionsFrom(args));
  KF_RETURN_IF_ERROR(PrintResult(args, text, result, terminal));
  if (args.Has("--out")) {
    KF_RETURN_IF_ERROR(
        WriteFileAtomic(args.Get("--out"), result.optimized_code()));
  }
  for (const v1::Change& change : result.changes_declined()) {
    if (change.rule() == "file") return Exit::kNo;
  }
  return Exit::kYes;
}

}  // namespace

const Verb kTransformVerb = {
    "transform",
    "FILE.py",
    "Rewrite a kernel file for the TileIR backend, with the smallest edits",
    kFlags,
    1,
    1,
    "Prints the rewritten file, and to standard error what was done and what\n"
    "was not, each with the reason. On stock Triton the result behaves as the\n"
    "original. Running it again changes nothing. Exit 1 when the file cannot\n"
    "be edited.",
    "  kernelfleet transform softmax.py --diff\n"
    "  kernelfleet transform matmul.py --kernel matmul_kernel -o matmul.py\n"
    "  kernelfleet transform norm.py --add-autotuner --json\n",
    &Run};

}  // namespace kernelfleet::cli
