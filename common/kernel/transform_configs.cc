// Rule extend-configs: the lists of the file's autotuners.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/strings.h"
#include "common/kernel/describe.h"
#include "common/kernel/tileir_configs.h"
#include "common/kernel/transform_rules.h"
#include "common/kernel/triton_api.h"
#include "common/kernel/tuners.h"

namespace kernelfleet::kernel {
namespace {

constexpr std::string_view kRule = "extend-configs";

bool HasParam(const v1::JitFunction& kernel, std::string_view name) {
  return std::any_of(
      kernel.params().begin(), kernel.params().end(),
      [&](const v1::Parameter& param) { return param.name() == name; });
}

// 'M' for BLOCK_M, BLOCK_SIZE_M, TILE_M, BM, block_m; 0 for anything else.
char DotRoleOf(std::string_view name) {
  std::string rest;
  for (char c : name) {
    rest += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  for (std::string_view part : {"BLOCK", "SIZE", "TILE", "_"}) {
    for (size_t at; (at = rest.find(part)) != std::string::npos;) {
      rest.erase(at, part.size());
    }
  }
  const bool short_form = rest.size() == 2 && rest[0] == 'B';
  if (short_form) rest.erase(0, 1);
  const bool said = short_form || rest.size() < name.size();
  return rest.size() == 1 && said &&
                 std::string_view("MNK").find(rest[0]) != std::string::npos
             ? rest[0]
             : '\0';
}

// The kernel's names for M, N and K of its tile; empty unless it has each once.
std::vector<std::string> DotBlocks(const v1::JitFunction& kernel) {
  std::vector<std::string> blocks(3);
  for (const v1::Parameter& param : kernel.params()) {
    if (!param.is_constexpr()) continue;
    const char role = DotRoleOf(param.name());
    if (role == '\0') continue;
    std::string& block = blocks[role == 'M' ? 0 : role == 'N' ? 1 : 2];
    if (!block.empty()) return {};
    block = param.name();
  }
  if (blocks[0].empty() || blocks[1].empty() || blocks[2].empty()) return {};
  return blocks;
}

// The one constexpr that spans the kernel's tiles: the only parameter inside
// its tl.arange calls.
std::vector<std::string> RowBlock(const Draft& draft, const Subject& subject) {
  const Syntax& syntax = draft.source.syntax;
  const NodeId def = subject.function->def;
  std::string block;
  for (NodeId id = def; id < syntax.subtree_end(def); ++id) {
    if (syntax.kind(id) != Kind::kCall) continue;
    const NodeId callee = syntax.Child(id, Field::kFunction);
    if (callee == kNoNode ||
        EffectOfPath(draft.source.names.Path(callee)) != Effect::kArange) {
      continue;
    }
    const NodeId list = syntax.Child(id, Field::kArguments);
    if (list == kNoNode) return {};
    for (NodeId at = list; at < syntax.subtree_end(list); ++at) {
      if (syntax.kind(at) != Kind::kIdentifier) continue;
      if (!block.empty() && block != syntax.TextOf(at)) return {};
      block = std::string(syntax.TextOf(at));
    }
  }
  if (block.empty() || !HasParam(*subject.facts, block)) return {};
  return {block};
}

// Larger tiles are right only where nothing counts on dividing the data.
bool IsBounded(const v1::JitFunction& kernel) {
  return std::all_of(kernel.accesses().begin(), kernel.accesses().end(),
                     [](const v1::Access& access) {
                       return access.form() == v1::Access::tensor_descriptor ||
                              access.last_axis() == v1::Access::scalar ||
                              !access.mask().empty() ||
                              access.options().contains("boundary_check");
                     });
}

std::vector<std::string> BlocksOf(const Draft& draft, const Subject& subject) {
  if (!IsBounded(*subject.facts)) return {};
  if (!subject.facts->calls().empty()) return {};
  switch (TileRankOf(subject.classification.classification())) {
    case 3:
      return DotBlocks(*subject.facts);
    case 1:
      return RowBlock(draft, subject);
    default:
      return {};
  }
}

// Why a tuner's list stays as it is; nothing: it can be extended.
std::optional<std::string> Obstacle(const Draft& draft, const Tuner& tuner) {
  const Subject& subject = *tuner.subjects.front();
  if (tuner.configs == kNoNode) {
    return "the autotuner's configs are not visible in its call";
  }
  const std::string_view text = draft.source.syntax.TextOf(tuner.configs);
  if (text.find("occupancy") != std::string_view::npos) {
    return "the configs already set occupancy";
  }
  if (tuner.count == 0) return "the list of configs is empty";
  for (const Subject* other : tuner.subjects) {
    const v1::JitFunction& kernel = *other->facts;
    if (!kernel.is_entry()) {
      return fmt::format("{} is a device function, called by {}", kernel.name(),
                         kernel.callers(0));
    }
    if (HasParam(kernel, "occupancy")) {
      return fmt::format(
          "{} has a parameter named occupancy, which the hint would set",
          kernel.name());
    }
    if (other->classification.classification() !=
        subject.classification.classification()) {
      return fmt::format(
          "kernels of different classes share the autotuner: {} is {}, {} is "
          "{}",
          subject.facts->name(), subject.classification.classification(),
          kernel.name(), other->classification.classification());
    }
    for (const v1::Decorator& decorator : kernel.decorators()) {
      if (decorator.path().find("gluon") != std::string::npos) {
        return "TileIR does not compile Gluon";
      }
    }
  }
  return std::nullopt;
}

// What a trial run would spoil and the tuner does not restore.
Reruns Unrestored(const Draft& draft, const Tuner& tuner) {
  Reruns out;
  for (const Subject* subject : tuner.subjects) {
    Reruns reruns = WhatRerunsChange(draft, *subject);
    out.unsure |= reruns.unsure;
    for (std::string& name : reruns.changed) {
      if (std::count(tuner.restored.begin(), tuner.restored.end(), name) == 0) {
        out.changed.push_back(std::move(name));
      }
    }
  }
  out.unsure |= tuner.restored_unknown;
  return out;
}

void DeclineOnlyConfig(Draft& draft, const Tuner& tuner, const Reruns& reruns) {
  const std::string reason =
      reruns.changed.empty()
          ? std::string("not everything that it writes is visible")
          : fmt::format("it changes {} that it also reads",
                        Join(reruns.changed, ", "));
  v1::Change& change = draft.Declined(
      kRule, tuner.subjects.front()->facts->name(),
      draft.source.syntax.line(tuner.call),
      "a single config is never benchmarked; with more, every trial would run "
      "the kernel once more, and " +
          reason);
  if (!reruns.changed.empty()) {
    change.set_suggestion(
        fmt::format("restore_value={},", PythonList(reruns.changed)));
  }
}

// NUM_SMS comes from the launch: Triton hands a pre-hook a copy of the scalar
// arguments, so that dividing it there would do nothing.
bool TakesSmCountFromLaunch(const Draft& draft, const Tuner& tuner) {
  const std::string_view text = draft.source.syntax.TextOf(tuner.configs);
  return std::any_of(tuner.subjects.begin(), tuner.subjects.end(),
                     [&](const Subject* s) {
                       return HasParam(*s->facts, "NUM_SMS") &&
                              text.find("NUM_SMS") == std::string_view::npos;
                     });
}

void ReportBlocks(Draft& draft, const Tuner& tuner,
                  const std::vector<std::string>& blocks) {
  const Subject& subject = *tuner.subjects.front();
  const int rank = TileRankOf(subject.classification.classification());
  if (rank == 0 || !blocks.empty()) return;
  std::string reason = "its block parameters have no roles that are certain";
  if (!IsBounded(*subject.facts)) {
    reason = "not every access is masked, so that larger blocks may leave it";
  } else if (!subject.facts->calls().empty()) {
    reason = "its helpers may count on the sizes";
  }
  draft.Declined(
      "block-sizes", subject.facts->name(),
      draft.source.syntax.line(tuner.call),
      "the added configs keep the block sizes of the present ones: " + reason);
}

// Wraps the list in the call that extends it.
void Extend(Draft& draft, const Tuner& tuner, bool widen_one) {
  const Subject& subject = *tuner.subjects.front();
  const std::string& name = subject.classification.classification();
  std::vector<std::string> blocks;
  if (tuner.subjects.size() == 1) blocks = BlocksOf(draft, subject);
  std::string tail;
  if (!blocks.empty()) {
    tail += ", blocks=(";
    for (const std::string& block : blocks) {
      tail += fmt::format("\"{}\", ", block);
    }
    tail.resize(tail.size() - (blocks.size() == 1 ? 1 : 2));
    tail += ")";
  }
  if (!widen_one) tail += ", widen_one=False";
  const int line = draft.source.syntax.line(tuner.configs);
  if (name == "dot-related" && TakesSmCountFromLaunch(draft, tuner)) {
    tail += ", two_cta=False";
    draft.Declined("two-cta", subject.facts->name(), line,
                   "NUM_SMS comes from the launch and Triton gives a pre-hook "
                   "only a copy of it, so that two CTAs per program would ask "
                   "for twice the multiprocessors");
  }
  const ByteRange range = draft.source.syntax.range(tuner.configs);
  draft.edits.Insert(range.begin,
                     fmt::format("{}(\"{}\", ", kConfigsFunction, name));
  draft.edits.Insert(range.end, tail + ")");
  draft.classes.insert(name);
  for (const Subject* each : tuner.subjects) {
    draft.Applied(kRule, each->facts->name(), line,
                  fmt::format("{} kernel: on TileIR its configs are followed "
                              "by ones with occupancy and stages for the GPU",
                              name));
  }
  ReportBlocks(draft, tuner, blocks);
}

}  // namespace

Reruns WhatRerunsChange(const Draft& draft, const Subject& subject) {
  const v1::JitFunction& kernel = *subject.facts;
  Reruns out;
  out.unsure =
      kernel.evidence().unseen_calls() > 0 || kernel.evidence().truncated();
  std::set<std::string> changed;
  const std::set<std::string> read(kernel.read_args().begin(),
                                   kernel.read_args().end());
  for (const std::string& name : kernel.written_args()) {
    if (read.contains(name)) changed.insert(name);
  }
  for (const v1::Access& access : kernel.accesses()) {
    if (access.kind() == v1::Access::load) continue;
    if (access.argument().empty()) out.unsure = true;
    if (access.kind() == v1::Access::atomic && !access.argument().empty()) {
      changed.insert(access.argument());
    }
  }
  // One tensor given for an input and an output.
  for (const v1::Launch& launch : draft.facts.launches()) {
    if (launch.kernel() != kernel.name()) continue;
    std::map<std::string, std::set<std::string>> by_text;
    for (int i = 0; i < launch.arguments_size(); ++i) {
      const v1::LaunchArgument& argument = launch.arguments(i);
      std::string name = argument.name();
      if (name.empty() && i < kernel.params_size()) {
        name = kernel.params(i).name();
      }
      by_text[argument.text()].insert(name);
    }
    for (const auto& [text, names] : by_text) {
      const bool reads = std::any_of(
          names.begin(), names.end(),
          [&](const std::string& name) { return read.contains(name); });
      for (const std::string& name : kernel.written_args()) {
        if (reads && names.contains(name)) changed.insert(name);
      }
    }
  }
  out.changed.assign(changed.begin(), changed.end());
  return out;
}

void ExtendConfigs(Draft& draft) {
  for (const Tuner& tuner : FindTuners(draft)) {
    const Syntax& syntax = draft.source.syntax;
    if (tuner.configs != kNoNode &&
        syntax.TextOf(tuner.configs).find(kConfigsFunction) !=
            std::string_view::npos) {
      continue;  // Done by an earlier run.
    }
    const int line = syntax.line(tuner.call);
    const std::string& kernel = tuner.subjects.front()->facts->name();
    if (const auto obstacle = Obstacle(draft, tuner)) {
      draft.Declined(kRule, kernel, line, *obstacle);
      continue;
    }
    const Reruns reruns = Unrestored(draft, tuner);
    const bool safe = reruns.changed.empty() && !reruns.unsure;
    if (tuner.count == 1 && !safe) {
      DeclineOnlyConfig(draft, tuner, reruns);
      continue;
    }
    if (!reruns.changed.empty()) {
      draft
          .Declined("restore-value", kernel, line,
                    fmt::format(
                        "{} is read and changed, so that each trial run of the "
                        "autotuner leaves its mark; restoring it would also "
                        "change the file on stock Triton",
                        Join(reruns.changed, ", ")))
          .set_suggestion(
              fmt::format("restore_value={},", PythonList(reruns.changed)));
    }
    Extend(draft, tuner, tuner.count > 1 || safe);
  }
}

}  // namespace kernelfleet::kernel
