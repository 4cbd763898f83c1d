// Pointer arithmetic, loads, stores and atomics. Order tokens come later, in
// order_tokens.cc.
#include <algorithm>

#include "common/base/strings.h"
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

Attribute Order(Semantics semantics) {
  return Number(Key::kSemantics, static_cast<int>(semantics));
}

Refusal AddPointer(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& pointer = lowering.TypeOf(op.operands[0]);
  const ttir::Type& offset = lowering.TypeOf(op.operands[1]);
  if (!pointer.pointer || pointer != lowering.TypeOf(op.results[0]) ||
      offset.pointer || !ttir::IsInteger(offset.scalar)) {
    return "malformed: no pointer and offset";
  }
  return LowerWith(lowering, op, Code::kOffset, {});
}

// Nothing when `pointer` points to `value` and the mask fits.
Refusal CheckAccess(const Lowering& lowering, ttir::ValueId pointer,
                    ttir::ValueId value, const ttir::ValueId* mask) {
  const ttir::Type& to = lowering.TypeOf(pointer);
  const ttir::Type& what = lowering.TypeOf(value);
  if (!to.pointer || to.scalar != what.scalar || to.shape != what.shape ||
      to.tensor != what.tensor || what.pointer) {
    return "malformed: pointers and values of different types";
  }
  if (to.scalar == Scalar::kI1) return "memory of single bits";
  if (mask == nullptr) return std::nullopt;
  const ttir::Type& truth = lowering.TypeOf(*mask);
  if (truth.scalar != Scalar::kI1 || truth.pointer ||
      truth.shape != what.shape) {
    return "malformed: a mask of another shape";
  }
  return std::nullopt;
}

// Only an ordinary access may be reordered and vectorized at will.
Refusal CheckPlain(const ttir::Op& op) {
  const ttir::Attribute* is_volatile = op.Find("isVolatile");
  if (is_volatile != nullptr && is_volatile->integer != 0) {
    return "a volatile access";
  }
  return std::nullopt;
}

void AddLatency(const Lowering& lowering, Op* op) {
  if (lowering.loop_depth == 0 || lowering.latency() <= 0) return;
  op->attributes.push_back(
      Number(Key::kLatency, std::clamp(lowering.latency(), 1, 10)));
}

Refusal Load(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const size_t count = op.operands.size();
  if (count < 1 || count > 3) return "malformed: wrong number of operands";
  Refusal refusal = CheckPlain(op);
  if (!refusal.has_value()) {
    refusal = CheckAccess(lowering, op.operands[0], op.results[0],
                          count > 1 ? &op.operands[1] : nullptr);
  }
  if (refusal.has_value()) return refusal;
  const ttir::Type type = lowering.TypeOf(op.results[0]);
  if (count == 3 && lowering.TypeOf(op.operands[2]) != type) {
    return "malformed: 'other' of another type";
  }
  Op load;
  load.code = Code::kLoadPtr;
  load.operands.push_back(lowering.Use(op.operands[0]));
  load.groups = {1, 0, 0, 0};
  if (count > 1) {
    load.operands.push_back(lowering.Use(op.operands[1]));
    // Lanes that the mask leaves out are undefined in Tile IR; Triton's own
    // PTX gives zero where the kernel names no other value.
    load.operands.push_back(
        count == 3 ? lowering.Use(op.operands[2])
                   : lowering.EmitBits(0, type.scalar, type.shape));
    load.groups = {1, 1, 1, 0};
  }
  load.attributes.push_back(Order(Semantics::kWeak));
  AddLatency(lowering, &load);
  load.results = {lowering.kernel().NewValue(lowering.TypeId_(type)),
                  lowering.kernel().NewValue(lowering.kernel().types.Token())};
  Access access;
  access.reads = true;
  access.pointers = op.operands[0];
  access.root = lowering.RootOf(op.operands[0]);
  load.access = lowering.NewAccess(access);
  const ValueId result = load.results[0];
  lowering.EmitOp(std::move(load));
  lowering.Bind(op.results[0], result);
  return std::nullopt;
}

