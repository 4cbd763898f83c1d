#include "common/tileir/address_form.h"

#include <algorithm>
#include <cstdlib>

namespace kernelfleet::tileir {
namespace {

constexpr int kMaxDepth = 48;
// Coefficients and offsets stay far from overflow.
constexpr int64_t kLimit = int64_t{1} << 40;

bool IsSmall(const AddressForm& form) {
  if (std::abs(form.low) > kLimit || std::abs(form.high) > kLimit) return false;
  return std::all_of(form.terms.begin(), form.terms.end(), [](const auto& t) {
    return std::abs(t.second) <= kLimit;
  });
}

std::optional<AddressForm> Scaled(const AddressForm& form, int64_t factor) {
  if (std::abs(factor) > (int64_t{1} << 20)) return std::nullopt;
  AddressForm made;
  for (const auto& [symbol, coefficient] : form.terms) {
    if (factor != 0) made.terms[symbol] = coefficient * factor;
  }
  made.low = std::min(form.low * factor, form.high * factor);
  made.high = std::max(form.low * factor, form.high * factor);
  if (!IsSmall(made)) return std::nullopt;
  return made;
}

std::optional<AddressForm> Sum(const AddressForm& a, const AddressForm& b) {
  AddressForm made = a;
  for (const auto& [symbol, coefficient] : b.terms) {
    made.terms[symbol] += coefficient;
    if (made.terms[symbol] == 0) made.terms.erase(symbol);
  }
  made.low += b.low;
  made.high += b.high;
  if (!IsSmall(made)) return std::nullopt;
  return made;
}

bool IsConstant(const AddressForm& form) {
  return form.terms.empty() && form.low == form.high;
}

// Operations that hand an element on unchanged.
constexpr std::string_view kTransparent[] = {
    "tt.splat", "tt.expand_dims", "tt.broadcast", "tt.reshape",
    "tt.trans", "arith.extsi",    "tt.unsplat"};

}  // namespace

LoopAddresses::LoopAddresses(const Lowering& lowering, const ttir::Op& loop)
    : lowering_(lowering),
      loop_(loop),
      inside_(lowering.module().values.size(), false) {
  for (const ttir::Region& region : loop.regions) CollectInside(region);
}

void LoopAddresses::CollectInside(const ttir::Region& region) {
  for (const ttir::Block& block : region.blocks) {
    for (const ttir::ValueId value : block.arguments) {
      inside_[static_cast<size_t>(value)] = true;
    }
    for (const ttir::Op& op : block.ops) {
      calls_ |= op.name == "tt.call";
      for (const ttir::ValueId value : op.results) {
        inside_[static_cast<size_t>(value)] = true;
      }
      for (const ttir::Region& inner : op.regions) CollectInside(inner);
    }
  }
}

bool LoopAddresses::IsInside(ttir::ValueId value) const {
  return inside_[static_cast<size_t>(value)];
}

std::optional<AddressForm> LoopAddresses::Of(ttir::ValueId value) const {
  return Evaluate(value, 0);
}

// The counter is its start plus the iteration times the step; a pointer that
// each iteration advances by a constant is likewise.
std::optional<AddressForm> LoopAddresses::Argument(size_t index,
                                                   int depth) const {
  AddressForm form;
  if (index == 0) {
    // A step is positive; where it is unknown, one is the least it can be, and
    // iterations are then further apart than the form says.
    const auto step = lowering_.ConstantOf(loop_.operands[2]);
    if (step.has_value() && (*step <= 0 || *step > kLimit)) return std::nullopt;
    form.terms[kIteration] = step.value_or(1);
    form.terms[loop_.operands[0]] += 1;
    return form;
  }
  const auto& yielded = Yielded(loop_.regions[0]);
  const auto& arguments = loop_.regions[0].blocks[0].arguments;
  if (index - 1 >= yielded.size() || !lowering_.ConstantOf(loop_.operands[2])) {
    return std::nullopt;
  }
  const ttir::Op* advance = lowering_.Definition(yielded[index - 1]);
  if (advance == nullptr || advance->operands.size() != 2 ||
      (advance->name != "tt.addptr" && advance->name != "arith.addi") ||
      advance->operands[0] != arguments[index]) {
    return std::nullopt;
  }
  const auto step = Evaluate(advance->operands[1], depth + 1);
  const auto start = Evaluate(loop_.operands[2 + index], depth + 1);
  if (!step.has_value() || !start.has_value() || !IsConstant(*step)) {
    return std::nullopt;
  }
  form.terms[kIteration] = step->low;
  return Sum(*start, form);
}

std::optional<AddressForm> LoopAddresses::Operation(const ttir::Op& op,
                                                    int depth) const {
  if (op.operands.size() == 1 &&
      std::find(std::begin(kTransparent), std::end(kTransparent), op.name) !=
          std::end(kTransparent)) {
    return Evaluate(op.operands[0], depth + 1);
  }
  if (op.operands.size() != 2) return std::nullopt;
  const bool sum = op.name == "arith.addi" || op.name == "tt.addptr";
  if (!sum && op.name != "arith.subi" && op.name != "arith.muli") {
    return std::nullopt;
  }
  const auto left = Evaluate(op.operands[0], depth + 1);
  const auto right = Evaluate(op.operands[1], depth + 1);
  if (!left.has_value() || !right.has_value()) return std::nullopt;
  if (sum) return Sum(*left, *right);
  if (op.name == "arith.subi") {
    const auto negative = Scaled(*right, -1);
    return negative.has_value() ? Sum(*left, *negative) : std::nullopt;
  }
  if (IsConstant(*right)) return Scaled(*left, right->low);
  if (IsConstant(*left)) return Scaled(*right, left->low);
  return std::nullopt;
}

std::optional<AddressForm> LoopAddresses::Evaluate(ttir::ValueId value,
                                                   int depth) const {
  if (depth > kMaxDepth) return std::nullopt;
  AddressForm form;
  if (const auto constant = lowering_.ConstantOf(value)) {
    form.low = form.high = *constant;
    return IsSmall(form) ? std::optional(form) : std::nullopt;
  }
  const ttir::Op* op = lowering_.Definition(value);
  const ttir::Type& type = lowering_.TypeOf(value);
  if (op == nullptr) {
    const auto& arguments = loop_.regions[0].blocks[0].arguments;
    const auto found = std::find(arguments.begin(), arguments.end(), value);
    if (found != arguments.end()) {
      return Argument(static_cast<size_t>(found - arguments.begin()), depth);
    }
  } else if (op->name == "tt.make_range") {
    const ttir::Attribute* start = op->Find("start");
    if (start == nullptr || type.shape.size() != 1) return std::nullopt;
    form.low = start->integer;
    form.high = form.low + type.shape[0] - 1;
    return IsSmall(form) ? std::optional(form) : std::nullopt;
  } else if (auto made = Operation(*op, depth)) {
    return made;
  }
  // One number that the loop does not change is a symbol.
  if (type.tensor || IsInside(value)) return std::nullopt;
  form.terms[value] = 1;
  return form;
}

bool LoopAddresses::IterationsAreDisjoint(
    const std::vector<ttir::ValueId>& pointers) const {
  if (loop_.name != "scf.for" || pointers.empty() || calls_) return false;
  std::optional<AddressForm> first;
  int64_t low = 0;
  int64_t high = 0;
  for (const ttir::ValueId pointer : pointers) {
    const auto form = Of(pointer);
    if (!form.has_value()) return false;
    if (!first.has_value()) {
      first = form;
      low = form->low;
      high = form->high;
    }
    if (form->terms != first->terms ||
        lowering_.TypeOf(pointer).scalar !=
            lowering_.TypeOf(pointers[0]).scalar) {
      return false;
    }
    low = std::min(low, form->low);
    high = std::max(high, form->high);
  }
  const auto step = first->terms.find(kIteration);
  return step != first->terms.end() && std::abs(step->second) > high - low;
}

}  // namespace kernelfleet::tileir
