// The lowering table: one row for each TTIR operation that we cover.
#ifndef KERNELFLEET_COMMON_TILEIR_RULES_H_
#define KERNELFLEET_COMMON_TILEIR_RULES_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "common/tileir/lowering.h"

namespace kernelfleet::tileir {

// What must hold of operand and result types before a rule sees them.
enum class Check : uint8_t {
  // Nothing; the rule looks itself.
  kNone,
  // Every operand and result has one type.
  kSameType,
  // Every operand and result has one shape.
  kSameShape,
};

struct Rule {
  std::string_view name;
  Refusal (*lower)(Lowering& lowering, const ttir::Op& op, const Rule& rule);
  int operands = 0;
  int results = 1;
  Check check = Check::kNone;
  // For rules shared by many rows.
  Code code = Code::kReturn;
  int detail = 0;
};

// An operand count of any size.
inline constexpr int kAny = -1;

// Null when nobody covers the operation.
const Rule* FindRule(std::string_view name);

// All rows, for the documentation's coverage table.
std::vector<const Rule*> AllRules();

// Nothing when the operation has the operands, results and types of its row;
// what is wrong otherwise.
Refusal Verify(const Lowering& lowering, const ttir::Op& op, const Rule& rule);

// --- Shared by the families ---
inline Attribute Number(Key key, int64_t value) { return {key, value, {}, {}}; }
// Of the first result.
TypeId ResultType(Lowering& lowering, const ttir::Op& op);
// The operands as they are into one operation; its result is the first.
Refusal LowerWith(Lowering& lowering, const ttir::Op& op, Code code,
                  std::vector<Attribute> attributes);
// The text of an attribute that is a bare word; empty when absent.
std::string_view WordOf(const ttir::Op& op, std::string_view key);
// An integer attribute.
std::optional<int64_t> IntegerOf(const ttir::Op& op, std::string_view key);

// One span for each family, in rules_<family>.cc.
std::span<const Rule> ArithmeticRules();
std::span<const Rule> ConversionRules();
std::span<const Rule> MathRules();
std::span<const Rule> ShapeRules();
std::span<const Rule> MemoryRules();
std::span<const Rule> DescriptorRules();
std::span<const Rule> DotRules();
std::span<const Rule> ReduceRules();
std::span<const Rule> ControlRules();
std::span<const Rule> EffectRules();
std::span<const Rule> BlockRules();

// The function's blocks as nested ifs; see rules_blocks.cc.
void LowerBody(Lowering& lowering, const ttir::Region& region);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_RULES_H_
