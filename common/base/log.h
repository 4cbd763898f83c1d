// The one logger: a fixed phrase, then key=value. Never kernel source, never
// tokens.
//
//   LogInfo("task leased", {{"task", id}, {"node", node}});
#ifndef KERNELFLEET_COMMON_BASE_LOG_H_
#define KERNELFLEET_COMMON_BASE_LOG_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace kernelfleet {

// One key=value; values are escaped and quoted when they hold blanks.
struct LogField {
  std::string_view key;
  std::string value;
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  template <typename Number,
            std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  LogField(std::string_view k, Number v) : key(k), value(std::to_string(v)) {}
};
using LogFields = std::initializer_list<LogField>;

void LogDebug(std::string_view phrase, LogFields fields = {});
void LogInfo(std::string_view phrase, LogFields fields = {});
void LogWarning(std::string_view phrase, LogFields fields = {});
void LogError(std::string_view phrase, LogFields fields = {});

// "debug", "info", "warning", "error", "off"; false for anything else.
// Writes to stderr. Call once, before other threads start.
bool SetLogLevel(std::string_view level);

}  // namespace kernelfleet

#endif  // KERNELFLEET_COMMON_BASE_LOG_H_
