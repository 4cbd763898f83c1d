// Structured loops and branches.
#include <algorithm>
#include <map>
#include <set>

#include "common/tileir/address_form.h"
#include "common/tileir/control.h"
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

// Makes the arguments of a region and binds them.
void BindArguments(Lowering& lowering,
                   const std::vector<ttir::ValueId>& arguments, Block* body) {
  for (const ttir::ValueId argument : arguments) {
    const ValueId made =
        lowering.kernel().NewValue(lowering.TypeId_(lowering.TypeOf(argument)));
    body->arguments.push_back(made);
    lowering.Bind(argument, made);
  }
}

void MakeResults(Lowering& lowering, const ttir::Op& op, Op* made) {
  for (const ttir::ValueId result : op.results) {
    made->results.push_back(
        lowering.kernel().NewValue(lowering.TypeId_(lowering.TypeOf(result))));
  }
}

void EmitWithResults(Lowering& lowering, const ttir::Op& op, Op made) {
  const std::vector<ValueId> results = made.results;
  lowering.EmitOp(std::move(made));
  for (size_t i = 0; i < results.size(); ++i) {
    lowering.Bind(op.results[i], results[i]);
  }
}

// The roots of the accesses from `first` on that are disjoint over the loop.
std::vector<int> DisjointRoots(const Lowering& lowering, const ttir::Op& loop,
                               size_t first) {
  const std::vector<Access>& accesses = lowering.accesses();
  std::map<int, std::vector<ttir::ValueId>> pointers;
  std::set<int> written;
  for (size_t i = first; i < accesses.size(); ++i) {
    pointers[accesses[i].root].push_back(accesses[i].pointers);
    if (accesses[i].writes) written.insert(accesses[i].root);
  }
  std::vector<int> roots;
  if (written.empty()) return roots;
  const LoopAddresses addresses(lowering, loop);
  for (const int root : written) {
    const std::vector<ttir::ValueId>& used = pointers[root];
    if (root < 0 || std::find(used.begin(), used.end(), -1) != used.end()) {
      continue;
    }
    if (addresses.IterationsAreDisjoint(used)) roots.push_back(root);
  }
  return roots;
}

// The only block of a region that ends in `terminator`; null otherwise.
const ttir::Block* OnlyBlock(const ttir::Region& region,
                             std::string_view terminator) {
  if (region.blocks.size() != 1 || region.blocks[0].ops.empty() ||
      region.blocks[0].ops.back().name != terminator) {
    return nullptr;
  }
  return &region.blocks[0];
}

// A loop's own num_stages, while its body is lowered.
class LoopScope {
 public:
  LoopScope(Lowering& lowering, const ttir::Op& op)
      : lowering_(lowering), outer_(lowering.latency()) {
    ++lowering_.loop_depth;
    if (const auto stages = IntegerOf(op, "tt.num_stages")) {
      lowering_.set_latency(
          static_cast<int>(std::clamp<int64_t>(*stages, 1, 10)));
    }
  }
  ~LoopScope() {
    --lowering_.loop_depth;
    lowering_.set_latency(outer_);
  }

 private:
  Lowering& lowering_;
  const int outer_;
};

