#include "common/isa/function.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace kernelfleet::isa {
namespace {

struct Count {
  Meaning what;
  int32_t all = 0;
  int32_t in_loops = 0;
};

// What makes two memory instructions the same row.
Meaning MemoryKey(const Meaning& meaning) {
  return {.space = meaning.space,
          .direction = meaning.direction,
          .d16 = meaning.d16,
          .to_lds = meaning.to_lds,
          .spill = meaning.spill,
          .bytes = meaning.bytes};
}

auto Order(const Meaning& m) {
  return std::tuple(m.spill, m.space, m.direction, m.bytes, m.d16, m.to_lds);
}

// Rows are few (tens), events many: the row of the last event first.
class Rows {
 public:
  void Add(const Meaning& key, bool in_loop) {
    if (last_ >= rows_.size() || !(rows_[last_].what == key)) last_ = Find(key);
    ++rows_[last_].all;
    rows_[last_].in_loops += in_loop ? 1 : 0;
  }
  std::vector<Count> Sorted() && {
    std::sort(rows_.begin(), rows_.end(), [](const Count& a, const Count& b) {
      return Order(a.what) < Order(b.what);
    });
    return std::move(rows_);
  }

 private:
  size_t Find(const Meaning& key) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].what == key) return i;
    }
    rows_.push_back({.what = key});
    return rows_.size() - 1;
  }
  std::vector<Count> rows_;
  size_t last_ = 0;
};

size_t Index(Family family) { return static_cast<size_t>(family); }

struct Counts {
  std::vector<Count> memory;
  std::array<Count, kFamilies> families{};
  int32_t reachable = 0;
};

Counts CountEvents(std::span<const Event> events, const LoopForest& forest,
                   uint32_t instructions) {
  Counts counts;
  Rows rows;
  std::vector<bool> swaps_in_loop(forest.loops, false);
  size_t b = 0;
  for (const Event& event : events) {
    while (b + 1 < forest.blocks.size() &&
           forest.blocks[b + 1].begin <= event.at) {
      ++b;
    }
    const Block& block = forest.blocks[b];
    if (event.meaning.space != Space::kNone) {
      rows.Add(MemoryKey(event.meaning), block.in_loop);
    }
    Count& family = counts.families[Index(event.meaning.family)];
    ++family.all;
    family.in_loops += block.in_loop ? 1 : 0;
    if (event.meaning.family == Family::kCompareSwap &&
        block.loop != kNowhere) {
      swaps_in_loop[block.loop] = true;
    }
  }
  counts.memory = std::move(rows).Sorted();
  Count& loops = counts.families[Index(Family::kCasLoop)];
  loops.all = loops.in_loops = static_cast<int32_t>(
      std::count(swaps_in_loop.begin(), swaps_in_loop.end(), true));
  for (size_t i = 0; i < forest.blocks.size(); ++i) {
    const uint32_t end = i + 1 < forest.blocks.size()
                             ? forest.blocks[i + 1].begin
                             : instructions;
    if (forest.blocks[i].reachable) {
      counts.reachable += static_cast<int32_t>(end - forest.blocks[i].begin);
    }
  }
  return counts;
}

bool IsTensorTraffic(const Meaning& meaning) {
  if (meaning.spill || meaning.direction == Direction::kAtomic) return false;
  return meaning.space == Space::kGlobal || meaning.space == Space::kBuffer ||
         meaning.space == Space::kFlat || meaning.space == Space::kGeneric;
}

void SummarizeMemory(const Count& row, v1::IsaSummary& summary) {
  if (row.what.spill) summary.set_spill_ops(summary.spill_ops() + row.all);
  if (row.what.direction == Direction::kAtomic) {
    summary.set_atomic_ops(summary.atomic_ops() + row.all);
  }
  if (!IsTensorTraffic(row.what)) return;
  const bool wide = row.what.bytes >= 16;
  if (row.what.space == Space::kBuffer) {
    summary.set_buffer_ops(summary.buffer_ops() + row.all);
    if (wide) summary.set_wide_buffer_ops(summary.wide_buffer_ops() + row.all);
  } else {
    summary.set_global_flat_ops(summary.global_flat_ops() + row.all);
    if (wide) summary.set_wide_global_ops(summary.wide_global_ops() + row.all);
  }
  if (row.what.direction == Direction::kStore) {
    summary.set_widest_store_bytes(
        std::max<int32_t>(summary.widest_store_bytes(), row.what.bytes));
  } else {
    summary.set_widest_load_bytes(
        std::max<int32_t>(summary.widest_load_bytes(), row.what.bytes));
  }
}

