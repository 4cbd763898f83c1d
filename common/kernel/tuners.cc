#include "common/kernel/tuners.h"

#include <algorithm>
#include <string_view>

namespace kernelfleet::kernel {
namespace {

std::string_view Unquoted(std::string_view text) {
  return text.size() < 2 ? text : text.substr(1, text.size() - 2);
}

void ReadRestored(const Syntax& syntax, NodeId value, Tuner& tuner) {
  const Kind kind = syntax.kind(value);
  if (kind != Kind::kList && kind != Kind::kTuple) {
    tuner.restored_unknown |= kind != Kind::kNone;
    return;
  }
  for (NodeId child : syntax.Children(value)) {
    if (syntax.kind(child) == Kind::kString) {
      tuner.restored.emplace_back(Unquoted(syntax.TextOf(child)));
    } else {
      tuner.restored_unknown = true;
    }
  }
}

int CountOf(const Syntax& syntax, NodeId configs) {
  const Kind kind = syntax.kind(configs);
  if (kind != Kind::kList && kind != Kind::kTuple) return -1;
  int count = 0;
  for (NodeId child : syntax.Children(configs)) {
    if (syntax.kind(child) != Kind::kCall) return -1;
    ++count;
  }
  return count;
}

void ReadArguments(const Syntax& syntax, Tuner& tuner) {
  const NodeId list = syntax.Child(tuner.call, Field::kArguments);
  if (list == kNoNode) return;
  bool first = true;
  for (NodeId child : syntax.Children(list)) {
    if (syntax.kind(child) == Kind::kKeywordArgument) {
      const NodeId name = syntax.Child(child, Field::kName);
      const NodeId value = syntax.Child(child, Field::kValue);
      if (name == kNoNode || value == kNoNode) continue;
      const std::string_view text = syntax.TextOf(name);
      if (text == "configs") tuner.configs = value;
      if (text == "reset_to_zero" || text == "restore_value") {
        ReadRestored(syntax, value, tuner);
      }
    } else if (first && syntax.kind(child) != Kind::kListSplat &&
               syntax.kind(child) != Kind::kDictionarySplat) {
      tuner.configs = child;
    }
    first = false;
  }
  if (tuner.configs != kNoNode) tuner.count = CountOf(syntax, tuner.configs);
}

bool NamesTuner(std::string_view path) {
  return path.find("autotune") != std::string_view::npos ||
         path.ends_with("tuner");
}

}  // namespace

std::vector<Tuner> FindTuners(const Draft& draft) {
  std::vector<Tuner> out;
  for (const Subject& subject : draft.subjects) {
    for (const DecoratorUse& use : subject.function->decorators) {
      if (use.call == kNoNode || !NamesTuner(use.path)) continue;
      const auto same = std::find_if(
          out.begin(), out.end(),
          [&](const Tuner& tuner) { return tuner.call == use.call; });
      if (same != out.end()) {
        same->subjects.push_back(&subject);
        continue;
      }
      Tuner tuner;
      tuner.call = use.call;
      tuner.subjects.push_back(&subject);
      ReadArguments(draft.source.syntax, tuner);
      out.push_back(std::move(tuner));
    }
  }
  return out;
}

bool IsTuned(const Subject& subject) {
  return std::any_of(
      subject.function->decorators.begin(), subject.function->decorators.end(),
      [](const DecoratorUse& use) {
        return NamesTuner(use.path) ||
               use.path.find("triton_heuristics.") != std::string::npos;
      });
}

}  // namespace kernelfleet::kernel