Refusal For(Lowering& lowering, const ttir::Op& op, const Rule&) {
  if (op.operands.size() < 3 || op.regions.size() != 1) {
    return "malformed: no bounds or no body";
  }
  if (HasDescriptor(lowering, op.operands)) {
    return "a tensor descriptor that changes in a loop";
  }
  const ttir::Block* body = OnlyBlock(op.regions[0], "scf.yield");
  // A loop without values may be printed without its yield.
  static const ttir::Op kYield = [] {
    ttir::Op yield;
    yield.name = "scf.yield";
    return yield;
  }();
  const bool implicit =
      body == nullptr && op.results.empty() && op.regions[0].blocks.size() == 1;
  if (implicit) body = &op.regions[0].blocks[0];
  if (body == nullptr || body->arguments.empty()) return "malformed: no body";
  const ttir::Op& yield = implicit ? kYield : body->ops.back();
  const ttir::Type& counter = lowering.TypeOf(body->arguments[0]);
  if (!SameTypes(lowering, op.operands, 3, op.results, 0) ||
      !SameTypes(lowering, body->arguments, 1, op.results, 0) ||
      !SameTypes(lowering, yield.operands, 0, op.results, 0) ||
      !ttir::IsInteger(counter.scalar) || counter.tensor ||
      lowering.TypeOf(op.operands[0]) != counter ||
      lowering.TypeOf(op.operands[1]) != counter ||
      lowering.TypeOf(op.operands[2]) != counter) {
    return "malformed: loop values of different types";
  }
  Op loop;
  loop.code = Code::kFor;
  loop.operands = *UseAll(lowering, op.operands);
  if (op.Find("unsignedCmp") != nullptr) {
    if (lowering.options().version_minor < 2) {
      return "an unsigned loop needs bytecode 13.2";
    }
    loop.attributes.push_back(Number(Key::kUnsignedCmp, 1));
  }
  Block inside;
  bool complete = true;
  const LoopScope scope(lowering, op);
  const size_t first_access = lowering.accesses().size();
  lowering.Inside(&inside, [&] {
    BindArguments(lowering, body->arguments, &inside);
    const size_t count = body->ops.size() - (implicit ? 0 : 1);
    for (size_t i = 0; i < count; ++i) lowering.LowerOp(body->ops[i]);
    auto yielded = UseAll(lowering, yield.operands);
    complete = yielded.has_value();
    if (complete) EmitEnd(lowering, Code::kContinue, *std::move(yielded));
  });
  if (!complete) return std::nullopt;
  loop.disjoint_roots = DisjointRoots(lowering, op, first_access);
  loop.regions.push_back(std::move(inside));
  MakeResults(lowering, op, &loop);
  EmitWithResults(lowering, op, std::move(loop));
  return std::nullopt;
}

// One side of an if; false when something in it was refused.
bool LowerBranch(Lowering& lowering, const ttir::Region& region, Block* made) {
  bool complete = true;
  lowering.Inside(made, [&] {
    std::vector<ValueId> yielded;
    if (!region.blocks.empty()) {
      const ttir::Block& block = region.blocks[0];
      const bool ends =
          !block.ops.empty() && block.ops.back().name == "scf.yield";
      const size_t count = block.ops.size() - (ends ? 1 : 0);
      for (size_t i = 0; i < count; ++i) lowering.LowerOp(block.ops[i]);
      if (ends) {
        auto used = UseAll(lowering, block.ops.back().operands);
        complete = used.has_value();
        if (complete) yielded = *std::move(used);
      }
    }
    EmitEnd(lowering, Code::kYield, std::move(yielded));
  });
  return complete;
}

Refusal If(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& truth = lowering.TypeOf(op.operands[0]);
  if (op.regions.size() != 2 || truth.scalar != Scalar::kI1 || truth.tensor) {
    return "malformed: no condition or no branches";
  }
  if (HasDescriptor(lowering, op.results)) {
    return "a tensor descriptor chosen by a branch";
  }
  for (const ttir::Region& region : op.regions) {
    if (region.blocks.size() > 1 ||
        (region.blocks.empty() && !op.results.empty())) {
      return "malformed: a branch of several blocks";
    }
    const bool ends = !region.blocks.empty() && !region.blocks[0].ops.empty() &&
                      region.blocks[0].ops.back().name == "scf.yield";
    if (ends ? !SameTypes(lowering, region.blocks[0].ops.back().operands, 0,
                          op.results, 0)
             : !op.results.empty()) {
      return "malformed: a branch yields other types";
    }
  }
  Op made;
  made.code = Code::kIf;
  made.operands = {lowering.Use(op.operands[0])};
  bool complete = true;
  for (const ttir::Region& region : op.regions) {
    made.regions.emplace_back();
    Block branch;
    complete &= LowerBranch(lowering, region, &branch);
    made.regions.back() = std::move(branch);
  }
  if (!complete) return std::nullopt;
  MakeResults(lowering, op, &made);
  EmitWithResults(lowering, op, std::move(made));
  return std::nullopt;
}

