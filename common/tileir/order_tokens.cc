#include "common/tileir/order_tokens.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace kernelfleet::tileir {
namespace {

// What later accesses of a class must wait for.
struct ClassState {
  // A read waits for this: the last write, or what stands for all before it.
  ValueId last = kNoValue;
  // A write waits for these reads, too.
  std::vector<ValueId> reads;
  // In a loop of disjoint iterations: stands for the iterations before, which
  // only what follows the loop waits for.
  ValueId gathered = kNoValue;
};
using State = std::vector<ClassState>;

struct Effects {
  bool reads = false;
  bool writes = false;
  bool fenced = false;
  int accesses = 0;
  // The only root among the accesses; -1: none or several.
  int root = -1;
};

// A token that a loop or branch hands on: of a class, as write or read.
struct Carried {
  size_t alias_class = 0;
  bool writes = false;
  bool disjoint = false;
};

class Orderer {
 public:
  Orderer(Kernel* kernel, const AliasClasses& classes)
      : kernel_(*kernel), classes_(classes) {
    int count = 0;
    for (const int alias_class : classes)
      count = std::max(count, alias_class + 1);
    ordered_.assign(static_cast<size_t>(count), false);
    totals_.assign(static_cast<size_t>(count), 0);
    bool fences = false;
    for (size_t i = 0; i < kernel_.accesses.size(); ++i) {
      const Access& access = kernel_.accesses[i];
      fences |= access.acquires || access.releases;
      const size_t place = ClassOf(static_cast<int>(i));
      if (access.writes) ordered_[place] = true;
      ++totals_[place];
    }
    if (fences) ordered_.assign(ordered_.size(), true);
  }

  int Run() {
    if (std::find(ordered_.begin(), ordered_.end(), true) != ordered_.end()) {
      State state(ordered_.size());
      Process(&kernel_.body, &state);
    }
    return taken_;
  }

 private:
  size_t ClassOf(int access) const {
    return static_cast<size_t>(classes_[static_cast<size_t>(access)]);
  }

  void Process(Block* block, State* state);
  void ProcessAccess(Op op, State* state);
  void ProcessFence(const Access& access, ValueId token, State* state);
  void ProcessLoop(Op op, State* state);
  void ProcessIf(Op op, State* state);
  void AddEffects(const Block& block, std::vector<Effects>* effects) const;
  std::vector<Carried> CarriedThrough(const Op& op) const;

  ValueId NewToken() { return kernel_.NewValue(kernel_.types.Token()); }
  // One token that stands for all of these; kNoValue for none.
  ValueId Join(std::vector<ValueId> tokens);
  // Like Join, but makes one for none.
  ValueId Some(std::vector<ValueId> tokens);
  std::vector<ValueId> Waits(const ClassState& state, bool writes) const;
  // The token of a carried class as it leaves a block, or an iteration.
  ValueId Leaving(const Carried& carried, const State& state, bool iteration) {
    const ClassState& entry = state[carried.alias_class];
    std::vector<ValueId> tokens = Waits(entry, true);
    if (iteration && carried.disjoint) tokens.push_back(entry.gathered);
    return Some(std::move(tokens));
  }
  // `token` stands for everything of the class in a loop or branch.
  static void SetAfter(const Carried& carried, ValueId token, State* state) {
    ClassState& after = (*state)[carried.alias_class];
    if (carried.writes) {
      after.last = token;
      after.reads.clear();
    } else {
      after.reads = {token};
    }
  }

