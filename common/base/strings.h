// Small text functions that std and abseil lack for std::string_view.
#ifndef KERNELFLEET_COMMON_BASE_STRINGS_H_
#define KERNELFLEET_COMMON_BASE_STRINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelfleet {

// Without blanks at both ends.
std::string_view Trim(std::string_view text);

// Parts between separators; empty parts are kept; "" gives one empty part.
std::vector<std::string_view> Split(std::string_view text, char separator);

std::string Join(const std::vector<std::string>& parts,
                 std::string_view separator);

// Whole text as a number; nothing for anything else.
std::optional<int64_t> ParseInt(std::string_view text);
std::optional<double> ParseDouble(std::string_view text);

// Safe to print on a terminal or into a log line: control characters, escape
// sequences, C1 and bidirectional controls and invalid UTF-8 become \xNN or
// \u{NNNN}; newline and tab too, unless `keep_newlines`.
enum class Newlines { kEscape, kKeep };
std::string Printable(std::string_view text,
                      Newlines newlines = Newlines::kEscape);

// At most `max_bytes`, cut at a character boundary, with "… (N bytes more)"
// when cut.
std::string Shorten(std::string_view text, size_t max_bytes);

bool IsValidUtf8(std::string_view text);

// Edit distance, for "did you mean".
int EditDistance(std::string_view a, std::string_view b);

}  // namespace kernelfleet

#endif  // KERNELFLEET_COMMON_BASE_STRINGS_H_
