// Characters of MLIR text to words, types and attributes: the half of the TTIR
// reader that knows no operation.
#ifndef KERNELFLEET_COMMON_TILEIR_TTIR_SCAN_H_
#define KERNELFLEET_COMMON_TILEIR_TTIR_SCAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/tileir/ttir.h"

namespace kernelfleet::tileir::ttir {

using NamedAttributes = std::vector<std::pair<std::string_view, Attribute>>;

// Not thread-safe. Every Take… skips blanks and // comments first.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Next character after blanks; 0 at the end.
  char Peek();
  bool AtEnd() { return Peek() == 0; }
  // True, and moves past it, when the text goes on with `word`.
  bool Accept(std::string_view word);
  // Like Accept for a bare word: `to` does not match `total`.
  bool AcceptWord(std::string_view word);
  absl::Status Expect(std::string_view word);

  // [A-Za-z_][A-Za-z0-9_.$]*; empty when there is none.
  std::string_view TakeWord();
  // %name without the sign; empty when there is none. `part` is the number
  // after '#', or 0.
  std::string_view TakeValueName(int64_t* part);
  // ^name without the sign.
  std::string_view TakeBlockName();
  // Between quotes, escapes as written.
  absl::StatusOr<std::string_view> TakeString();
  absl::StatusOr<int64_t> TakeInteger();

  absl::StatusOr<Type> TakeType();
  // (a, b) or a.
  absl::StatusOr<std::vector<Type>> TakeTypeList();
  // Adds the types of "a, b * c -> d to e" up to the end of the operation.
  // `results` gets those after "->" or "to", with `arrow` set.
  absl::Status TakeTypes(std::vector<Type>* before, std::vector<Type>* results,
                         bool* arrow);

  // True when loc(…) is next.
  bool AtLocation();
  // True when "%a =", "%a:2 =", "%a, %b =", a quoted or dotted operation, a
  // block label or a closing brace is next: the operation before has ended.
  bool AtStatement();

  // With the ": type" that may follow.
  absl::StatusOr<Attribute> TakeAttribute() { return TakeAttribute(0); }
  // Without it: the colon belongs to the operation.
  absl::StatusOr<Attribute> TakeAttributeValue() { return TakeUntyped(0); }
  // {a = 1 : i32, b}; the opening brace is next.
  absl::Status TakeDictionary(NamedAttributes* into);
  // The text inside loc(…); empty when there is no loc next.
  absl::StatusOr<std::string_view> TakeLocation();
  // Moves past a balanced group whose opening bracket is next; what it spans.
  absl::StatusOr<std::string_view> SkipGroup();

  absl::Status Fail(std::string_view what) const;
  size_t position() const { return position_; }
  std::string_view Since(size_t start) const {
    return text_.substr(start, position_ - start);
  }

 private:
  absl::StatusOr<Attribute> TakeAttribute(int depth);
  absl::StatusOr<Attribute> TakeUntyped(int depth);
  absl::StatusOr<Attribute> TakeNumber();
  absl::StatusOr<Attribute> TakeDense(int depth);
  absl::StatusOr<Attribute> TakeArray(int depth);
  absl::StatusOr<Attribute> TakeWordAttribute(int depth);
  absl::StatusOr<Type> TakeTypeInside();
  absl::StatusOr<Type> TakeShaped(Type::Kind kind);
  absl::Status TakeDimensions(Type* type);
  void SkipBlanks();

  std::string_view text_;
  size_t position_ = 0;
  int type_depth_ = 0;
};

// Undoes \n, \t, \", \\ and \XX.
std::string Unescape(std::string_view text);

}  // namespace kernelfleet::tileir::ttir

#endif  // KERNELFLEET_COMMON_TILEIR_TTIR_SCAN_H_