  Kernel& kernel_;
  const AliasClasses& classes_;
  // Classes with a write somewhere.
  std::vector<bool> ordered_;
  // Accesses of each class.
  std::vector<int> totals_;
  std::vector<Op>* out_ = nullptr;
  // Innermost loop's and branch's handed tokens.
  const std::vector<Carried>* loop_ = nullptr;
  const std::vector<Carried>* branch_ = nullptr;
  int taken_ = 0;
};

ValueId Orderer::Join(std::vector<ValueId> tokens) {
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  if (tokens.empty()) return kNoValue;
  if (tokens.size() == 1) return tokens[0];
  Op join;
  join.code = Code::kJoinTokens;
  join.operands = std::move(tokens);
  join.results = {NewToken()};
  out_->push_back(std::move(join));
  return out_->back().results[0];
}

ValueId Orderer::Some(std::vector<ValueId> tokens) {
  const ValueId joined = Join(std::move(tokens));
  if (joined != kNoValue) return joined;
  Op make;
  make.code = Code::kMakeToken;
  make.results = {NewToken()};
  out_->push_back(std::move(make));
  return out_->back().results[0];
}

std::vector<ValueId> Orderer::Waits(const ClassState& state,
                                    bool writes) const {
  // Every read in `reads` has itself waited for `last`.
  if (writes && !state.reads.empty()) return state.reads;
  if (state.last == kNoValue) return {};
  return {state.last};
}

void Orderer::ProcessFence(const Access& access, ValueId token, State* state) {
  if (!access.acquires) return;
  for (ClassState& entry : *state) {
    if (access.releases) {
      entry.last = token;
      entry.reads.clear();
    } else {
      std::vector<ValueId> tokens = Waits(entry, true);
      tokens.push_back(token);
      entry.last = Join(std::move(tokens));
      entry.reads.clear();
    }
  }
}

void Orderer::ProcessAccess(Op op, State* state) {
  const Access& access = kernel_.accesses[static_cast<size_t>(op.access)];
  const size_t place = ClassOf(op.access);
  std::vector<ValueId> tokens;
  if (access.releases) {
    for (const ClassState& entry : *state) {
      const std::vector<ValueId> more = Waits(entry, true);
      tokens.insert(tokens.end(), more.begin(), more.end());
    }
  } else if (ordered_[place]) {
    tokens = Waits((*state)[place], access.writes);
  }
  const ValueId before = Join(std::move(tokens));
  const bool barrier = op.code == Code::kMakeToken;
  if (before != kNoValue && !barrier) {
    op.operands.push_back(before);
    KF_CHECK(!op.groups.empty() && op.groups.back() == 0);
    op.groups.back() = 1;
    ++taken_;
  }
  const ValueId after =
      barrier && before != kNoValue ? before : op.results.back();
  const int index = op.access;
  out_->push_back(std::move(op));
  if (ordered_[place] && !barrier) {
    ClassState& entry = (*state)[place];
    if (access.writes) {
      entry.last = after;
      entry.reads.clear();
    } else {
      entry.reads.push_back(after);
    }
  }
  ProcessFence(kernel_.accesses[static_cast<size_t>(index)], after, state);
}

void Orderer::AddEffects(const Block& block,
                         std::vector<Effects>* effects) const {
  for (const Op& op : block.ops) {
    if (op.access >= 0) {
      const Access& access = kernel_.accesses[static_cast<size_t>(op.access)];
      Effects& effect = (*effects)[ClassOf(op.access)];
      effect.reads |= access.reads;
      effect.writes |= access.writes;
      effect.root =
          effect.accesses == 0 || effect.root == access.root ? access.root : -1;
      ++effect.accesses;
      if (access.acquires || access.releases) {
        for (Effects& any : *effects) {
          any.reads = any.writes = any.fenced = true;
        }
      }
    }
    for (const Block& inner : op.regions) AddEffects(inner, effects);
  }
}

std::vector<Carried> Orderer::CarriedThrough(const Op& op) const {
  std::vector<Effects> effects(ordered_.size());
  for (const Block& block : op.regions) AddEffects(block, &effects);
  std::vector<Carried> carried;
  for (size_t i = 0; i < effects.size(); ++i) {
    const Effects& effect = effects[i];
    if (!ordered_[i] || (!effect.reads && !effect.writes)) continue;
    const bool disjoint =
        effect.writes && !effect.fenced && effect.root >= 0 &&
        std::find(op.disjoint_roots.begin(), op.disjoint_roots.end(),
                  effect.root) != op.disjoint_roots.end();
    // Nobody is left to wait for the loop.
    if (disjoint && loop_ == nullptr && effect.accesses == totals_[i]) continue;
    carried.push_back({i, effect.writes, disjoint});
  }
  return carried;
}

// Into the body go what its writes must wait for; out comes what stands for
// every access in it.
void Orderer::ProcessLoop(Op op, State* state) {
  const std::vector<Carried> carried = CarriedThrough(op);
  State inside = *state;
  for (const Carried& item : carried) {
    const ClassState& before = (*state)[item.alias_class];
    op.operands.push_back(Some(Waits(before, true)));
    const ValueId argument = NewToken();
    op.regions[0].arguments.push_back(argument);
    ClassState& entry = inside[item.alias_class];
    if (item.disjoint) {
      entry.gathered = argument;
    } else if (item.writes) {
      entry = {argument, {}, kNoValue};
    } else {
      entry.reads = {argument};
    }
    op.results.push_back(NewToken());
  }
  const auto* const outer_loop = std::exchange(loop_, &carried);
  Process(&op.regions[0], &inside);
  loop_ = outer_loop;
  size_t result = op.results.size() - carried.size();
  for (const Carried& item : carried) {
    SetAfter(item, op.results[result++], state);
  }
  out_->push_back(std::move(op));
}

void Orderer::ProcessIf(Op op, State* state) {
  const std::vector<Carried> carried = CarriedThrough(op);
  const auto* const outer_branch = std::exchange(branch_, &carried);
  for (Block& block : op.regions) {
    State inside = *state;
    Process(&block, &inside);
  }
  branch_ = outer_branch;
  for (const Carried& item : carried) {
    const ValueId token = NewToken();
    op.results.push_back(token);
    SetAfter(item, token, state);
  }
  out_->push_back(std::move(op));
}

void Orderer::Process(Block* block, State* state) {
  std::vector<Op> ops = std::move(block->ops);
  std::vector<Op> made;
  made.reserve(ops.size());
  std::vector<Op>* const outer = std::exchange(out_, &made);
  for (Op& op : ops) {
    if (op.access >= 0) {
      ProcessAccess(std::move(op), state);
    } else if (op.code == Code::kFor || op.code == Code::kLoop) {
      ProcessLoop(std::move(op), state);
    } else if (op.code == Code::kIf) {
      ProcessIf(std::move(op), state);
    } else if (op.code == Code::kYield || op.code == Code::kContinue ||
               op.code == Code::kBreak) {
      const bool iteration = op.code != Code::kYield;
      const auto* handed = iteration ? loop_ : branch_;
      KF_CHECK(handed != nullptr);
      for (const Carried& item : *handed) {
        op.operands.push_back(Leaving(item, *state, iteration));
      }
      made.push_back(std::move(op));
    } else {
      made.push_back(std::move(op));
    }
  }
  out_ = outer;
  block->ops = std::move(made);
}

}  // namespace

int OrderAccesses(Kernel* kernel, const AliasClasses& classes) {
  return Orderer(kernel, classes).Run();
}

}  // namespace kernelfleet::tileir
