#include "common/tileir/ttir_scan.h"

#include <algorithm>
#include <cctype>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace kernelfleet::tileir::ttir {
namespace {

bool IsWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool IsWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         c == '.' || c == '$';
}
bool IsValuePart(char c) { return IsWordPart(c) || c == '-'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Scanner::SkipBlanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position_;
    } else if (text_.substr(position_).starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

char Scanner::Peek() {
  SkipBlanks();
  return position_ < text_.size() ? text_[position_] : '\0';
}

bool Scanner::Accept(std::string_view word) {
  SkipBlanks();
  if (!text_.substr(position_).starts_with(word)) return false;
  position_ += word.size();
  return true;
}

bool Scanner::AcceptWord(std::string_view word) {
  SkipBlanks();
  const std::string_view rest = text_.substr(position_);
  if (!rest.starts_with(word)) return false;
  if (rest.size() > word.size() && IsWordPart(rest[word.size()])) return false;
  position_ += word.size();
  return true;
}

absl::Status Scanner::Expect(std::string_view word) {
  if (Accept(word)) return absl::OkStatus();
  return Fail(fmt::format("expected '{}'", word));
}

absl::Status Scanner::Fail(std::string_view what) const {
  const std::string_view seen =
      text_.substr(0, std::min(position_, text_.size()));
  const auto line = std::count(seen.begin(), seen.end(), '\n') + 1;
  const size_t start = seen.rfind('\n');
  const size_t column =
      start == std::string_view::npos ? seen.size() + 1 : seen.size() - start;
  std::string_view next = text_.substr(seen.size());
  next = next.substr(0, std::min<size_t>(next.find('\n'), 24));
  return InvalidArgument(fmt::format("TTIR line {}, column {}: {}, found '{}'",
                                     line, column, what, Printable(next)));
}

std::string_view Scanner::TakeWord() {
  SkipBlanks();
  const size_t start = position_;
  if (start >= text_.size() || !IsWordStart(text_[start])) return {};
  while (position_ < text_.size() && IsWordPart(text_[position_])) ++position_;
  return Since(start);
}

std::string_view Scanner::TakeValueName(int64_t* part) {
  *part = 0;
  if (!Accept("%")) return {};
  const size_t start = position_;
  while (position_ < text_.size() && IsValuePart(text_[position_])) {
    ++position_;
  }
  const std::string_view name = Since(start);
  if (position_ < text_.size() && text_[position_] == '#') {
    const size_t digits = ++position_;
    while (position_ < text_.size() && IsDigit(text_[position_])) ++position_;
    *part = ParseInt(Since(digits)).value_or(-1);
  }
  return name;
}

std::string_view Scanner::TakeBlockName() {
  if (!Accept("^")) return {};
  const size_t start = position_;
  while (position_ < text_.size() && IsValuePart(text_[position_])) {
    ++position_;
  }
  return Since(start);
}

absl::StatusOr<std::string_view> Scanner::TakeString() {
  KF_RETURN_IF_ERROR(Expect("\""));
  const size_t start = position_;
  while (position_ < text_.size() && text_[position_] != '"') {
    position_ += text_[position_] == '\\' ? 2 : 1;
  }
  if (position_ >= text_.size()) {
    position_ = start;
    return Fail("unterminated string");
  }
  const std::string_view inside = Since(start);
  ++position_;
  return inside;
}

absl::StatusOr<int64_t> Scanner::TakeInteger() {
  SkipBlanks();
  const size_t start = position_;
  if (position_ < text_.size() && text_[position_] == '-') ++position_;
  while (position_ < text_.size() && IsDigit(text_[position_])) ++position_;
  const std::optional<int64_t> value = ParseInt(Since(start));
  if (!value.has_value()) return Fail("expected an integer");
  return *value;
}

bool Scanner::AtLocation() {
  SkipBlanks();
  return text_.substr(position_).starts_with("loc(");
}

bool Scanner::AtStatement() {
  SkipBlanks();
  const size_t start = position_;
  bool statement = false;
  if (Peek() == '%') {
    int64_t part = 0;
    do {
      TakeValueName(&part);
      if (Accept(":")) {
        while (position_ < text_.size() && IsDigit(text_[position_])) {
          ++position_;
        }
      }
    } while (Accept(",") && Peek() == '%');
    statement = Peek() == '=';
  } else {
    const std::string_view word = TakeWord();
    statement = word.find('.') != std::string_view::npos && Peek() != '=';
  }
  position_ = start;
  return statement;
}

absl::StatusOr<std::string_view> Scanner::SkipGroup() {
  SkipBlanks();
  const size_t start = position_;
  int depth = 0;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '"') {
      KF_ASSIGN_OR_RETURN(const std::string_view ignored, TakeString());
      (void)ignored;
      continue;
    }
    ++position_;
    const bool arrow =
        c == '>' && text_[position_ - 2 + (position_ < 2)] == '-';
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && !arrow) --depth;
    if (depth == 0) return Since(start);
  }
  position_ = start;
  return Fail("unbalanced bracket");
}

absl::StatusOr<std::string_view> Scanner::TakeLocation() {
  SkipBlanks();
  if (!text_.substr(position_).starts_with("loc(")) return std::string_view();
  position_ += 3;
  KF_ASSIGN_OR_RETURN(std::string_view group, SkipGroup());
  return group.substr(1, group.size() - 2);
}

std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 'n') {
      out += '\n';
    } else if (c == 't') {
      out += '\t';
    } else if (i + 1 < text.size() && HexDigit(c) >= 0 &&
               HexDigit(text[i + 1]) >= 0) {
      out += static_cast<char>(HexDigit(c) * 16 + HexDigit(text[++i]));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace kernelfleet::tileir::ttir