Refusal Store(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const size_t count = op.operands.size();
  if (count < 2 || count > 3) return "malformed: wrong number of operands";
  Refusal refusal = CheckPlain(op);
  if (!refusal.has_value()) {
    refusal = CheckAccess(lowering, op.operands[0], op.operands[1],
                          count > 2 ? &op.operands[2] : nullptr);
  }
  if (refusal.has_value()) return refusal;
  Op store;
  store.code = Code::kStorePtr;
  for (const ttir::ValueId operand : op.operands) {
    store.operands.push_back(lowering.Use(operand));
  }
  store.groups = {1, 1, count == 3 ? 1 : 0, 0};
  store.attributes.push_back(Order(Semantics::kWeak));
  store.results = {lowering.kernel().NewValue(lowering.kernel().types.Token())};
  Access access;
  access.writes = true;
  access.pointers = op.operands[0];
  access.root = lowering.RootOf(op.operands[0]);
  store.access = lowering.NewAccess(access);
  lowering.EmitOp(std::move(store));
  return std::nullopt;
}

struct SemanticsRow {
  std::string_view word;
  Semantics semantics;
  bool acquires;
  bool releases;
};
constexpr SemanticsRow kSemantics[] = {
    {"relaxed", Semantics::kRelaxed, false, false},
    {"acquire", Semantics::kAcquire, true, false},
    {"release", Semantics::kRelease, false, true},
    {"acq_rel", Semantics::kAcqRel, true, true},
};

struct ScopeRow {
  std::string_view word;
  Scope scope;
};
constexpr ScopeRow kScopes[] = {
    {"gpu", Scope::kDevice}, {"cta", Scope::kBlock}, {"sys", Scope::kSystem}};

struct ModeRow {
  std::string_view word;
  AtomicMode mode;
  bool floats;
};
constexpr ModeRow kModes[] = {
    {"and", AtomicMode::kAnd, false},   {"or", AtomicMode::kOr, false},
    {"xor", AtomicMode::kXor, false},   {"add", AtomicMode::kAdd, false},
    {"fadd", AtomicMode::kAddF, true},  {"max", AtomicMode::kMax, false},
    {"min", AtomicMode::kMin, false},   {"umax", AtomicMode::kUMax, false},
    {"umin", AtomicMode::kUMin, false}, {"exch", AtomicMode::kExchange, false},
};

// Adds order and scope to the operation and says what they order.
Refusal SetOrder(const ttir::Op& op, Op* atomic, Access* access) {
  const std::string_view order = WordOf(op, "sem");
  const std::string_view scope = WordOf(op, "scope");
  for (const SemanticsRow& row : kSemantics) {
    if (row.word != order) continue;
    atomic->attributes.push_back(Order(row.semantics));
    access->acquires = row.acquires;
    access->releases = row.releases;
  }
  for (const ScopeRow& row : kScopes) {
    if (row.word != scope) continue;
    atomic->attributes.push_back(
        Number(Key::kScope, static_cast<int>(row.scope)));
  }
  if (atomic->attributes.size() != 2) {
    return fmt::format("memory order {} {}", Printable(order),
                       Printable(scope));
  }
  return std::nullopt;
}

void FinishAtomic(Lowering& lowering, const ttir::Op& op, Op atomic,
                  Access access) {
  access.reads = true;
  access.writes = true;
  access.root = lowering.RootOf(op.operands[0]);
  atomic.access = lowering.NewAccess(access);
  atomic.results = {
      lowering.kernel().NewValue(ResultType(lowering, op)),
      lowering.kernel().NewValue(lowering.kernel().types.Token())};
  const ValueId result = atomic.results[0];
  lowering.EmitOp(std::move(atomic));
  lowering.Bind(op.results[0], result);
}

