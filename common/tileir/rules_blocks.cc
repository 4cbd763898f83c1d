// Blocks that jump, of the kernel and of the functions it calls, as nested ifs.
#include <algorithm>

#include "common/tileir/control.h"
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

constexpr int kMaxCalls = 16;

// A called function's blocks in the place of the call, as nested ifs that
// yield what it returns.
class Inliner {
 public:
  Inliner(Lowering& lowering, const ttir::Function& callee)
      : lowering_(lowering), region_(callee.body) {}

  // What is returned; nothing when something was refused.
  std::optional<std::vector<ValueId>> Walk(size_t number);

 private:
  std::optional<std::vector<ValueId>> Go(const ttir::Op& op,
                                         const ttir::Successor& successor);
  std::optional<std::vector<ValueId>> Branch(const ttir::Op& op);

  Lowering& lowering_;
  const ttir::Region& region_;
  // Every path ends within this many blocks, so jumps cannot go round.
  static constexpr int kMaxBlocks = 64;
  int lowered_ = 0;
};

std::optional<std::vector<ValueId>> Inliner::Go(
    const ttir::Op& op, const ttir::Successor& successor) {
  const auto place = static_cast<size_t>(successor.block);
  const auto& arguments = region_.blocks[place].arguments;
  if (!SameTypes(lowering_, successor.arguments, 0, arguments, 0)) {
    lowering_.Refuse(op, "malformed: block arguments of other types");
    return std::nullopt;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    lowering_.Bind(arguments[i], lowering_.Use(successor.arguments[i]));
  }
  return Walk(place);
}

std::optional<std::vector<ValueId>> Inliner::Branch(const ttir::Op& op) {
  if (op.operands.size() != 1 || op.successors.size() != 2 ||
      lowering_.TypeOf(op.operands[0]).scalar != Scalar::kI1) {
    lowering_.Refuse(op, "malformed: no condition or no targets");
    return std::nullopt;
  }
  if (!lowering_.IsLowered(op.operands[0])) return std::nullopt;
  Op test;
  test.code = Code::kIf;
  test.operands = {lowering_.Use(op.operands[0])};
  test.regions.resize(2);
  std::vector<TypeId> types;
  for (size_t side = 0; side < 2; ++side) {
    Block branch;
    bool complete = false;
    lowering_.Inside(&branch, [&] {
      const auto returned = Go(op, op.successors[side]);
      if (!returned.has_value()) return;
      complete = true;
      types.clear();
      for (const ValueId value : *returned) {
        types.push_back(
            lowering_.kernel().value_types[static_cast<size_t>(value)]);
      }
      EmitEnd(lowering_, Code::kYield, *returned);
    });
    if (!complete) return std::nullopt;
    test.regions[side] = std::move(branch);
  }
  for (const TypeId type : types) {
    test.results.push_back(lowering_.kernel().NewValue(type));
  }
  std::vector<ValueId> results = test.results;
  lowering_.EmitOp(std::move(test));
  return results;
}

std::optional<std::vector<ValueId>> Inliner::Walk(size_t number) {
  const ttir::Block& block = region_.blocks[number];
  if (block.ops.empty()) return std::nullopt;
  const ttir::Op& last = block.ops.back();
  if (++lowered_ > kMaxBlocks) {
    lowering_.Refuse(last, "a loop made of jumps, or too many branches");
    return std::nullopt;
  }
  LowerAllButLast(lowering_, block);
  if (last.name == "tt.return") return UseAll(lowering_, last.operands);
  if (last.name == "cf.br" && last.successors.size() == 1) {
    return Go(last, last.successors[0]);
  }
  if (last.name == "cf.cond_br") return Branch(last);
  lowering_.Refuse(last, "no counterpart in Tile IR");
  return std::nullopt;
}

// Nothing when every return of the callee gives the types of the call.
Refusal CheckReturns(const Lowering& lowering, const ttir::Op& op,
                     const ttir::Function& callee) {
  for (const ttir::Block& block : callee.body.blocks) {
    if (block.ops.empty()) return "malformed: an empty block";
    const ttir::Op& last = block.ops.back();
    if (last.name == "tt.return" &&
        !SameTypes(lowering, last.operands, 0, op.results, 0)) {
      return "malformed: a call of other types";
    }
  }
  return std::nullopt;
}

