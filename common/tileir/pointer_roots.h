// Where the pointers of a kernel come from: which arguments each may point
// into, whatever way they flow through loops and branches.
#ifndef KERNELFLEET_COMMON_TILEIR_POINTER_ROOTS_H_
#define KERNELFLEET_COMMON_TILEIR_POINTER_ROOTS_H_

#include <vector>

#include "common/tileir/ttir.h"

namespace kernelfleet::tileir {

// Values that flow into one another share a root. Two roots may overlap in
// memory only when their arguments do, or when one is unknown (made from an
// integer, or loaded).
class PointerRoots {
 public:
  PointerRoots(const ttir::Module& module, const ttir::Function& function);

  int RootOf(ttir::ValueId value) const { return Find(value); }
  // Indices of the function's arguments that flow into the root.
  std::vector<int> ArgumentsOf(int root) const;
  bool IsUnknown(int root) const { return unknown_[static_cast<size_t>(root)]; }

 private:
  void Walk(const ttir::Region& region);
  void Visit(const ttir::Op& op);
  void VisitCall(const ttir::Op& op);
  void VisitLoop(const ttir::Op& op);
  void VisitIf(const ttir::Op& op);
  void VisitWhile(const ttir::Op& op);
  bool IsPointer(ttir::ValueId value) const;
  void Join(ttir::ValueId a, ttir::ValueId b);
  // Pairs up two lists of values as far as both go.
  void JoinAll(const std::vector<ttir::ValueId>& a, size_t from_a,
               const std::vector<ttir::ValueId>& b, size_t from_b);
  int Find(ttir::ValueId value) const;

  const ttir::Module& module_;
  const ttir::Function& function_;
  mutable std::vector<int> parent_;
  std::vector<bool> unknown_;
};

// The operands of a region's last operation in its last block; empty when the
// region has none.
const std::vector<ttir::ValueId>& Yielded(const ttir::Region& region);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_POINTER_ROOTS_H_