// The part of a while's body after the test: leave, or go on with `after`.
bool LowerWhileBody(Lowering& lowering, const ttir::Block& before,
                    const ttir::Block& after, Block* inside) {
  BindArguments(lowering, before.arguments, inside);
  LowerAllButLast(lowering, before);
  const auto tested = UseAll(lowering, before.ops.back().operands);
  if (!tested.has_value()) return false;
  const std::vector<ValueId> values(tested->begin() + 1, tested->end());
  Op test;
  test.code = Code::kIf;
  test.operands = {tested->front()};
  test.regions.resize(2);
  Block stay;
  lowering.Inside(&stay, [&] { EmitEnd(lowering, Code::kYield, {}); });
  Block leave;
  lowering.Inside(&leave, [&] { EmitEnd(lowering, Code::kBreak, values); });
  test.regions[0] = std::move(stay);
  test.regions[1] = std::move(leave);
  lowering.EmitOp(std::move(test));
  for (size_t i = 0; i < values.size(); ++i) {
    lowering.Bind(after.arguments[i], values[i]);
  }
  LowerAllButLast(lowering, after);
  const auto next = UseAll(lowering, after.ops.back().operands);
  if (next.has_value()) EmitEnd(lowering, Code::kContinue, *next);
  return next.has_value();
}

Refusal While(Lowering& lowering, const ttir::Op& op, const Rule&) {
  if (op.regions.size() != 2) return "malformed: no two regions";
  const ttir::Block* before = OnlyBlock(op.regions[0], "scf.condition");
  const ttir::Block* after = OnlyBlock(op.regions[1], "scf.yield");
  if (before == nullptr || after == nullptr) return "malformed: no body";
  const std::vector<ttir::ValueId>& tested = before->ops.back().operands;
  if (tested.empty() || lowering.TypeOf(tested[0]).scalar != Scalar::kI1 ||
      lowering.TypeOf(tested[0]).tensor ||
      !SameTypes(lowering, op.operands, 0, before->arguments, 0) ||
      !SameTypes(lowering, after->ops.back().operands, 0, op.operands, 0) ||
      !SameTypes(lowering, tested, 1, after->arguments, 0) ||
      !SameTypes(lowering, op.results, 0, after->arguments, 0)) {
    return "malformed: loop values of different types";
  }
  if (HasDescriptor(lowering, op.operands) ||
      HasDescriptor(lowering, op.results)) {
    return "a tensor descriptor that changes in a loop";
  }
  Op loop;
  loop.code = Code::kLoop;
  loop.operands = *UseAll(lowering, op.operands);
  Block inside;
  bool complete = true;
  const LoopScope scope(lowering, op);
  lowering.Inside(&inside, [&] {
    complete = LowerWhileBody(lowering, *before, *after, &inside);
  });
  if (!complete) return std::nullopt;
  loop.regions.push_back(std::move(inside));
  MakeResults(lowering, op, &loop);
  EmitWithResults(lowering, op, std::move(loop));
  return std::nullopt;
}

constexpr Rule kRules[] = {
    {"scf.for", For, kAny, kAny, Check::kNone, Code::kFor},
    {"scf.if", If, 1, kAny, Check::kNone, Code::kIf},
    {"scf.while", While, kAny, kAny, Check::kNone, Code::kLoop},
};

}  // namespace

std::span<const Rule> ControlRules() { return kRules; }

}  // namespace kernelfleet::tileir
