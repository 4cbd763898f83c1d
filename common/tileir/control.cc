#include "common/tileir/control.h"

#include <algorithm>

namespace kernelfleet::tileir {

std::optional<std::vector<ValueId>> UseAll(
    const Lowering& lowering, const std::vector<ttir::ValueId>& values,
    size_t from) {
  std::vector<ValueId> used;
  for (size_t i = from; i < values.size(); ++i) {
    if (!lowering.IsLowered(values[i])) return std::nullopt;
    used.push_back(lowering.Use(values[i]));
  }
  return used;
}

bool HasDescriptor(const Lowering& lowering,
                   const std::vector<ttir::ValueId>& values) {
  return std::any_of(values.begin(), values.end(), [&](ttir::ValueId value) {
    return lowering.TypeOf(value).kind == ttir::Type::Kind::kDescriptor;
  });
}

bool SameTypes(const Lowering& lowering, const std::vector<ttir::ValueId>& a,
               size_t from_a, const std::vector<ttir::ValueId>& b,
               size_t from_b) {
  if (a.size() - from_a != b.size() - from_b) return false;
  for (; from_a < a.size(); ++from_a, ++from_b) {
    if (lowering.TypeOf(a[from_a]) != lowering.TypeOf(b[from_b])) return false;
  }
  return true;
}

void EmitEnd(Lowering& lowering, Code code, std::vector<ValueId> operands) {
  Op end;
  end.code = code;
  end.operands = std::move(operands);
  lowering.EmitOp(std::move(end));
}

void LowerAllButLast(Lowering& lowering, const ttir::Block& block) {
  for (size_t i = 0; i + 1 < block.ops.size(); ++i) {
    lowering.LowerOp(block.ops[i]);
  }
}

}  // namespace kernelfleet::tileir
