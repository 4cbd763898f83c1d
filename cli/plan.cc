#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <string>

#include "cli/plan_submission.h"
#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "kernelfleet/v1/probe.pb.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--kernel", "NAME", "Only this jit function"},
    {"--target", "TARGET", "Compile for this target, such as cuda:sm_100",
     Repeat::kYes, "-t"},
    {"--case", "FILE", "Argument types and constexprs; else NAME.case.toml"},
    {"--arg", "NAME=TYPE", "Type of one argument: x_ptr=*fp16:16",
     Repeat::kYes},
    {"--const", "NAME=VALUE", "Value of one constexpr: BLOCK=1024",
     Repeat::kYes},
    {"--module", "", "Print the modules that would be compiled"},
    {"--json", "", "Print the job and its modules as one JSON object"},
};

absl::StatusOr<std::string> JsonOf(const google::protobuf::Message& message) {
  std::string out;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &out, options);
  if (!status.ok()) return Internal("the plan does not print as JSON");
  return out;
}

// {"spec": JobSpec, "modules": {digest: text}, "skipped": [[subject, why]]}
absl::StatusOr<std::string> JsonOf(const Submission& plan) {
  v1::SubmissionPlan out;
  *out.mutable_spec() = plan.spec;
  for (const auto& [digest, text] : plan.modules) {
    (*out.mutable_modules())[digest] = text;
  }
  for (const Skipped& one : plan.skipped) {
    v1::SubmissionPlan::Skipped* skipped = out.add_skipped();
    skipped->set_subject(one.subject);
    skipped->set_reason(one.reason);
  }
  return JsonOf(out);
}

std::string ValueOf(const v1::KernelArg& arg) {
  if (!arg.type().empty()) return arg.type();
  const v1::Constant& value = arg.constant();
  switch (value.value_case()) {
    case v1::Constant::kIntValue:
      return fmt::format("{}", value.int_value());
    case v1::Constant::kFloatValue:
      return fmt::format("{}", value.float_value());
    case v1::Constant::kBoolValue:
      return value.bool_value() ? "True" : "False";
    case v1::Constant::kStringValue:
      return fmt::format("\"{}\"", value.string_value());
    case v1::Constant::kDtypeValue:
      return value.dtype_value();
    case v1::Constant::kNone:
      return "None";
    case v1::Constant::kTuple:
      return fmt::format("a tuple of {}", value.tuple().items_size());
    case v1::Constant::kFunctionValue:
      return value.function_value();
    case v1::Constant::VALUE_NOT_SET:
      break;
  }
  return "?";
}

std::string Describe(const v1::KernelSpec& kernel) {
  std::string out =
      fmt::format("{} ({}), {} more to try\n", Printable(kernel.name()),
                  Printable(kernel.source_file()), kernel.alternatives_size());
  for (const v1::KernelArg& arg : kernel.case_().args()) {
    out += fmt::format("  {:<24} {:<16} {}\n", Printable(arg.name()),
                       Printable(ValueOf(arg)),
                       arg.guessed_from().empty()
                           ? "said"
                           : Shorten(Printable(arg.guessed_from()), 100));
  }
  return out;
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  SubmissionRequest request;
  request.paths = args.positional();
  request.kernel = args.Get("--kernel");
  request.targets = args.All("--target");
  request.case_file = args.Get("--case");
  request.args = args.All("--arg");
  request.constexprs = args.All("--const");
  request.base.set_workflow("probe");
  KF_ASSIGN_OR_RETURN(const Submission plan, PlanSubmission(request));
  if (args.Has("--json")) {
    KF_ASSIGN_OR_RETURN(const std::string json, JsonOf(plan));
    terminal.Print(json + "\n");
    return Exit::kYes;
  }
  for (const v1::KernelSpec& kernel : plan.spec.kernels()) {
    if (args.Has("--module")) {
      terminal.Print(plan.modules.at(kernel.module_digest()));
    } else {
      terminal.Print(Describe(kernel));
    }
  }
  for (const Skipped& skipped : plan.skipped) {
    terminal.Say(fmt::format("kernelfleet: left out: {}: {}\n", skipped.subject,
                             skipped.reason));
  }
  return Exit::kYes;
}

}  // namespace

const Verb kPlanVerb = {
    "plan",
    "FILE…",
    "Show what submitting would compile, without a server",
    kFlags,
    1,
    kAnyNumber,
    "For each kernel the type or value of every parameter, and what it was\n"
    "inferred from. With --module the text that a node would compile.",
    "  kernelfleet plan kernels/softmax.py\n"
    "  kernelfleet plan kernels/ --json\n",
    &Run};

}  // namespace kernelfleet::cli
