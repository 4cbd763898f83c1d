// Two builds of a kernel in a sentence.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/isa/scan.h"
#include "common/isa/spelling.h"

namespace kernelfleet::isa {
namespace {

// What a move from one space to another leaves the same: direction, bytes,
// d16.
using Shape = std::tuple<std::string, int32_t, bool>;

struct Side {
  std::string name;
  int64_t count = 0;
};

struct Row {
  Side before;
  Side after;
};

using MemoryNames = std::map<std::string, std::pair<Shape, int64_t>>;

MemoryNames NamesOf(const v1::IsaKernel& kernel) {
  MemoryNames names;
  for (const v1::MemoryCount& memory : kernel.memory()) {
    auto& entry = names[Spell(kernel, memory)];
    entry.first = {memory.direction(), memory.bytes(), memory.d16()};
    entry.second += memory.count();
  }
  return names;
}

// Names on one side only pair up when each shape has one: the traffic moved.
std::vector<Row> MemoryRows(const v1::IsaKernel& before,
                            const v1::IsaKernel& after) {
  const MemoryNames old_names = NamesOf(before);
  const MemoryNames new_names = NamesOf(after);
  std::map<Shape, std::vector<Side>> gone, come;
  std::vector<Row> rows;
  for (const auto& [name, entry] : old_names) {
    const auto found = new_names.find(name);
    if (found == new_names.end()) {
      gone[entry.first].push_back({name, entry.second});
    } else if (found->second.second != entry.second) {
      rows.push_back({{name, entry.second}, {name, found->second.second}});
    }
  }
  for (const auto& [name, entry] : new_names) {
    if (!old_names.contains(name)) {
      come[entry.first].push_back({name, entry.second});
    }
  }
  std::vector<Row> moved;
  for (auto& [shape, sides] : gone) {
    std::vector<Side>& others = come[shape];
    if (sides.size() == 1 && others.size() == 1) {
      moved.push_back({sides[0], others[0]});
      others.clear();
      continue;
    }
    for (Side& side : sides) moved.push_back({std::move(side), {}});
  }
  for (auto& [shape, sides] : come) {
    for (Side& side : sides) moved.push_back({{}, std::move(side)});
  }
  moved.insert(moved.end(), rows.begin(), rows.end());
  return moved;
}

// Families that explain a difference; waits and the like only follow.
constexpr std::string_view kTelling[] = {
    "mfma",         "mmac",          "wmma",         "hmma",
    "imma",         "dmma",          "bmma",         "qmma",
    "omma",         "wgmma",         "tcgen05",      "cas_loop",
    "compare_swap", "tma_load",      "tma_store",    "tma_reduce",
    "bulk_copy",    "tensor_load",   "tensor_store", "matrix_load",
    "matrix_store", "lane_exchange", "barrier",      "packed_math",
    "vector_dot"};

int64_t FamilyCountOf(const v1::IsaKernel& kernel, std::string_view name) {
  for (const v1::FamilyCount& family : kernel.families()) {
    if (family.family() == name) return family.count();
  }
  return 0;
}

void AddFamilies(const v1::IsaKernel& before, const v1::IsaKernel& after,
                 std::vector<Row>& rows) {
  for (std::string_view name : kTelling) {
    const int64_t old_count = FamilyCountOf(before, name);
    const int64_t new_count = FamilyCountOf(after, name);
    if (old_count == new_count) continue;
    const std::string text(name);
    rows.push_back({{text, old_count}, {text, new_count}});
  }
}

struct ResourceName {
  const char* name;
  bool (v1::Resources::*has)() const;
  int32_t (v1::Resources::*get)() const;
};
constexpr ResourceName kResources[] = {
    {"registers", &v1::Resources::has_registers, &v1::Resources::registers},
    {"accumulator registers", &v1::Resources::has_agprs, &v1::Resources::agprs},
    {"scalar registers", &v1::Resources::has_sgprs, &v1::Resources::sgprs},
    {"spilled registers", &v1::Resources::has_vgpr_spills,
     &v1::Resources::vgpr_spills},
    {"spilled scalar registers", &v1::Resources::has_sgpr_spills,
     &v1::Resources::sgpr_spills},
    {"spill store bytes", &v1::Resources::has_spill_store_bytes,
     &v1::Resources::spill_store_bytes},
    {"spill load bytes", &v1::Resources::has_spill_load_bytes,
     &v1::Resources::spill_load_bytes},
    {"stack bytes", &v1::Resources::has_stack_bytes,
     &v1::Resources::stack_bytes},
    {"scratch bytes", &v1::Resources::has_scratch_bytes,
     &v1::Resources::scratch_bytes},
    {"shared bytes", &v1::Resources::has_shared_bytes,
     &v1::Resources::shared_bytes},
    {"waves", &v1::Resources::has_occupancy_waves,
     &v1::Resources::occupancy_waves},
};

// Only what both sides state.
void AddResources(const v1::Resources& before, const v1::Resources& after,
                  std::vector<Row>& rows) {
  for (const ResourceName& resource : kResources) {
    if (!(before.*resource.has)() || !(after.*resource.has)()) continue;
    const int32_t old_value = (before.*resource.get)();
    const int32_t new_value = (after.*resource.get)();
    if (old_value == new_value) continue;
    rows.push_back({{resource.name, old_value}, {resource.name, new_value}});
  }
}

std::string Words(const Row& row) {
  if (row.before.name.empty()) {
    return fmt::format("{} {} appeared", row.after.count, row.after.name);
  }
  if (row.after.name.empty()) {
    return fmt::format("{} {} vanished", row.before.count, row.before.name);
  }
  if (row.before.name == row.after.name) {
    return fmt::format("{} {} → {}", row.before.name, row.before.count,
                       row.after.count);
  }
  return fmt::format("{} {} → {} {}", row.before.name, row.before.count,
                     row.after.name, row.after.count);
}

}  // namespace

v1::IsaDifference Compare(const v1::IsaKernel& before,
                          const v1::IsaKernel& after) {
  std::vector<Row> rows = MemoryRows(before, after);
  AddFamilies(before, after, rows);
  AddResources(before.resources(), after.resources(), rows);
  v1::IsaDifference difference;
  for (const Row& row : rows) {
    v1::IsaChange& change = *difference.add_changes();
    change.set_before_name(row.before.name);
    change.set_before(row.before.count);
    change.set_after_name(row.after.name);
    change.set_after(row.after.count);
    std::string& sentence = *difference.mutable_sentence();
    if (!sentence.empty()) sentence += "; ";
    sentence += Words(row);
  }
  if (rows.empty()) difference.set_sentence("no change");
  return difference;
}

}  // namespace kernelfleet::isa
