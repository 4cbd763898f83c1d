// Rule add-autotuner: kernels that have none.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/strings.h"
#include "common/kernel/transform_rules.h"
#include "common/kernel/tuners.h"

namespace kernelfleet::kernel {
namespace {

constexpr std::string_view kRule = "add-autotuner";

// What a config sets and a launch must then not pass.
constexpr std::string_view kLaunchOptions[] = {
    "num_warps", "num_stages", "num_ctas", "maxnreg", "occupancy"};

bool IsBlock(std::string_view name) {
  return name.find("BLOCK") != std::string_view::npos ||
         name.find("block") != std::string_view::npos;
}

std::vector<const v1::Launch*> LaunchesOf(const Draft& draft,
                                          const v1::JitFunction& kernel) {
  std::vector<const v1::Launch*> out;
  for (const v1::Launch& launch : draft.facts.launches()) {
    if (launch.kernel() == kernel.name()) out.push_back(&launch);
  }
  return out;
}

// The parameter that argument `index` of the launch is for; null: none.
const v1::Parameter* ParamOf(const v1::JitFunction& kernel,
                             const v1::Launch& launch, int index) {
  const std::string& name = launch.arguments(index).name();
  if (name.empty()) {
    return index < kernel.params_size() ? &kernel.params(index) : nullptr;
  }
  for (const v1::Parameter& param : kernel.params()) {
    if (param.name() == name) return &param;
  }
  return nullptr;
}

// The retuning key: every compile-time choice of the launch, or the scalars
// where there is none.
std::vector<std::string> KeyOf(const v1::JitFunction& kernel) {
  std::vector<std::string> choices, scalars;
  for (const v1::Parameter& param : kernel.params()) {
    if (kernel.heuristics().contains(param.name())) continue;
    if (param.is_constexpr()) {
      choices.push_back(param.name());
    } else if (!param.is_pointer() && !param.is_descriptor() &&
               !param.is_vararg()) {
      scalars.push_back(param.name());
    }
  }
  return choices.empty() ? scalars : choices;
}

// The line where the kernel is used otherwise than in a plain launch; 0: none.
int OtherUse(const Draft& draft, const Subject& subject) {
  const Syntax& syntax = draft.source.syntax;
  for (NodeId id = 0; id < syntax.size(); ++id) {
    if (syntax.kind(id) != Kind::kIdentifier ||
        syntax.TextOf(id) != subject.function->name ||
        syntax.parent(id) == subject.function->def) {
      continue;
    }
    const uint32_t at = syntax.range(id).begin;
    const bool launched = std::any_of(
        draft.facts.launches().begin(), draft.facts.launches().end(),
        [&](const v1::Launch& launch) {
          return launch.range().begin() == at && !launch.grid().empty();
        });
    if (!launched) return syntax.line(id);
  }
  return 0;
}

std::optional<std::string> LaunchObstacle(const Draft& draft,
                                          const v1::JitFunction& kernel,
                                          const Reruns& reruns) {
  for (const v1::Launch* launch : LaunchesOf(draft, kernel)) {
    if (launch->open_ended()) {
      return fmt::format("the launch at line {} passes * or ** arguments",
                         launch->line());
    }
    for (int i = 0; i < launch->arguments_size(); ++i) {
      const v1::LaunchArgument& argument = launch->arguments(i);
      for (std::string_view option : kLaunchOptions) {
        if (argument.name() != option) continue;
        return fmt::format("the launch at line {} passes {} itself",
                           launch->line(), option);
      }
      const v1::Parameter* param = ParamOf(kernel, *launch, i);
      if (param != nullptr &&
          argument.text().find("None") != std::string::npos &&
          std::count(reruns.changed.begin(), reruns.changed.end(),
                     param->name()) > 0) {
        return fmt::format(
            "{} would have to be restored between trial runs, and may be None "
            "at line {}",
            param->name(), launch->line());
      }
    }
  }
  return std::nullopt;
}

// Why the kernel gets no autotuner; nothing: it can.
std::optional<std::string> Obstacle(const Draft& draft, const Subject& subject,
                                    const Reruns& reruns) {
  const v1::JitFunction& kernel = *subject.facts;
  for (const DecoratorUse& use : subject.function->decorators) {
    if (use.path.find("gluon") != std::string::npos) {
      return "TileIR does not compile Gluon";
    }
    if (!use.path.starts_with("triton.")) {
      return fmt::format("line {} has a decorator that is not Triton's",
                         draft.source.syntax.line(use.node));
    }
  }
  if (subject.function->decorators.empty()) {
    return "it is made a kernel by a call, not by a decorator";
  }
  if (LaunchesOf(draft, kernel).empty()) {
    return "no launch of it is in this file";
  }
  if (const int line = OtherUse(draft, subject); line > 0) {
    return fmt::format("line {} uses it otherwise than in a launch", line);
  }
  if (auto obstacle = LaunchObstacle(draft, kernel, reruns)) return obstacle;
  if (reruns.unsure) {
    return "not everything that it writes is visible, and a trial run must not "
           "leave its mark";
  }
  for (const v1::Parameter& param : kernel.params()) {
    if (param.name() == "occupancy") {
      return "it has a parameter named occupancy, which the hint would set";
    }
  }
  return std::nullopt;
}

std::string DecoratorText(const Subject& subject, const Reruns& reruns) {
  std::string text = fmt::format("@{}(\"{}\", key={}", kAutotuneFunction,
                                 subject.classification.classification(),
                                 PythonList(KeyOf(*subject.facts)));
  if (!reruns.changed.empty()) {
    text += fmt::format(", restore_value={}", PythonList(reruns.changed));
  }
  return text + ")";
}

// ", and the launch at line 9 chooses BLOCK": told apart from what is tunable.
std::string ExplicitBlocks(const Draft& draft, const v1::JitFunction& kernel) {
  for (const v1::Launch* launch : LaunchesOf(draft, kernel)) {
    for (int i = 0; i < launch->arguments_size(); ++i) {
      const v1::Parameter* param = ParamOf(kernel, *launch, i);
      if (param == nullptr || !param->is_constexpr() ||
          !IsBlock(param->name())) {
        continue;
      }
      return fmt::format(
          "; the launch at line {} chooses {}, so that only occupancy, warps "
          "and stages could be tuned",
          launch->line(), param->name());
    }
  }
  return {};
}

// Above the first decorator, which is Triton's, with its indentation.
void Add(Draft& draft, const Subject& subject, const std::string& decorator) {
  const Syntax& syntax = draft.source.syntax;
  const uint32_t at =
      syntax.range(subject.function->decorators.front().node).begin;
  const std::string_view text = syntax.text().substr(0, at);
  const std::string_view indent = text.substr(text.rfind('\n') + 1);
  const bool crlf = text.find("\r\n") != std::string_view::npos;
  draft.edits.Insert(
      at, fmt::format("{}{}{}", decorator, crlf ? "\r\n" : "\n", indent));
  draft.classes.insert(subject.classification.classification());
  draft.needs_decorator = true;
  draft.Applied(kRule, subject.facts->name(), syntax.At(at).line,
                "on TileIR an autotuner tries occupancy, warps and stages; "
                "elsewhere the kernel stays as it is");
}

}  // namespace

void AddAutotuners(Draft& draft) {
  for (const Subject& subject : draft.subjects) {
    if (IsTuned(subject)) continue;
    const v1::JitFunction& kernel = *subject.facts;
    const int line = kernel.first_line();
    const bool added =
        std::any_of(kernel.decorators().begin(), kernel.decorators().end(),
                    [](const v1::Decorator& decorator) {
                      return decorator.text().starts_with(kAutotuneFunction);
                    });
    if (added) continue;
    if (!kernel.is_entry()) {
      draft.Declined(kRule, kernel.name(), line,
                     fmt::format("a device function, called by {}: configs "
                                 "belong to the kernel that is launched",
                                 kernel.callers(0)));
      continue;
    }
    const Reruns reruns = WhatRerunsChange(draft, subject);
    const auto obstacle = Obstacle(draft, subject, reruns);
    const std::string decorator = DecoratorText(subject, reruns);
    if (draft.options.add_autotuner && !obstacle) {
      Add(draft, subject, decorator);
      continue;
    }
    draft
        .Declined(kRule, kernel.name(), line,
                  fmt::format("it has no autotuner, and {}{}",
                              obstacle ? *obstacle
                                       : "gets one only with --add-autotuner",
                              ExplicitBlocks(draft, kernel)))
        .set_suggestion(decorator);
  }
}

}  // namespace kernelfleet::kernel
