#include "common/base/strings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace kernelfleet {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

// Decodes one character at `at`; returns its length, 0 when invalid.
int DecodeUtf8(std::string_view text, size_t at, char32_t& out) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned char lead = byte(at);
  if (lead < 0x80) {
    out = lead;
    return 1;
  }
  const int length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 ||
      at + static_cast<size_t>(length) > text.size()) {
    return 0;
  }
  char32_t value = lead & (0xffu >> (length + 1));
  for (int i = 1; i < length; ++i) {
    const unsigned char next = byte(at + static_cast<size_t>(i));
    if ((next & 0xc0) != 0x80) return 0;
    value = value << 6 | (next & 0x3fu);
  }
  constexpr char32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kFirst[length] || value > 0x10ffff ||
      (value >= 0xd800 && value < 0xe000)) {
    return 0;
  }
  out = value;
  return length;
}

// Characters that change how a terminal shows the ones around them.
bool IsControl(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
         c == 0xfeff || c == 0x061c;
}

}  // namespace

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string Join(const std::vector<std::string>& parts,
                 std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::optional<int64_t> ParseInt(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<double> ParseDouble(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::string Printable(std::string_view text, Newlines newlines) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    char32_t c = 0;
    const int length = DecodeUtf8(text, at, c);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
      ++at;
      continue;
    }
    const bool kept = newlines == Newlines::kKeep && (c == '\n' || c == '\t');
    if (!kept && IsControl(c)) {
      out += c == '\n'   ? "\\n"
             : c == '\t' ? "\\t"
             : c < 0x100 ? fmt::format("\\x{:02x}", static_cast<uint32_t>(c))
                         : fmt::format("\\u{{{:x}}}", static_cast<uint32_t>(c));
    } else {
      out.append(text, at, static_cast<size_t>(length));
    }
    at += static_cast<size_t>(length);
  }
  return out;
}

std::string Shorten(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t cut = max_bytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) {
    --cut;
  }
  return fmt::format("{}… ({} bytes more)", text.substr(0, cut),
                     text.size() - cut);
}

bool IsValidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    char32_t c = 0;
    const int length = DecodeUtf8(text, at, c);
    if (length == 0) return false;
    at += static_cast<size_t>(length);
  }
  return true;
}

int EditDistance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const int substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace kernelfleet
