// Types and attributes of MLIR text.
#include <array>
#include <cctype>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/tileir/ttir_scan.h"
#include "fmt/format.h"

namespace kernelfleet::tileir::ttir {
namespace {

// Attributes and types nest this deep at most.
constexpr int kMaxDepth = 32;
// Triton's own limit is 2^20 elements; Tile IR's 2^24.
constexpr int64_t kMaxElements = int64_t{1} << 26;

constexpr std::array<Scalar, 14> kSpelled = {
    Scalar::kI1,        Scalar::kI4,      Scalar::kI8,       Scalar::kI16,
    Scalar::kI32,       Scalar::kI64,     Scalar::kF16,      Scalar::kBF16,
    Scalar::kF32,       Scalar::kF64,     Scalar::kF8E4M3FN, Scalar::kF8E5M2,
    Scalar::kF8E8M0FNU, Scalar::kF4E2M1FN};

Scalar ScalarOf(std::string_view word) {
  for (const Scalar scalar : kSpelled) {
    if (Name(scalar) == word) return scalar;
  }
  return Scalar::kNone;
}

}  // namespace

// "128x64x" before an element type.
absl::Status Scanner::TakeDimensions(Type* type) {
  int64_t count = 1;
  while (std::isdigit(static_cast<unsigned char>(Peek())) != 0) {
    KF_ASSIGN_OR_RETURN(const int64_t extent, TakeInteger());
    if (extent <= 0 || extent > kMaxElements / count) {
      return Fail("expected a tensor of a sensible size");
    }
    count *= extent;
    type->shape.push_back(extent);
    KF_RETURN_IF_ERROR(Expect("x"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Type> Scanner::TakeShaped(Type::Kind kind) {
  Type type;
  type.kind = kind;
  type.tensor = kind == Type::Kind::kValue;
  KF_RETURN_IF_ERROR(Expect("<"));
  if (kind == Type::Kind::kDescriptor && Accept("tensor<")) {
    // Up to Triton 3.8: !tt.tensordesc<tensor<128x64xf16>>.
    KF_RETURN_IF_ERROR(TakeDimensions(&type));
    KF_ASSIGN_OR_RETURN(const Type element, TakeType());
    type.scalar = element.scalar;
    KF_RETURN_IF_ERROR(Expect(">"));
  } else {
    KF_RETURN_IF_ERROR(TakeDimensions(&type));
    KF_ASSIGN_OR_RETURN(const Type element, TakeType());
    if (element.kind != Type::Kind::kValue || element.tensor) {
      return Fail("expected an element type");
    }
    type.scalar = element.scalar;
    type.pointer = element.pointer;
  }
  if (Accept(",")) {  // A layout; TTIR proper has none.
    KF_ASSIGN_OR_RETURN(const Attribute ignored, TakeAttribute());
    (void)ignored;
  }
  KF_RETURN_IF_ERROR(Expect(">"));
  return type;
}

absl::StatusOr<Type> Scanner::TakeType() {
  if (type_depth_ > kMaxDepth) return Fail("types nest too deep");
  ++type_depth_;
  absl::StatusOr<Type> type = TakeTypeInside();
  --type_depth_;
  return type;
}

absl::StatusOr<Type> Scanner::TakeTypeInside() {
  Type type;
  type.kind = Type::Kind::kValue;
  const char next = Peek();
  const size_t start = position_;
  if (next == '<') {  // The short form inside an operation of its dialect.
    return TakeShaped(Type::Kind::kDescriptor);
  }
  Accept("!");
  const std::string_view word = TakeWord();
  if (word == "tensor") return TakeShaped(Type::Kind::kValue);
  if (word == "tt.tensordesc") return TakeShaped(Type::Kind::kDescriptor);
  if (word == "tt.ptr") {
    KF_RETURN_IF_ERROR(Expect("<"));
    KF_ASSIGN_OR_RETURN(const Type pointee, TakeType());
    if (Accept(",")) {
      KF_ASSIGN_OR_RETURN(const int64_t space, TakeInteger());
      (void)space;
    }
    KF_RETURN_IF_ERROR(Expect(">"));
    if (pointee.kind == Type::Kind::kValue && !pointee.tensor &&
        !pointee.pointer) {
      type.scalar = pointee.scalar;
      type.pointer = true;
      return type;
    }
    type.kind = Type::Kind::kOther;
    type.text = Since(start);
    return type;
  }
  type.scalar = ScalarOf(word);
  if (type.scalar != Scalar::kNone) return type;
  if (word.empty()) return Fail("expected a type");
  type.kind = word == "none" ? Type::Kind::kNone : Type::Kind::kOther;
  if (position_ < text_.size() && text_[position_] == '<') {
    KF_ASSIGN_OR_RETURN(const std::string_view ignored, SkipGroup());
    (void)ignored;
  }
  type.text = Since(start);
  return type;
}

absl::StatusOr<std::vector<Type>> Scanner::TakeTypeList() {
  std::vector<Type> types;
  if (!Accept("(")) {
    KF_ASSIGN_OR_RETURN(Type type, TakeType());
    types.push_back(std::move(type));
    return types;
  }
  if (Accept(")")) return types;
  do {
    KF_ASSIGN_OR_RETURN(Type type, TakeType());
    types.push_back(std::move(type));
  } while (Accept(","));
  KF_RETURN_IF_ERROR(Expect(")"));
  return types;
}

absl::Status Scanner::TakeTypes(std::vector<Type>* before,
                                std::vector<Type>* results, bool* arrow) {
  std::vector<Type>* into = before;
  while (true) {
    if (Accept("->") || AcceptWord("to")) {
      *arrow = true;
      into = results;
    }
    KF_ASSIGN_OR_RETURN(std::vector<Type> types, TakeTypeList());
    for (Type& type : types) into->push_back(std::move(type));
    if (Accept(",") || Accept("*")) continue;
    if (Peek() == '-' || text_.substr(position_).starts_with("to ")) continue;
    return absl::OkStatus();
  }
}

absl::StatusOr<Attribute> Scanner::TakeNumber() {
  SkipBlanks();
  const size_t start = position_;
  Accept("-");
  bool floating = false;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    const bool sign = (c == '+' || c == '-') && (text_[position_ - 1] == 'e' ||
                                                 text_[position_ - 1] == 'E');
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && !sign) {
      break;
    }
    floating |= c == '.' || c == 'x';
    ++position_;
  }
  Attribute attribute;
  attribute.text = Since(start);
  attribute.kind =
      floating ? Attribute::Kind::kFloat : Attribute::Kind::kInteger;
  if (!floating) {
    const std::optional<int64_t> value = ParseInt(attribute.text);
    if (!value.has_value()) return Fail("expected a number");
    attribute.integer = *value;
  }
  return attribute;
}

absl::StatusOr<Attribute> Scanner::TakeArray(int depth) {
  Attribute attribute;
  attribute.kind = Attribute::Kind::kArray;
  if (Accept("]")) return attribute;
  do {
    KF_ASSIGN_OR_RETURN(Attribute item, TakeAttribute(depth + 1));
    attribute.items.push_back(std::move(item));
  } while (Accept(","));
  KF_RETURN_IF_ERROR(Expect("]"));
  return attribute;
}

absl::StatusOr<Attribute> Scanner::TakeDense(int depth) {
  Attribute attribute;
  attribute.kind = Attribute::Kind::kDense;
  KF_RETURN_IF_ERROR(Expect("<"));
  if (!Accept(">")) {
    KF_ASSIGN_OR_RETURN(Attribute item, TakeAttribute(depth + 1));
    attribute.items.push_back(std::move(item));
    KF_RETURN_IF_ERROR(Expect(">"));
  }
  return attribute;
}

absl::StatusOr<Attribute> Scanner::TakeWordAttribute(int depth) {
  Attribute attribute;
  const size_t start = position_;
  const std::string_view word = TakeWord();
  attribute.text = word;
  if (word == "true" || word == "false") {
    attribute.kind = Attribute::Kind::kBool;
    attribute.integer = word == "true" ? 1 : 0;
  } else if (word == "unit") {
    attribute.kind = Attribute::Kind::kUnit;
  } else if (word == "dense") {
    return TakeDense(depth);
  } else if (word == "array") {  // array<i32: 1, 0>
    attribute.kind = Attribute::Kind::kArray;
    KF_RETURN_IF_ERROR(Expect("<"));
    if (TakeWord().empty()) return Fail("expected an element type");
    if (Accept(":")) {
      do {
        KF_ASSIGN_OR_RETURN(Attribute item, TakeAttribute(depth + 1));
        attribute.items.push_back(std::move(item));
      } while (Accept(","));
    }
    KF_RETURN_IF_ERROR(Expect(">"));
  } else {
    attribute.kind = Attribute::Kind::kWord;
    if (position_ < text_.size() && text_[position_] == '<') {
      KF_ASSIGN_OR_RETURN(const std::string_view ignored, SkipGroup());
      (void)ignored;
      attribute.kind = Attribute::Kind::kOther;
      attribute.text = Since(start);
    }
  }
  return attribute;
}

absl::StatusOr<Attribute> Scanner::TakeAttribute(int depth) {
  KF_ASSIGN_OR_RETURN(Attribute attribute, TakeUntyped(depth));
  if (Accept(":")) {
    KF_ASSIGN_OR_RETURN(attribute.type, TakeType());
  }
  return attribute;
}

absl::StatusOr<Attribute> Scanner::TakeUntyped(int depth) {
  if (depth > kMaxDepth) return Fail("attributes nest too deep");
  const char next = Peek();
  Attribute attribute;
  const size_t start = position_;
  if (next == '"') {
    KF_ASSIGN_OR_RETURN(attribute.text, TakeString());
    attribute.kind = Attribute::Kind::kString;
    if (attribute.text.find('\\') != std::string_view::npos) {
      attribute.owned = Unescape(attribute.text);
    }
  } else if (next == '@') {
    Accept("@");
    attribute.kind = Attribute::Kind::kSymbol;
    if (Peek() == '"') {
      KF_ASSIGN_OR_RETURN(attribute.text, TakeString());
    } else {
      attribute.text = TakeWord();
    }
  } else if (next == '[') {
    Accept("[");
    KF_ASSIGN_OR_RETURN(attribute, TakeArray(depth));
  } else if (next == '{' || next == '(') {
    attribute.kind = Attribute::Kind::kOther;
    KF_ASSIGN_OR_RETURN(attribute.text, SkipGroup());
    if (Accept("->")) {  // A function type.
      KF_ASSIGN_OR_RETURN(const std::vector<Type> ignored, TakeTypeList());
      (void)ignored;
    }
  } else if (next == '-' || std::isdigit(static_cast<unsigned char>(next))) {
    KF_ASSIGN_OR_RETURN(attribute, TakeNumber());
  } else if (next == '!' || next == '#') {
    ++position_;
    if (TakeWord().empty()) return Fail("expected an attribute");
    // #tt.padding<nan>: the word inside is what matters.
    std::string_view inside;
    if (position_ < text_.size() && text_[position_] == '<') {
      KF_ASSIGN_OR_RETURN(inside, SkipGroup());
      inside = Trim(inside.substr(1, inside.size() - 2));
    }
    attribute.kind =
        inside.empty() ? Attribute::Kind::kOther : Attribute::Kind::kWord;
    attribute.text = inside.empty() ? Since(start) : inside;
  } else {
    KF_ASSIGN_OR_RETURN(attribute, TakeWordAttribute(depth));
    if (attribute.text.empty() && attribute.kind == Attribute::Kind::kWord) {
      return Fail("expected an attribute");
    }
  }
  return attribute;
}

absl::Status Scanner::TakeDictionary(NamedAttributes* into) {
  KF_RETURN_IF_ERROR(Expect("{"));
  if (Accept("}")) return absl::OkStatus();
  do {
    std::string_view key;
    if (Peek() == '"') {
      KF_ASSIGN_OR_RETURN(key, TakeString());
    } else {
      key = TakeWord();
    }
    if (key.empty()) return Fail("expected an attribute's name");
    Attribute value;
    if (Accept("=")) {
      KF_ASSIGN_OR_RETURN(value, TakeAttribute(0));
    }
    into->emplace_back(key, std::move(value));
  } while (Accept(","));
  return Expect("}");
}

}  // namespace kernelfleet::tileir::ttir