// The callee's operations in the place of the call.
Refusal Call(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Function* callee = lowering.module().Callee(op);
  if (callee == nullptr || callee->body.blocks.empty()) {
    return "malformed: no such function";
  }
  if (lowering.call_depth >= kMaxCalls) return "calls nest too deep";
  std::vector<ttir::ValueId> arguments;
  for (const ttir::Argument& argument : callee->arguments) {
    arguments.push_back(argument.value);
  }
  if (!SameTypes(lowering, op.operands, 0, arguments, 0)) {
    return "malformed: a call of other types";
  }
  if (Refusal refusal = CheckReturns(lowering, op, *callee)) return refusal;
  if (HasDescriptor(lowering, op.operands) ||
      HasDescriptor(lowering, op.results)) {
    return "a call that hands over a tensor descriptor";
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    lowering.Bind(arguments[i], lowering.Use(op.operands[i]));
  }
  ++lowering.call_depth;
  const auto returned = Inliner(lowering, *callee).Walk(0);
  --lowering.call_depth;
  if (!returned.has_value()) return std::nullopt;
  for (size_t i = 0; i < returned->size(); ++i) {
    lowering.Bind(op.results[i], (*returned)[i]);
  }
  return std::nullopt;
}

// The function's blocks as nested ifs: each block is lowered where it is
// reached, so a block with two ways into it is lowered twice.
class BlockWalker {
 public:
  BlockWalker(Lowering& lowering, const ttir::Region& region)
      : lowering_(lowering), region_(region) {}

  void Walk(size_t number);

 private:
  // Lowered blocks, copies counted; past it the nest would explode.
  static constexpr int kMaxBlocks = 256;

  bool OnlyReturns(const ttir::Successor& successor) const {
    const auto place = static_cast<size_t>(successor.block);
    return place < region_.blocks.size() &&
           region_.blocks[place].ops.size() == 1 &&
           region_.blocks[place].ops[0].name == "tt.return";
  }
  void Go(const ttir::Op& op, const ttir::Successor& successor);
  void Branch(const ttir::Op& op);
  void Return() { EmitEnd(lowering_, Code::kReturn, {}); }

  Lowering& lowering_;
  const ttir::Region& region_;
  std::vector<size_t> path_;
  int lowered_ = 0;
};

void BlockWalker::Go(const ttir::Op& op, const ttir::Successor& successor) {
  const auto place = static_cast<size_t>(successor.block);
  const auto& arguments = region_.blocks[place].arguments;
  if (!SameTypes(lowering_, successor.arguments, 0, arguments, 0)) {
    lowering_.Refuse(op, "malformed: block arguments of other types");
    return;
  }
  if (std::find(path_.begin(), path_.end(), place) != path_.end()) {
    lowering_.Refuse(op, "a loop made of jumps");
    return;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    lowering_.Bind(arguments[i], lowering_.Use(successor.arguments[i]));
  }
  Walk(place);
}

void BlockWalker::Branch(const ttir::Op& op) {
  if (op.operands.size() != 1 || op.successors.size() != 2 ||
      lowering_.TypeOf(op.operands[0]).scalar != Scalar::kI1) {
    lowering_.Refuse(op, "malformed: no condition or no targets");
    return;
  }
  if (!lowering_.IsLowered(op.operands[0])) return;
  // An early return leaves the rest at this level.
  std::optional<size_t> rest;
  if (OnlyReturns(op.successors[0])) rest = 1;
  if (OnlyReturns(op.successors[1])) rest = 0;
  Op test;
  test.code = Code::kIf;
  test.operands = {lowering_.Use(op.operands[0])};
  test.regions.resize(2);
  for (size_t side = 0; side < 2; ++side) {
    Block branch;
    lowering_.Inside(&branch, [&] {
      if (rest == side) {
        EmitEnd(lowering_, Code::kYield, {});
      } else {
        Go(op, op.successors[side]);
      }
    });
    test.regions[side] = std::move(branch);
  }
  lowering_.EmitOp(std::move(test));
  if (rest.has_value()) {
    Go(op, op.successors[*rest]);
  } else {
    Return();
  }
}

void BlockWalker::Walk(size_t number) {
  const ttir::Block& block = region_.blocks[number];
  if (block.ops.empty()) return;
  const ttir::Op& last = block.ops.back();
  if (++lowered_ > kMaxBlocks) {
    lowering_.Refuse(last, "too many branches that meet again");
    return;
  }
  path_.push_back(number);
  LowerAllButLast(lowering_, block);
  if (last.name == "tt.return" && last.operands.empty()) {
    Return();
  } else if (last.name == "cf.br" && last.successors.size() == 1) {
    Go(last, last.successors[0]);
  } else if (last.name == "cf.cond_br") {
    Branch(last);
  } else {
    lowering_.Refuse(last, "no counterpart in Tile IR");
  }
  path_.pop_back();
}

constexpr Rule kRules[] = {
    {"tt.call", Call, kAny, kAny, Check::kNone, Code::kReturn},
};

}  // namespace

std::span<const Rule> BlockRules() { return kRules; }

void LowerBody(Lowering& lowering, const ttir::Region& region) {
  if (!region.blocks.empty()) BlockWalker(lowering, region).Walk(0);
}

}  // namespace kernelfleet::tileir
