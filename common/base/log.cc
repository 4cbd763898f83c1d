#include "common/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "common/base/strings.h"

namespace kernelfleet {
namespace {

spdlog::logger& Logger() {
  static spdlog::logger& logger = *[] {
    auto made = new spdlog::logger(
        "kernelfleet", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %L %v");
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return logger;
}

void Write(spdlog::level::level_enum level, std::string_view phrase,
           LogFields fields) {
  if (!Logger().should_log(level)) return;
  std::string line(phrase);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    const std::string value = Printable(field.value);
    const bool quote =
        value.empty() || value.find_first_of(" \"=") != std::string::npos;
    if (!quote) {
      line += value;
      continue;
    }
    line += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') line += '\\';
      line += c;
    }
    line += '"';
  }
  Logger().log(level, "{}", line);
}

}  // namespace

void LogDebug(std::string_view phrase, LogFields fields) {
  Write(spdlog::level::debug, phrase, fields);
}
void LogInfo(std::string_view phrase, LogFields fields) {
  Write(spdlog::level::info, phrase, fields);
}
void LogWarning(std::string_view phrase, LogFields fields) {
  Write(spdlog::level::warn, phrase, fields);
}
void LogError(std::string_view phrase, LogFields fields) {
  Write(spdlog::level::err, phrase, fields);
}

bool SetLogLevel(std::string_view level) {
  const spdlog::level::level_enum parsed =
      level == "debug"     ? spdlog::level::debug
      : level == "info"    ? spdlog::level::info
      : level == "warning" ? spdlog::level::warn
      : level == "error"   ? spdlog::level::err
      : level == "off"     ? spdlog::level::off
                           : spdlog::level::n_levels;
  if (parsed == spdlog::level::n_levels) return false;
  Logger().set_level(parsed);
  return true;
}

}  // namespace kernelfleet
