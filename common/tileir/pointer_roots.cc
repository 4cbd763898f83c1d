#include "common/tileir/pointer_roots.h"

#include <numeric>

namespace kernelfleet::tileir {

const std::vector<ttir::ValueId>& Yielded(const ttir::Region& region) {
  static const std::vector<ttir::ValueId> kNone;
  if (region.blocks.empty() || region.blocks.back().ops.empty()) return kNone;
  return region.blocks.back().ops.back().operands;
}

PointerRoots::PointerRoots(const ttir::Module& module,
                           const ttir::Function& function)
    : module_(module),
      function_(function),
      parent_(module.values.size()),
      unknown_(module.values.size(), false) {
  std::iota(parent_.begin(), parent_.end(), 0);
  for (const ttir::Function& any : module.functions) Walk(any.body);
}

int PointerRoots::Find(ttir::ValueId value) const {
  int root = value;
  while (parent_[static_cast<size_t>(root)] != root) {
    int& parent = parent_[static_cast<size_t>(root)];
    parent = parent_[static_cast<size_t>(parent)];
    root = parent;
  }
  return root;
}

bool PointerRoots::IsPointer(ttir::ValueId value) const {
  const ttir::Type& type = module_.TypeOf(value);
  return type.pointer || type.kind == ttir::Type::Kind::kDescriptor ||
         type.kind == ttir::Type::Kind::kOther;
}

void PointerRoots::Join(ttir::ValueId a, ttir::ValueId b) {
  if (!IsPointer(a) || !IsPointer(b)) return;
  const int root = Find(a);
  const int other = Find(b);
  if (root == other) return;
  parent_[static_cast<size_t>(other)] = root;
  if (unknown_[static_cast<size_t>(other)]) {
    unknown_[static_cast<size_t>(root)] = true;
  }
}

void PointerRoots::JoinAll(const std::vector<ttir::ValueId>& a, size_t from_a,
                           const std::vector<ttir::ValueId>& b, size_t from_b) {
  for (; from_a < a.size() && from_b < b.size(); ++from_a, ++from_b) {
    Join(a[from_a], b[from_b]);
  }
}

void PointerRoots::VisitLoop(const ttir::Op& op) {
  if (op.regions.size() != 1 || op.regions[0].blocks.empty()) return;
  const auto& inside = op.regions[0].blocks.front().arguments;
  JoinAll(op.operands, 3, inside, 1);
  JoinAll(Yielded(op.regions[0]), 0, inside, 1);
  JoinAll(op.results, 0, inside, 1);
}

void PointerRoots::VisitIf(const ttir::Op& op) {
  for (const ttir::Region& region : op.regions) {
    JoinAll(Yielded(region), 0, op.results, 0);
  }
}

void PointerRoots::VisitWhile(const ttir::Op& op) {
  if (op.regions.size() != 2) return;
  const ttir::Region& before = op.regions[0];
  const ttir::Region& after = op.regions[1];
  if (before.blocks.empty() || after.blocks.empty()) return;
  const auto& inside = before.blocks.front().arguments;
  JoinAll(op.operands, 0, inside, 0);
  JoinAll(Yielded(after), 0, inside, 0);
  JoinAll(Yielded(before), 1, after.blocks.front().arguments, 0);
  JoinAll(Yielded(before), 1, op.results, 0);
}

// Every call of a function shares the roots of its arguments.
void PointerRoots::VisitCall(const ttir::Op& op) {
  const ttir::Function* callee = module_.Callee(op);
  if (callee == nullptr) return;
  std::vector<ttir::ValueId> arguments;
  for (const ttir::Argument& argument : callee->arguments) {
    arguments.push_back(argument.value);
  }
  JoinAll(op.operands, 0, arguments, 0);
  for (const ttir::Block& block : callee->body.blocks) {
    if (block.ops.empty() || block.ops.back().name != "tt.return") continue;
    JoinAll(op.results, 0, block.ops.back().operands, 0);
  }
}

void PointerRoots::Visit(const ttir::Op& op) {
  for (const ttir::Region& region : op.regions) Walk(region);
  if (op.name == "scf.for") return VisitLoop(op);
  if (op.name == "scf.if") return VisitIf(op);
  if (op.name == "scf.while") return VisitWhile(op);
  if (op.name == "tt.call") return VisitCall(op);
  const bool made = op.name == "tt.load" || op.name == "tt.int_to_ptr";
  for (const ttir::ValueId result : op.results) {
    if (!IsPointer(result)) continue;
    bool found = false;
    for (const ttir::ValueId operand : op.operands) {
      if (made || !IsPointer(operand)) continue;
      Join(operand, result);
      found = true;
    }
    if (!found) unknown_[static_cast<size_t>(Find(result))] = true;
  }
}

void PointerRoots::Walk(const ttir::Region& region) {
  for (const ttir::Block& block : region.blocks) {
    for (const ttir::Op& op : block.ops) {
      Visit(op);
      for (const ttir::Successor& successor : op.successors) {
        const auto place = static_cast<size_t>(successor.block);
        if (place >= region.blocks.size()) continue;
        JoinAll(successor.arguments, 0, region.blocks[place].arguments, 0);
      }
    }
  }
}

std::vector<int> PointerRoots::ArgumentsOf(int root) const {
  std::vector<int> indices;
  for (size_t i = 0; i < function_.arguments.size(); ++i) {
    if (Find(function_.arguments[i].value) == root) {
      indices.push_back(static_cast<int>(i));
    }
  }
  return indices;
}

}  // namespace kernelfleet::tileir
