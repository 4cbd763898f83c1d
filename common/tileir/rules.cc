#include "common/tileir/rules.h"

#include <unordered_map>

#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

using Family = std::span<const Rule> (*)();
constexpr Family kFamilies[] = {
    ArithmeticRules, ConversionRules, MathRules, ShapeRules,
    MemoryRules,     DescriptorRules, DotRules,  ReduceRules,
    ControlRules,    EffectRules,     BlockRules};

std::unordered_map<std::string_view, const Rule*> MakeIndex() {
  std::unordered_map<std::string_view, const Rule*> index;
  for (const Family family : kFamilies) {
    for (const Rule& rule : family()) index.emplace(rule.name, &rule);
  }
  return index;
}

bool SameShape(const ttir::Type& a, const ttir::Type& b) {
  return a.kind == b.kind && a.tensor == b.tensor && a.shape == b.shape;
}

}  // namespace

const Rule* FindRule(std::string_view name) {
  static const auto* const kIndex =
      new std::unordered_map<std::string_view, const Rule*>(MakeIndex());
  const auto found = kIndex->find(name);
  return found == kIndex->end() ? nullptr : found->second;
}

std::vector<const Rule*> AllRules() {
  std::vector<const Rule*> all;
  for (const Family family : kFamilies) {
    for (const Rule& rule : family()) all.push_back(&rule);
  }
  return all;
}

TypeId ResultType(Lowering& lowering, const ttir::Op& op) {
  return lowering.TypeId_(lowering.TypeOf(op.results[0]));
}

Refusal LowerWith(Lowering& lowering, const ttir::Op& op, Code code,
                  std::vector<Attribute> attributes) {
  std::vector<ValueId> operands;
  for (const ttir::ValueId operand : op.operands) {
    operands.push_back(lowering.Use(operand));
  }
  lowering.Bind(op.results[0],
                lowering.Emit(code, std::move(operands),
                              ResultType(lowering, op), std::move(attributes)));
  return std::nullopt;
}

std::string_view WordOf(const ttir::Op& op, std::string_view key) {
  const ttir::Attribute* attribute = op.Find(key);
  return attribute == nullptr ? std::string_view() : attribute->string();
}

std::optional<int64_t> IntegerOf(const ttir::Op& op, std::string_view key) {
  const ttir::Attribute* attribute = op.Find(key);
  if (attribute == nullptr ||
      (attribute->kind != ttir::Attribute::Kind::kInteger &&
       attribute->kind != ttir::Attribute::Kind::kBool)) {
    return std::nullopt;
  }
  return attribute->integer;
}

Refusal Verify(const Lowering& lowering, const ttir::Op& op, const Rule& rule) {
  const auto operands = static_cast<int>(op.operands.size());
  const auto results = static_cast<int>(op.results.size());
  if ((rule.operands != kAny && operands != rule.operands) ||
      (rule.results != kAny && results != rule.results)) {
    return fmt::format("malformed: {} operands and {} results", operands,
                       results);
  }
  if (rule.check == Check::kNone) return std::nullopt;
  if (operands + results == 0) return "malformed: no operands";
  const ttir::Type& first =
      lowering.TypeOf(operands > 0 ? op.operands[0] : op.results[0]);
  for (const auto* list : {&op.operands, &op.results}) {
    for (const ttir::ValueId value : *list) {
      const ttir::Type& type = lowering.TypeOf(value);
      const bool same = rule.check == Check::kSameType ? type == first
                                                       : SameShape(type, first);
      if (!same) {
        return fmt::format("malformed: {} beside {}", ttir::Spell(type),
                           ttir::Spell(first));
      }
    }
  }
  return std::nullopt;
}

}  // namespace kernelfleet::tileir
