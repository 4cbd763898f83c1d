// One function being read: its instructions as they come, then its counts.
#ifndef KERNELFLEET_COMMON_ISA_FUNCTION_H_
#define KERNELFLEET_COMMON_ISA_FUNCTION_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/isa/flow.h"
#include "common/isa/meaning.h"
#include "kernelfleet/v1/isa.pb.h"

namespace kernelfleet::isa {

// An instruction worth counting.
struct Event {
  uint32_t at = 0;
  Meaning meaning;
  // The dialect's own mark, for what only the whole function can decide.
  uint8_t mark = 0;
};

// Keeps views into the text. Reusable: Start() forgets the last function.
class Function {
 public:
  void Start(std::string_view symbol);
  std::string_view symbol() const { return symbol_; }
  uint32_t instructions() const { return instructions_; }
  uint64_t last_address() const { return last_address_; }

  // The next instruction's name or address. Addresses are needed only where
  // branches name them.
  void Label(std::string_view name) {
    labels_.emplace_back(name, instructions_);
  }
  void Address(uint64_t address) {
    addresses_.emplace_back(address, instructions_);
    last_address_ = address;
  }

  void Add(const Meaning& meaning, uint8_t mark = 0) {
    if (meaning.space != Space::kNone || meaning.family != Family::kNone) {
      events_.push_back({instructions_, meaning, mark});
    }
    if (meaning.flow != Flow::kNext) {
      transfers_.push_back({instructions_, meaning.flow, kNowhere});
      targets_.push_back({});
    }
    ++instructions_;
  }
  // Where the transfer just added goes.
  void Target(std::string_view label) { targets_.back().label = label; }
  void Target(uint64_t address) {
    targets_.back() = {.label = {}, .address = address, .by_address = true};
  }
  // One more target of indirect jumps.
  void Case(std::string_view label) { cases_.push_back({.label = label}); }

  std::span<Event> events() { return events_; }

  // Counts, summary and notes. What is missing is left for the dialect.
  v1::IsaKernel Finish();

 private:
  struct Place {
    std::string_view label;
    uint64_t address = 0;
    bool by_address = false;
  };
  // Returns how many jumps lead to no known place.
  uint32_t ResolveTargets(std::vector<uint32_t>& cases);
  uint32_t AtAddress(uint64_t address) const;

  std::string_view symbol_;
  uint32_t instructions_ = 0;
  uint64_t last_address_ = 0;
  std::vector<Event> events_;
  std::vector<Transfer> transfers_;
  // Of the transfers, one each.
  std::vector<Place> targets_;
  std::vector<Place> cases_;
  std::vector<std::pair<std::string_view, uint32_t>> labels_;
  std::vector<std::pair<uint64_t, uint32_t>> addresses_;
};

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_FUNCTION_H_
