#include "common/isa/sass_names.h"

#include <algorithm>
#include <iterator>

#include "common/isa/sass_table.h"
#include "common/isa/text_lines.h"

namespace kernelfleet::isa {
namespace {

constexpr bool BaseBefore(const SassRule& a, const SassRule& b) {
  return a.base < b.base;
}
static_assert(std::is_sorted(std::begin(kSassRules), std::end(kSassRules),
                             BaseBefore));

std::string_view TakeModifier(std::string_view& modifiers) {
  const size_t end = modifiers.find('.');
  const std::string_view word = modifiers.substr(0, end);
  modifiers = end == modifiers.npos ? "" : modifiers.substr(end + 1);
  return word;
}

int WidthFromModifiers(std::string_view modifiers) {
  int bytes = 4;
  while (!modifiers.empty()) {
    const std::string_view word = TakeModifier(modifiers);
    for (const SassWidthWord& width : kSassWidths) {
      if (width.word == word) bytes = width.bytes;
    }
  }
  return bytes;
}

// LDSM.16.M88.4 and .2; without a number, one matrix.
int WidthFromMatrices(std::string_view modifiers) {
  int matrices = 1;
  while (!modifiers.empty()) {
    const std::string_view word = TakeModifier(modifiers);
    if (word == "2") matrices = 2;
    if (word == "4") matrices = 4;
  }
  return 4 * matrices;
}

// LDTM.x64; LDTM.16dp256bit.x8: four registers for each .x1.
int WidthFromTensorShape(std::string_view modifiers) {
  int registers = 1;
  int count = 1;
  while (!modifiers.empty()) {
    std::string_view word = TakeModifier(modifiers);
    if (word.find("dp128bit") != word.npos) registers = 2;
    if (word.find("dp256bit") != word.npos) registers = 4;
    if (word.starts_with("x")) {
      word.remove_prefix(1);
      count = std::clamp(TakeDecimal(word).value_or(1), 1, 128);
    }
  }
  return 4 * registers * count;
}

bool Has(std::string_view modifiers, std::string_view wanted) {
  while (!modifiers.empty()) {
    if (TakeModifier(modifiers) == wanted) return true;
  }
  return false;
}

// Where one base does several things.
Family FamilyFromModifiers(std::string_view base, std::string_view modifiers,
                           Family family) {
  if (base == "WARPGROUP" && Has(modifiers, "ARRIVE")) return Family::kFence;
  if (base == "BAR" && Has(modifiers, "ARV")) return Family::kBarrierArrive;
  if (base.starts_with("ATOM") &&
      (Has(modifiers, "CAS") || Has(modifiers, "CAST"))) {
    return Family::kCompareSwap;
  }
  return family;
}

}  // namespace

Meaning ClassifySass(std::string_view mnemonic) {
  std::string_view modifiers = mnemonic;
  const std::string_view base = TakeModifier(modifiers);
  const auto rule =
      std::lower_bound(std::begin(kSassRules), std::end(kSassRules),
                       SassRule{base, {}}, BaseBefore);
  if (rule == std::end(kSassRules) || rule->base != base) return Meaning{};
  Meaning meaning = rule->meaning;
  meaning.family = FamilyFromModifiers(base, modifiers, meaning.family);
  int bytes = 0;
  switch (rule->width) {
    case SassWidth::kNone:
      break;
    case SassWidth::kModifier:
      bytes = WidthFromModifiers(modifiers);
      break;
    case SassWidth::kMatrices:
      bytes = WidthFromMatrices(modifiers);
      break;
    case SassWidth::kTensorMemory:
      bytes = WidthFromTensorShape(modifiers);
      break;
  }
  meaning.bytes = static_cast<uint16_t>(bytes);
  return meaning;
}

}  // namespace kernelfleet::isa
