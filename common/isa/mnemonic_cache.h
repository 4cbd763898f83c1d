// Remembers what mnemonics mean. A kernel repeats a few hundred spellings
// hundreds of thousands of times; the tables can then be written for readers.
#ifndef KERNELFLEET_COMMON_ISA_MNEMONIC_CACHE_H_
#define KERNELFLEET_COMMON_ISA_MNEMONIC_CACHE_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "common/isa/meaning.h"

namespace kernelfleet::isa {

// Direct-mapped: a collision costs one more classification. Keys are views
// into the text that is being read.
class MnemonicCache {
 public:
  using Classify = Meaning (*)(std::string_view mnemonic);
  explicit MnemonicCache(Classify classify) : classify_(classify) {}

  const Meaning& Of(std::string_view mnemonic) {
    Slot& slot = slots_[Hash(mnemonic) % slots_.size()];
    if (slot.mnemonic != mnemonic) {
      slot = {mnemonic, classify_(mnemonic)};
    }
    return slot.meaning;
  }

 private:
  struct Slot {
    std::string_view mnemonic;
    Meaning meaning = kUnknownInstruction;
  };
  // The first and the last eight bytes tell almost all mnemonics apart.
  static size_t Hash(std::string_view text) {
    uint64_t head = 0, tail = 0;
    if (text.size() >= 8) {
      std::memcpy(&head, text.data(), 8);
      std::memcpy(&tail, text.data() + text.size() - 8, 8);
    } else {
      std::memcpy(&head, text.data(), text.size());
    }
    head = (head + text.size()) * 0x9E3779B97F4A7C15u;
    tail *= 0xC2B2AE3D27D4EB4Fu;
    return (head ^ tail) >> 40;
  }

  Classify classify_;
  std::array<Slot, 1024> slots_;
};

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_MNEMONIC_CACHE_H_
