#include "cli/server_address.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::cli {
namespace {

constexpr int64_t kMaxConfigBytes = 1 << 20;

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The XDG folder named by `variable`, or `fallback` under the home. The
// specification ignores relative paths.
std::string XdgFolder(const char* variable, std::string_view fallback) {
  const std::string folder = Env(variable);
  if (folder.starts_with('/')) return folder;
  const std::string home = Env("HOME");
  return home.empty() ? std::string() : JoinPath(home, fallback);
}

absl::StatusOr<std::optional<std::string>> ServerInConfig(
    const std::string& path) {
  if (path.empty() || !PathExists(path)) return std::nullopt;
  KF_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxConfigBytes));
  const toml::parse_result parsed = toml::parse(text);
  const std::string shown = Printable(path);
  if (!parsed) {
    const auto& at = parsed.error().source().begin;
    return InvalidArgument(
        fmt::format("{}:{}:{}: {}", shown, at.line, at.column,
                    Printable(parsed.error().description())));
  }
  for (const auto& [key, node] : parsed.table()) {
    const auto& at = key.source().begin;
    if (key.str() != "server") {
      return InvalidArgument(
          fmt::format("{}:{}:{}: unknown key '{}': expected server", shown,
                      at.line, at.column, Printable(key.str())));
    }
    if (const auto server = node.value_exact<std::string>()) return server;
    return InvalidArgument(fmt::format("{}:{}:{}: server must be a string",
                                       shown, at.line, at.column));
  }
  return std::nullopt;
}

}  // namespace

std::string ConfigPath() {
  const std::string folder = XdgFolder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? folder : JoinPath(folder, "kernelfleet/config.toml");
}

absl::StatusOr<std::string> DataFolder() {
  const std::string folder = XdgFolder("XDG_DATA_HOME", ".local/share");
  if (folder.empty()) {
    return FailedPrecondition(
        "neither HOME nor XDG_DATA_HOME is set: name a folder with --data-dir");
  }
  return JoinPath(folder, "kernelfleet");
}

absl::StatusOr<std::string> FindServer(const Arguments& args) {
  if (args.Has("--server")) return args.Get("--server");
  if (const std::string value = Env("KERNELFLEET_SERVER"); !value.empty()) {
    return value;
  }
  KF_ASSIGN_OR_RETURN(const auto server, ServerInConfig(ConfigPath()));
  return server.value_or(std::string(kDefaultServer));
}

}  // namespace kernelfleet::cli