void Summarize(const Counts& counts, v1::IsaSummary& summary) {
  for (const Count& row : counts.memory) SummarizeMemory(row, summary);
  for (size_t f = 0; f < kFamilies; ++f) {
    if (IsMatrix(static_cast<Family>(f))) {
      summary.set_matrix_ops(summary.matrix_ops() + counts.families[f].all);
    }
  }
  summary.set_cas_loops(counts.families[Index(Family::kCasLoop)].all);
  summary.set_instructions(counts.reachable);
  summary.set_buffer_ops_dominant(summary.buffer_ops() >
                                  summary.global_flat_ops());
  summary.set_wide_buffer_observed(summary.wide_buffer_ops() > 0);
  summary.set_atomic_observed(summary.atomic_ops() > 0);
}

}  // namespace

void Function::Start(std::string_view symbol) {
  symbol_ = symbol;
  instructions_ = 0;
  last_address_ = 0;
  events_.clear();
  transfers_.clear();
  targets_.clear();
  cases_.clear();
  labels_.clear();
  addresses_.clear();
}

namespace {

using Named = std::pair<std::string_view, uint32_t>;

bool ByName(const Named& a, const Named& b) { return a.first < b.first; }

void SortUnique(std::vector<Named>& names) {
  std::sort(names.begin(), names.end(), ByName);
  const auto same = [](const Named& a, const Named& b) {
    return a.first == b.first;
  };
  names.erase(std::unique(names.begin(), names.end(), same), names.end());
}

void AddRow(const Count& row, v1::IsaKernel& kernel) {
  v1::MemoryCount& memory = *kernel.add_memory();
  memory.set_space(std::string(NameOf(row.what.space)));
  memory.set_direction(std::string(NameOf(row.what.direction)));
  memory.set_bytes(row.what.bytes);
  memory.set_d16(row.what.d16);
  memory.set_to_lds(row.what.to_lds);
  memory.set_spill(row.what.spill);
  memory.set_count(row.all);
  memory.set_in_loops(row.in_loops);
}

}  // namespace

uint32_t Function::AtAddress(uint64_t address) const {
  const auto found = std::lower_bound(
      addresses_.begin(), addresses_.end(), address,
      [](const auto& entry, uint64_t value) { return entry.first < value; });
  return found != addresses_.end() && found->first == address ? found->second
                                                              : kNowhere;
}

// Targets are few and labels many (every source line has one), so the targets
// are sorted and the labels looked up among them.
uint32_t Function::ResolveTargets(std::vector<uint32_t>& cases) {
  std::vector<std::pair<std::string_view, uint32_t>> wanted;
  for (const Place& place : targets_) {
    if (!place.label.empty()) wanted.emplace_back(place.label, kNowhere);
  }
  for (const Place& place : cases_) wanted.emplace_back(place.label, kNowhere);
  SortUnique(wanted);
  if (!std::is_sorted(addresses_.begin(), addresses_.end())) {
    std::sort(addresses_.begin(), addresses_.end());
  }
  const auto find = [&](std::string_view name) {
    const auto at = std::lower_bound(wanted.begin(), wanted.end(),
                                     std::pair(name, 0u), ByName);
    return at != wanted.end() && at->first == name ? at : wanted.end();
  };
  for (const auto& [name, at] : labels_) {
    if (const auto found = find(name); found != wanted.end()) {
      found->second = at;
    }
  }
  uint32_t lost = 0;
  for (size_t i = 0; i < targets_.size(); ++i) {
    const Place& place = targets_[i];
    uint32_t& target = transfers_[i].target;
    if (place.by_address) target = AtAddress(place.address);
    if (!place.label.empty()) target = find(place.label)->second;
    const Flow flow = transfers_[i].flow;
    const bool local = flow == Flow::kJump || flow == Flow::kBranch;
    if (local && target == kNowhere) ++lost;
  }
  for (const Place& place : cases_) cases.push_back(find(place.label)->second);
  return lost;
}

v1::IsaKernel Function::Finish() {
  std::vector<uint32_t> cases;
  const uint32_t lost = ResolveTargets(cases);
  const LoopForest forest = FindLoops(instructions_, transfers_, cases);
  const Counts counts = CountEvents(events_, forest, instructions_);

  v1::IsaKernel kernel;
  for (const Count& row : counts.memory) AddRow(row, kernel);
  for (size_t f = 1; f < kFamilies; ++f) {
    if (counts.families[f].all == 0) continue;
    v1::FamilyCount& family = *kernel.add_families();
    family.set_family(std::string(NameOf(static_cast<Family>(f))));
    family.set_count(counts.families[f].all);
    family.set_in_loops(counts.families[f].in_loops);
  }
  Summarize(counts, *kernel.mutable_summary());
  kernel.mutable_summary()->set_loops(static_cast<int32_t>(forest.loops));
  if (forest.irreducible_edges > 0) {
    kernel.add_notes(fmt::format(
        "{} branches go back into a region with several entries: no natural "
        "loop, so counts inside loops may be low",
        forest.irreducible_edges));
  }
  if (lost > 0) {
    kernel.add_notes(fmt::format(
        "{} branches go to places that the text does not hold: loops may be "
        "missed",
        lost));
  }
  return kernel;
}

}  // namespace kernelfleet::isa
