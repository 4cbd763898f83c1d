// How a build failed, in one sentence per kind of failure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "common/base/strings.h"
#include "common/workflow/probe_facts.h"
#include "common/workflow/probe_rules.h"

namespace kernelfleet::workflow {
namespace {

struct FailureRule {
  v1::Outcome::Code outcome;
  std::string_view rule;
  std::string_view verdict;
  // What is said before the cause; {} is the target with its variant.
  std::string_view phrase;
};

constexpr std::array<FailureRule, 8> kFailureRules = {{
    {v1::Outcome::compile_error, "probe.compile-error", "fail",
     "Does not compile for {}"},
    {v1::Outcome::out_of_resources, "probe.out-of-resources", "fail",
     "Needs more than {} has"},
    {v1::Outcome::unsupported_target, "probe.unsupported-target", "unknown",
     "The installed stack cannot compile for {}"},
    {v1::Outcome::crashed, "probe.compiler-crashed", "fail",
     "The compiler died on this kernel for {}"},
    {v1::Outcome::timed_out, "probe.timed-out", "fail",
     "Compiling for {} did not end in time"},
    {v1::Outcome::skipped, "probe.skipped", "unknown", "Not probed for {}"},
    {v1::Outcome::invalid_result, "probe.invalid-result", "unknown",
     "The runner gave no readable result for {}"},
    {v1::Outcome::limit_exceeded, "probe.limit-exceeded", "fail",
     "Compiling for {} passed a limit of the attempt"},
}};

std::string Because(const Subject& s, const v1::ProbeResult& probe) {
  const v1::Failure& failure = probe.failure();
  std::string text;
  if (!failure.stage().empty()) {
    text += fmt::format(", in stage {}", Printable(failure.stage()));
  }
  const std::string place = PlaceOf(s.kernel, failure);
  if (!place.empty()) text += fmt::format(", at {}", place);
  if (probe.outcome() == v1::Outcome::out_of_resources &&
      failure.required() > 0) {
    return text + fmt::format(
                      ": {} {} required, the limit is {}; a smaller "
                      "tile or fewer stages may fit",
                      failure.required(), Printable(failure.resource()),
                      failure.limit());
  }
  if (failure.signal() > 0) {
    text += fmt::format(", of signal {}", failure.signal());
  }
  const std::string cause = CauseOf(failure);
  return cause.empty() ? text : fmt::format("{}: {}", text, cause);
}

v1::Decision Unknown(const Subject& s, const v1::TaskRecord& record) {
  const std::string why = Shorten(Printable(record.reason()), 240);
  return Decide(
      s, "probe.no-result", "unknown",
      {fmt::format("Nothing is known for {}{}: the task ended {}{}{}", s.target,
                   VariantOf(record), v1::TaskState::Name_Name(record.state()),
                   why.empty() ? "" : ", ", why),
       {{"state", v1::TaskState::Name_Name(record.state())}}});
}

// Two arms that fail in two ways under one rule are one decision.
std::vector<v1::Decision> MergeSameRule(std::vector<v1::Decision> decisions) {
  if (decisions.size() == 2 && decisions[0].rule() == decisions[1].rule()) {
    decisions[0].mutable_text()->append("; " + decisions[1].text());
    decisions.pop_back();
  }
  return decisions;
}

}  // namespace

v1::Decision Decide(const Subject& s, std::string_view rule,
                    std::string_view verdict, Said said) {
  v1::Decision decision;
  decision.set_kernel(s.index);
  decision.set_rule(std::string(rule));
  decision.set_verdict(std::string(verdict));
  decision.set_text(std::move(said.text));
  decision.set_target(s.target);
  for (auto& [key, value] : said.inputs) {
    (*decision.mutable_inputs())[key] = std::move(value);
  }
  return decision;
}

std::string VariantOf(const v1::TaskRecord& record) {
  return record.spec().variant().empty()
             ? std::string()
             : fmt::format(" ({})", record.spec().variant());
}

std::vector<v1::Decision> DecideFailures(const Subject& s) {
  std::vector<v1::Decision> out;
  std::set<std::string> said;
  for (const v1::TaskRecord* arm : s.arms.all()) {
    if (!HasResult(*arm)) {
      out.push_back(Unknown(s, *arm));
      continue;
    }
    const v1::ProbeResult& probe = arm->result().probe();
    const auto rule = std::find_if(
        kFailureRules.begin(), kFailureRules.end(),
        [&](const FailureRule& r) { return r.outcome == probe.outcome(); });
    if (rule == kFailureRules.end()) continue;
    const std::string because = Because(s, probe);
    if (!said.insert(because).second) {
      out.back().set_text(fmt::format(fmt::runtime(rule->phrase), s.target) +
                          " with buffer ops off or on" + because);
      (*out.back().mutable_inputs())["variant"] = "";
      continue;
    }
    out.push_back(Decide(
        s, rule->rule, rule->verdict,
        {fmt::format(fmt::runtime(rule->phrase), s.target + VariantOf(*arm)) +
             because,
         {{"variant", arm->spec().variant()},
          {"outcome", v1::Outcome::Code_Name(probe.outcome())},
          {"stage", probe.failure().stage()},
          {"line", std::to_string(probe.failure().line())}}}));
  }
  return MergeSameRule(std::move(out));
}

}  // namespace kernelfleet::workflow
