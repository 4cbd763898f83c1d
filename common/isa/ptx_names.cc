#include "common/isa/ptx_names.h"

#include <optional>

#include "common/isa/ptx_table.h"
#include "common/isa/text_lines.h"

namespace kernelfleet::isa {
namespace {

const PtxRule* RuleOf(std::string_view operation) {
  for (const PtxRule& rule : kPtxRules) {
    if (!operation.starts_with(rule.name)) continue;
    const std::string_view rest = operation.substr(rule.name.size());
    if (rest.empty() || rest[0] == '.' || rest[0] == ':') return &rule;
  }
  return nullptr;
}

std::string_view TakeModifier(std::string_view& modifiers) {
  if (modifiers.starts_with(".")) modifiers.remove_prefix(1);
  const size_t end = modifiers.find('.');
  const std::string_view word = modifiers.substr(0, end);
  modifiers = end == modifiers.npos ? "" : modifiers.substr(end);
  return word;
}

// Number behind `prefix` when that is all of `word`: v4 → 4, x128 → 128.
std::optional<int> NumberAfter(char prefix, std::string_view word) {
  if (word.size() < 2 || word[0] != prefix) return std::nullopt;
  word.remove_prefix(1);
  const std::optional<int> number = TakeDecimal(word);
  return word.empty() ? number : std::nullopt;
}

// Bytes of b32, u8, f64, bf16x2, b128; 0 for other words.
int TypeBytes(std::string_view word) {
  if (word.starts_with("bf16")) word.remove_prefix(1);
  if (word.size() < 2) return 0;
  const char kind = word[0];
  if (kind != 'b' && kind != 'u' && kind != 's' && kind != 'f') return 0;
  word.remove_prefix(1);
  const int bits = TakeDecimal(word).value_or(0);
  if (bits % 8 != 0 || bits > 256) return 0;
  if (word == "x2") return bits / 4;
  return word.empty() ? bits / 8 : 0;
}

void ReadTyped(std::string_view modifiers, Meaning& meaning) {
  int lanes = 1;
  int bytes = 0;
  bool placed = false;
  while (!modifiers.empty()) {
    const std::string_view word = TakeModifier(modifiers);
    for (const PtxSpace& space : kPtxSpaces) {
      if (space.word != word || placed) continue;
      meaning.space = space.space;
      placed = true;
    }
    if (const auto vector = NumberAfter('v', word)) lanes = *vector;
    // The last type: ld.acquire.…; atom.cas.b32.
    if (const int type = TypeBytes(word)) bytes = type;
  }
  meaning.bytes = static_cast<uint16_t>(lanes <= 8 ? lanes * bytes : 0);
  meaning.spill = meaning.space == Space::kLocal;
}

bool HasModifier(std::string_view modifiers, std::string_view wanted) {
  while (!modifiers.empty()) {
    if (TakeModifier(modifiers) == wanted) return true;
  }
  return false;
}

void ReadMatrix(std::string_view modifiers, Meaning& meaning) {
  while (!modifiers.empty()) {
    const std::string_view word = TakeModifier(modifiers);
    if (const auto count = NumberAfter('x', word)) {
      meaning.bytes = static_cast<uint16_t>(*count <= 4 ? *count * 4 : 0);
    }
  }
}

// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: result, A, B, addend.
void ReadMma(std::string_view modifiers, Meaning& meaning) {
  while (!modifiers.empty()) {
    const std::string_view word = TakeModifier(modifiers);
    for (const PtxMmaType& type : kPtxMmaTypes) {
      if (type.type == word) meaning.family = type.family;
    }
  }
}

void ReadTensorMemory(std::string_view modifiers, Meaning& meaning) {
  int registers = 0;
  int count = 1;
  while (!modifiers.empty()) {
    const std::string_view word = TakeModifier(modifiers);
    for (const PtxTensorShape& shape : kPtxTensorShapes) {
      if (shape.shape == word) registers = shape.registers;
    }
    if (const auto times = NumberAfter('x', word)) count = *times;
  }
  if (count <= 128) {
    meaning.bytes = static_cast<uint16_t>(4 * registers * count);
  }
}

// cp.async.bulk[.tensor.2d].shared::cluster.global…: to, then from.
void ReadBulkCopy(std::string_view modifiers, Meaning& meaning) {
  while (!modifiers.empty()) {
    const std::string_view word = TakeModifier(modifiers);
    if (word.starts_with("shared")) return;
    if (word == "global") {
      meaning.family = Family::kTmaStore;
      return;
    }
  }
}

}  // namespace

Meaning ClassifyPtx(std::string_view operation) {
  const PtxRule* rule = RuleOf(operation);
  if (rule == nullptr) return Meaning{};
  Meaning meaning = rule->meaning;
  const std::string_view modifiers = operation.substr(rule->name.size());
  switch (rule->shape) {
    case PtxShape::kPlain:
      if (meaning.family == Family::kTmaLoad) ReadBulkCopy(modifiers, meaning);
      break;
    case PtxShape::kTyped:
      ReadTyped(modifiers, meaning);
      break;
    case PtxShape::kAtomic:
      ReadTyped(modifiers, meaning);
      if (HasModifier(modifiers, "cas")) meaning.family = Family::kCompareSwap;
      break;
    case PtxShape::kMatrix:
      ReadMatrix(modifiers, meaning);
      break;
    case PtxShape::kMma:
      ReadMma(modifiers, meaning);
      break;
    case PtxShape::kTensorMemory:
      ReadTensorMemory(modifiers, meaning);
      break;
  }
  return meaning;
}

}  // namespace kernelfleet::isa
