#include "common/isa/amdgcn_names.h"

#include <span>

#include "common/isa/amdgcn_table.h"

namespace kernelfleet::isa {
namespace {

// The rule that fits; `name` moves past its prefix.
const PrefixRule* Match(std::span<const PrefixRule> rules,
                        std::string_view& name) {
  for (const PrefixRule& rule : rules) {
    if (name.starts_with(rule.prefix)) {
      name.remove_prefix(rule.prefix.size());
      return &rule;
    }
  }
  return nullptr;
}

int WidthOf(std::string_view word) {
  for (const WidthWord& width : kWidthWords) {
    if (width.word == word) return width.bytes;
  }
  return 0;
}

// Reads the words behind the verb: width, d16, lds.
void ReadWords(std::string_view words, Meaning& meaning) {
  bool formatted = false;
  // Hygon's matrix reads (ds_read_m32x16_b16) name an element, not a lane.
  bool matrix = false;
  int bytes = 0;
  while (!words.empty()) {
    const size_t end = words.find('_');
    const std::string_view word = words.substr(0, end);
    words = end == words.npos ? "" : words.substr(end + 1);
    if (word == "d16") meaning.d16 = true;
    if (word == "lds") meaning.to_lds = true;
    if (word == "format") formatted = true;
    if (word.size() > 2 && word[0] == 'm' && word[1] >= '0' && word[1] <= '9') {
      matrix = true;
    }
    if (bytes == 0) bytes = WidthOf(word);
  }
  if (formatted && meaning.d16) bytes /= 2;
  meaning.bytes = static_cast<uint16_t>(matrix ? 0 : bytes);
}

Meaning ScalarMeaning(std::string_view name) {
  const PrefixRule* rule = Match(kScalarRules, name);
  Meaning meaning = rule->meaning;
  if (meaning.space != Space::kNone) {
    ReadWords(name, meaning);
    if (meaning.bytes == 0) meaning.bytes = 4;
  }
  return meaning;
}

Meaning VectorMeaning(std::string_view name) {
  std::string_view rest = name;
  const PrefixRule* rule = Match(kVectorRules, rest);
  Meaning meaning = rule->meaning;
  // Data-parallel primitives: the operand comes from another lane.
  if (meaning.family == Family::kNone && rest.find("_dpp") != rest.npos) {
    meaning.family = Family::kLaneExchange;
  }
  return meaning;
}

Meaning SharedMeaning(std::string_view name) {
  name.remove_prefix(3);
  Meaning meaning = Match(kSharedRules, name)->meaning;
  if (meaning.space == Space::kNone) return meaning;
  ReadWords(name, meaning);
  const bool atomic = meaning.direction == Direction::kAtomic;
  // ds_read2_b64, ds_read2st64_b64, ds_load_2addr_b64: two at once.
  if (!atomic && (name.starts_with("2") || name.starts_with("_2addr"))) {
    meaning.bytes = static_cast<uint16_t>(meaning.bytes * 2);
  }
  if (atomic && meaning.bytes == 0) meaning.bytes = 4;
  return meaning;
}

Meaning VectorMemoryMeaning(std::string_view name) {
  if (const PrefixRule* cache = Match(kCacheRules, name)) return cache->meaning;
  const PrefixRule* space = Match(kSpaceRules, name);
  if (space == nullptr) return kUnknownInstruction;
  const PrefixRule* verb = Match(kVectorMemoryRules, name);
  // gfx1250: cluster_load_…; a cluster's barriers are scalar.
  if (verb == nullptr) return kUnknownInstruction;
  Meaning meaning = space->meaning;
  meaning.direction = verb->meaning.direction;
  if (verb->meaning.family != Family::kNone) {
    meaning.family = verb->meaning.family;
  }
  ReadWords(name, meaning);
  if (meaning.direction == Direction::kAtomic && meaning.bytes == 0) {
    meaning.bytes = 4;
  }
  return meaning;
}

}  // namespace

Meaning ClassifyAmdgcn(std::string_view mnemonic) {
  if (mnemonic.size() < 3) return kUnknownInstruction;
  if (mnemonic.starts_with("s_")) return ScalarMeaning(mnemonic);
  if (mnemonic.starts_with("v_")) return VectorMeaning(mnemonic);
  if (mnemonic.starts_with("ds_")) return SharedMeaning(mnemonic);
  const Meaning memory = VectorMemoryMeaning(mnemonic);
  if (memory.known) return memory;
  std::string_view name = mnemonic;
  const PrefixRule* other = Match(kOtherRules, name);
  return other == nullptr ? kUnknownInstruction : other->meaning;
}

}  // namespace kernelfleet::isa
