// Small steps shared by the rules of loops, branches, blocks and calls.
#ifndef KERNELFLEET_COMMON_TILEIR_CONTROL_H_
#define KERNELFLEET_COMMON_TILEIR_CONTROL_H_

#include <optional>
#include <vector>

#include "common/tileir/lowering.h"

namespace kernelfleet::tileir {

// The lowered forms of `values` from place `from` on; nothing when one was
// refused.
std::optional<std::vector<ValueId>> UseAll(
    const Lowering& lowering, const std::vector<ttir::ValueId>& values,
    size_t from = 0);

bool HasDescriptor(const Lowering& lowering,
                   const std::vector<ttir::ValueId>& values);

// Whether two lists, each from its place on, have the same types.
bool SameTypes(const Lowering& lowering, const std::vector<ttir::ValueId>& a,
               size_t from_a, const std::vector<ttir::ValueId>& b,
               size_t from_b);

// A terminator.
void EmitEnd(Lowering& lowering, Code code, std::vector<ValueId> operands);

void LowerAllButLast(Lowering& lowering, const ttir::Block& block);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_CONTROL_H_
