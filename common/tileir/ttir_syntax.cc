#include "common/tileir/ttir_syntax.h"

#include <algorithm>
#include <span>

namespace kernelfleet::tileir::ttir {
namespace {

// Sorted by name. Source: the assembly formats of the operations as Triton 3.4
// to 3.9 print them; operations of the usual form have no row.
constexpr std::array kSyntax = std::to_array<Syntax>({
    {"arith.addui_extended", Results::kPair},
    {"arith.cmpf", Results::kTruth, {"predicate"}},
    {"arith.cmpi", Results::kTruth, {"predicate"}},
    {"arith.constant", Results::kConstant},
    {"arith.mulsi_extended", Results::kPair},
    {"arith.mului_extended", Results::kPair},
    {"arith.select", Results::kLast},
    {"gpu.barrier", Results::kNone},
    {"llvm.intr.assume", Results::kNone},
    {"scf.condition", Results::kNone},
    {"scf.yield", Results::kNone},
    {"tt.assert", Results::kNone},
    {"tt.atomic_cas", Results::kUsual, {"sem", "scope"}},
    {"tt.atomic_rmw", Results::kUsual, {"atomic_rmw_op", "sem", "scope"}},
    {"tt.descriptor_reduce", Results::kNone, {"kind"}},
    {"tt.descriptor_scatter", Results::kNone},
    {"tt.descriptor_store", Results::kNone},
    {"tt.get_num_programs", Results::kUsual, {"axis"}},
    {"tt.get_program_id", Results::kUsual, {"axis"}},
    {"tt.load", Results::kPointee},
    {"tt.make_tensor_descriptor", Results::kLast},
    {"tt.map_elementwise.return", Results::kNone},
    {"tt.print", Results::kNone},
    {"tt.reduce.return", Results::kNone},
    {"tt.return", Results::kNone},
    {"tt.scan.return", Results::kNone},
    {"tt.split", Results::kPair},
    {"tt.store", Results::kNone},
    {"tt.unsplat", Results::kElement},
    {"ttg.barrier", Results::kNone},
});

struct Enumeration {
  std::string_view key;
  // Of the operation; empty: any.
  std::string_view op;
  int64_t first;
  std::span<const std::string_view> words;
};

constexpr std::array<std::string_view, 10> kIntegerPredicates = {
    "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
constexpr std::array<std::string_view, 16> kFloatPredicates = {
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};
constexpr std::array<std::string_view, 4> kAtomicOrders = {
    "relaxed", "acquire", "release", "acq_rel"};
constexpr std::array<std::string_view, 3> kScopes = {"gpu", "cta", "sys"};
constexpr std::array<std::string_view, 10> kAtomicKinds = {
    "and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exch"};
constexpr std::array<std::string_view, 8> kReduceKinds = {
    "add", "min", "max", "inc", "dec", "and", "or", "xor"};
constexpr std::array<std::string_view, 7> kScaledTypes = {
    "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "bf16", "fp16"};
constexpr std::array<std::string_view, 5> kPrecisions = {
    "tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"};
constexpr std::array<std::string_view, 3> kAxes = {"x", "y", "z"};
constexpr std::array<std::string_view, 2> kRoundings = {"rtz", "rtne"};
constexpr std::array<std::string_view, 2> kNanRules = {"none", "all"};
constexpr std::array<std::string_view, 2> kPaddings = {"zero", "nan"};

// Numbers as Triton's TritonAttrDefs and MLIR's arith define them.
constexpr std::array<Enumeration, 13> kEnumerations = {{
    {"predicate", "arith.cmpi", 0, kIntegerPredicates},
    {"predicate", "arith.cmpf", 0, kFloatPredicates},
    {"sem", "", 1, kAtomicOrders},
    {"scope", "", 1, kScopes},
    {"atomic_rmw_op", "", 1, kAtomicKinds},
    {"kind", "tt.descriptor_reduce", 1, kReduceKinds},
    {"inputPrecision", "", 0, kPrecisions},
    {"axis", "tt.get_program_id", 0, kAxes},
    {"axis", "tt.get_num_programs", 0, kAxes},
    {"rounding", "", 0, kRoundings},
    {"padding", "", 1, kPaddings},
    {"a_elem_type", "", 0, kScaledTypes},
    {"b_elem_type", "", 0, kScaledTypes},
}};
constexpr Enumeration kPropagateNan = {"propagateNan", "", 0, kNanRules};

}  // namespace

const Syntax& SyntaxOf(std::string_view name) {
  static constexpr Syntax kOrdinary = {};
  static_assert(std::ranges::is_sorted(kSyntax, {}, &Syntax::name));
  const auto found = std::ranges::lower_bound(kSyntax, name, {}, &Syntax::name);
  return found != kSyntax.end() && found->name == name ? *found : kOrdinary;
}

std::string_view EnumeratorWord(std::string_view op, std::string_view key,
                                int64_t number) {
  if (key == kPropagateNan.key) {
    // 0 is none; every other number asks for propagation.
    return kPropagateNan.words[number == 0 ? 0 : 1];
  }
  for (const Enumeration& row : kEnumerations) {
    if (row.key != key || (!row.op.empty() && row.op != op)) continue;
    const int64_t index = number - row.first;
    if (index < 0 || index >= static_cast<int64_t>(row.words.size())) return {};
    return row.words[static_cast<size_t>(index)];
  }
  return {};
}

}  // namespace kernelfleet::tileir::ttir
