// kernelfleet classify: the kind of each kernel of a file, and why.
#include "cli/kernel_source.h"
#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/kernel/analyze.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--code", "TEXT", "Classify this text instead of a file"},
    {"--kernel", "NAME", "Only this function"},
    {"--json", "", "Print JSON, which is also the default"},
};

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  const bool has_code = args.Has("--code");
  if (has_code == !args.positional().empty()) {
    return InvalidArgument("classify takes either a FILE or --code TEXT");
  }
  v1::SourceFacts facts;
  if (has_code) {
    facts = kernel::Analyze("<code>", args.Get("--code"));
  } else {
    KF_ASSIGN_OR_RETURN(facts, AnalyzeFile(args.positional()[0]));
  }
  if (args.Has("--kernel")) {
    KF_RETURN_IF_ERROR(KeepKernel(args.Get("--kernel"), facts));
  }
  SayProblems(facts, terminal);
  const v1::FileClassification out = kernel::ClassifyAll(facts);
  KF_RETURN_IF_ERROR(PrintJson(out, terminal));
  if (out.kernels_size() > 0) return Exit::kYes;
  terminal.Say("no Triton jit function found\n");
  return Exit::kNo;
}

}  // namespace

const Verb kClassifyVerb = {
    "classify",
    "FILE | --code TEXT",
    "Tell what kind of kernel each jit function is",
    kFlags,
    0,
    1,
    "Prints JSON: for each kernel its class (dot-related, norm-like,\n"
    "element-wise, reduction), decided from data flow, with confidence,\n"
    "evidence, recommendations and what CUDA Tile IR does not support. The\n"
    "top-level fields are those of the file's leading kernel.",
    "  kernelfleet classify softmax.py\n"
    "  kernelfleet classify --code \"$(cat softmax.py)\"\n",
    &Run};

}  // namespace kernelfleet::cli
