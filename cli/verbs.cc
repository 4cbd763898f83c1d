#include "cli/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::cli {
namespace {

// The one table: help, completion and main() read it.
constexpr const Verb* kVerbs[] = {
    &kSubmitVerb,    &kPlanVerb,    &kWatchVerb,     &kJobsVerb,
    &kShowVerb,      &kWhyVerb,     &kReportVerb,    &kArtifactsVerb,
    &kGetVerb,       &kLogsVerb,    &kCancelVerb,    &kNodesVerb,
    &kQueryVerb,     &kDevVerb,     &kInspectVerb,   &kClassifyVerb,
    &kTransformVerb, &kScanIsaVerb, &kCheckEnvVerb,  &kLowerTileIrVerb,
    &kVersionVerb,   &kHelpVerb,    &kCompletionVerb};

}  // namespace

std::span<const Verb* const> Verbs() { return kVerbs; }

const Verb* FindVerb(std::string_view name) {
  const auto at = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                               [&](const Verb* v) { return v->name == name; });
  return at == std::end(kVerbs) ? nullptr : *at;
}

absl::Status UnknownVerb(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Verb* verb : kVerbs) names.push_back(verb->name);
  const auto nearest = DidYouMean(name, names);
  const std::string shown = Shorten(Printable(name), 80);
  return InvalidArgument(
      nearest
          ? fmt::format("unknown verb '{}': did you mean {}?", shown, *nearest)
          : fmt::format("unknown verb '{}': `kernelfleet help` lists them",
                        shown));
}

std::string HelpOf(const Verb& verb) {
  std::string out =
      fmt::format("Usage: kernelfleet {}{}{}{}\n\n{}.\n", verb.name,
                  verb.arguments.empty() ? "" : " ", verb.arguments,
                  verb.flags.empty() ? "" : " [flags]", verb.summary);
  if (!verb.details.empty()) out += fmt::format("{}\n", verb.details);
  if (!verb.flags.empty()) {
    out += "\nFlags:\n";
    for (const Flag& flag : verb.flags) {
      std::string left(flag.name);
      if (!flag.short_name.empty()) {
        left = fmt::format("{}, {}", flag.short_name, left);
      }
      if (!flag.value.empty()) left += fmt::format(" {}", flag.value);
      out += fmt::format("  {:<24} {}{}{}\n", left, flag.help,
                         flag.repeat == Repeat::kYes ? " (repeatable)" : "",
                         flag.choices.empty()
                             ? std::string()
                             : fmt::format(" [{}]", flag.choices));
    }
  }
  if (!verb.examples.empty()) {
    out += fmt::format("\nExamples:\n{}", verb.examples);
  }
  return out;
}

Exit ExitOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return Exit::kYes;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return Exit::kUsage;
    default:
      return Exit::kServer;
  }
}

}  // namespace kernelfleet::cli