// What the hardware adds, exchanges or compares in memory.
Refusal CheckAtomicType(const Lowering& lowering, const ttir::Op& op,
                        std::string_view mode) {
  const Scalar scalar = lowering.TypeOf(op.results[0]).scalar;
  const int bits = ttir::Bits(scalar);
  const bool narrow_add =
      mode == "fadd" &&
      (scalar == Scalar::kF16 ||
       (scalar == Scalar::kBF16 && lowering.options().version_minor >= 3));
  if (bits != 32 && bits != 64 && !narrow_add) {
    return fmt::format("an atomic {} on {}", mode, ttir::Name(scalar));
  }
  return std::nullopt;
}

Refusal AtomicRmw(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const size_t count = op.operands.size();
  if (count < 2 || count > 3) return "malformed: wrong number of operands";
  const std::string_view word = WordOf(op, "atomic_rmw_op");
  const auto* row =
      std::find_if(std::begin(kModes), std::end(kModes),
                   [&word](const ModeRow& mode) { return mode.word == word; });
  if (row == std::end(kModes)) {
    return fmt::format("atomic {}", Printable(word));
  }
  if (lowering.TypeOf(op.operands[1]) != lowering.TypeOf(op.results[0])) {
    return "malformed: an operand of another type";
  }
  Refusal refusal = CheckAccess(lowering, op.operands[0], op.operands[1],
                                count > 2 ? &op.operands[2] : nullptr);
  if (!refusal.has_value()) refusal = CheckAtomicType(lowering, op, word);
  if (refusal.has_value()) return refusal;
  const bool is_float = ttir::IsFloat(lowering.TypeOf(op.operands[1]).scalar);
  if (is_float != row->floats && row->mode != AtomicMode::kExchange) {
    return fmt::format("atomic {} on this type", word);
  }
  Op atomic;
  atomic.code = Code::kAtomicRmw;
  for (const ttir::ValueId operand : op.operands) {
    atomic.operands.push_back(lowering.Use(operand));
  }
  atomic.groups = {1, 1, count == 3 ? 1 : 0, 0};
  Access access;
  refusal = SetOrder(op, &atomic, &access);
  if (refusal.has_value()) return refusal;
  atomic.attributes.push_back(Number(Key::kMode, static_cast<int>(row->mode)));
  FinishAtomic(lowering, op, std::move(atomic), access);
  return std::nullopt;
}

Refusal AtomicCas(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& type = lowering.TypeOf(op.results[0]);
  if (lowering.TypeOf(op.operands[1]) != type ||
      lowering.TypeOf(op.operands[2]) != type) {
    return "malformed: operands of different types";
  }
  Refusal refusal =
      CheckAccess(lowering, op.operands[0], op.operands[1], nullptr);
  if (!refusal.has_value()) refusal = CheckAtomicType(lowering, op, "cas");
  if (refusal.has_value()) return refusal;
  Op atomic;
  atomic.code = Code::kAtomicCas;
  for (const ttir::ValueId operand : op.operands) {
    atomic.operands.push_back(lowering.Use(operand));
  }
  atomic.groups = {1, 1, 1, 0, 0};
  Access access;
  refusal = SetOrder(op, &atomic, &access);
  if (refusal.has_value()) return refusal;
  FinishAtomic(lowering, op, std::move(atomic), access);
  return std::nullopt;
}

constexpr Rule kRules[] = {
    {"tt.addptr", AddPointer, 2, 1, Check::kSameShape, Code::kOffset},
    {"tt.load", Load, kAny, 1, Check::kSameShape, Code::kLoadPtr},
    {"tt.store", Store, kAny, 0, Check::kSameShape, Code::kStorePtr},
    {"tt.atomic_rmw", AtomicRmw, kAny, 1, Check::kSameShape, Code::kAtomicRmw},
    {"tt.atomic_cas", AtomicCas, 3, 1, Check::kSameShape, Code::kAtomicCas},
};

}  // namespace

std::span<const Rule> MemoryRules() { return kRules; }

}  // namespace kernelfleet::tileir
