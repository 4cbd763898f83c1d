// The few moves over text that all readers share. Nothing allocates.
#ifndef KERNELFLEET_COMMON_ISA_TEXT_LINES_H_
#define KERNELFLEET_COMMON_ISA_TEXT_LINES_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace kernelfleet::isa {

// The next line without its end; `text` moves past it.
inline std::string_view TakeLine(std::string_view& text) {
  const void* end = std::memchr(text.data(), '\n', text.size());
  if (end == nullptr) {
    const std::string_view line = text;
    text = {};
    return line;
  }
  const size_t size =
      static_cast<size_t>(static_cast<const char*>(end) - text.data());
  std::string_view line = text.substr(0, size);
  text.remove_prefix(size + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

inline std::string_view SkipBlanks(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
  return text.substr(i);
}

// Character classes of names and mnemonics.
enum CharClass : uint8_t { kNameChar = 1, kDotChar = 2, kHexChar = 4 };
inline constexpr std::array<uint8_t, 256> kCharClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (size_t c = '0'; c <= '9'; ++c) classes[c] = kNameChar | kHexChar;
  for (size_t c = 'a'; c <= 'z'; ++c) classes[c] = kNameChar;
  for (size_t c = 'A'; c <= 'Z'; ++c) classes[c] = kNameChar;
  for (size_t c = 'a'; c <= 'f'; ++c) classes[c] = kNameChar | kHexChar;
  for (size_t c = 'A'; c <= 'F'; ++c) classes[c] = kNameChar | kHexChar;
  classes['_'] = classes['$'] = classes['%'] = classes['@'] = kNameChar;
  // Symbols may hold any byte of UTF-8.
  for (size_t c = 128; c < 256; ++c) classes[c] = kNameChar;
  classes['.'] = kDotChar;
  return classes;
}();

inline bool Is(char c, int classes) {
  return (kCharClasses[static_cast<uint8_t>(c)] & classes) != 0;
}

// Length of the leading run of characters of these classes.
inline size_t RunLength(std::string_view text, int classes) {
  size_t i = 0;
  while (i < text.size() && Is(text[i], classes)) ++i;
  return i;
}

// Leading hexadecimal digits, at most 16; `text` moves past them.
inline std::optional<uint64_t> TakeHex(std::string_view& text) {
  uint64_t value = 0;
  size_t i = 0;
  for (; i < text.size() && i < 16 && Is(text[i], kHexChar); ++i) {
    const char c = text[i];
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value << 4 | static_cast<uint64_t>(digit);
  }
  if (i == 0) return std::nullopt;
  text.remove_prefix(i);
  return value;
}

// Leading decimal digits, at most 9; `text` moves past them.
inline std::optional<int> TakeDecimal(std::string_view& text) {
  int value = 0;
  size_t i = 0;
  for (; i < text.size() && i < 9 && text[i] >= '0' && text[i] <= '9'; ++i) {
    value = value * 10 + (text[i] - '0');
  }
  if (i == 0) return std::nullopt;
  text.remove_prefix(i);
  return value;
}

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_TEXT_LINES_H_
