// TTIR, the first IR of Triton, as a tree: what the reader makes from text and
// what the lowering walks.
//
// A Module points into the text that it was read from; keep the text alive.
#ifndef KERNELFLEET_COMMON_TILEIR_TTIR_H_
#define KERNELFLEET_COMMON_TILEIR_TTIR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kernelfleet::tileir::ttir {

enum class Scalar : uint8_t {
  kNone,
  kI1,
  kI4,
  kI8,
  kI16,
  kI32,
  kI64,
  kF16,
  kBF16,
  kF32,
  kTF32,  // Never written in TTIR; the operand type of a Tile IR mmaf.
  kF64,
  kF8E4M3FN,
  kF8E5M2,
  kF8E8M0FNU,
  kF4E2M1FN,
};

// "f16" and so on; "none" for kNone.
std::string_view Name(Scalar scalar);
int Bits(Scalar scalar);
bool IsInteger(Scalar scalar);
bool IsFloat(Scalar scalar);

struct Type {
  enum class Kind : uint8_t {
    kNone,
    // A scalar or a tensor, of numbers or of pointers to numbers.
    kValue,
    // !tt.tensordesc<shape x scalar>
    kDescriptor,
    // Anything else; `text` is its spelling.
    kOther,
  };
  Kind kind = Kind::kNone;
  Scalar scalar = Scalar::kNone;
  bool pointer = false;
  bool tensor = false;
  std::vector<int64_t> shape;
  std::string_view text;

  bool operator==(const Type& other) const {
    return kind == other.kind && scalar == other.scalar &&
           pointer == other.pointer && tensor == other.tensor &&
           shape == other.shape && text == other.text;
  }
};

// As Triton would print it.
std::string Spell(const Type& type);
int64_t ElementCount(const Type& type);

using ValueId = int32_t;

struct Attribute {
  enum class Kind : uint8_t {
    kUnit,
    kBool,
    kInteger,
    // `text` is the literal: decimal, or hex bits.
    kFloat,
    // `text` is without quotes, escapes undone in `owned` when there are any.
    kString,
    // A bare word: slt, acq_rel, none.
    kWord,
    // @name, without the at sign.
    kSymbol,
    // [a, b], array<i32: a, b>, dense<[a, b]>.
    kArray,
    // dense<a>: one item, or kArray items; `type` is the tensor's.
    kDense,
    // Anything else that was skipped over.
    kOther,
  };
  Kind kind = Kind::kUnit;
  int64_t integer = 0;
  std::string_view text;
  std::string owned;
  Type type;
  std::vector<Attribute> items;

  std::string_view string() const {
    return owned.empty() ? text : std::string_view(owned);
  }
};

struct Region;

struct Successor {
  int block = 0;
  std::vector<ValueId> arguments;
};

struct Op {
  // "arith.addi"
  std::string_view name;
  // In the order of the operation's definition, in both forms.
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<std::pair<std::string_view, Attribute>> attributes;
  std::vector<Region> regions;
  std::vector<Successor> successors;
  // The text inside loc(…), or an alias; see Module::Resolve.
  std::string_view location;

  // Null when absent.
  const Attribute* Find(std::string_view key) const;
};

struct Block {
  std::vector<ValueId> arguments;
  std::vector<Op> ops;
};

struct Region {
  std::vector<Block> blocks;
};

struct Value {
  Type type;
  // Of the text, without the percent sign.
  std::string_view name;
};

struct Argument {
  ValueId value = 0;
  std::vector<std::pair<std::string_view, Attribute>> attributes;
};

struct Function {
  std::string name;
  bool is_public = false;
  std::vector<Argument> arguments;
  std::vector<Type> results;
  Region body;
  std::string_view location;
};

struct SourceLine {
  std::string file;
  int line = 0;
};

struct Module {
  std::vector<Function> functions;
  std::vector<Value> values;
  // "#loc12" → the text inside its loc(…).
  std::unordered_map<std::string_view, std::string_view> locations;

  // The line of the user's source for a location: the innermost frame outside
  // Triton's own library. Line 0 when unknown.
  SourceLine Resolve(std::string_view location) const;
  // The function that a tt.call names; null when there is none.
  const Function* Callee(const Op& call) const;
  const Type& TypeOf(ValueId value) const {
    return values[static_cast<size_t>(value)].type;
  }
};

}  // namespace kernelfleet::tileir::ttir

#endif  // KERNELFLEET_COMMON_TILEIR_TTIR_H_
