#include "common/workflow/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::workflow {
namespace {

struct Backend {
  std::string_view name;
  std::string_view arch_prefix;
  // Digits of the architecture in base 16, without a trailing letter variant.
  size_t min_digits;
  size_t max_digits;
  // A letter such as the `a` of sm_100a may follow the digits.
  std::string_view suffixes;
  // Empty: the backend has no buffer-operation toggle.
  std::string_view buffer_ops_variable;
};

// Triton's in-tree backends `nvidia` and `amd` call themselves cuda and hip;
// hcu is Hygon's; tileir is NVIDIA's CUDA Tile IR. HCUGCN_USE_BUFFER_OPS is
// what FlagTree's hcu backend reads (third_party/hcu/backend/compiler.py).
constexpr std::array<Backend, 4> kBackends = {{
    {"cuda", "sm_", 2, 3, "af", ""},
    {"tileir", "sm_", 2, 3, "af", ""},
    {"hip", "gfx", 3, 4, "", "AMDGCN_USE_BUFFER_OPS"},
    {"hcu", "gfx", 3, 4, "", "HCUGCN_USE_BUFFER_OPS"},
}};

constexpr std::string_view kWellKnown[] = {
    "cuda:sm_120",   "cuda:sm_103", "cuda:sm_100", "cuda:sm_90",
    "cuda:sm_89",    "cuda:sm_86",  "cuda:sm_80",  "tileir:sm_100",
    "tileir:sm_120", "hip:gfx950",  "hip:gfx942",  "hip:gfx90a",
    "hip:gfx1201",   "hip:gfx1250", "hip:gfx1100", "hcu:gfx938",
    "hcu:gfx936",    "hcu:gfx928"};

const Backend* FindBackend(std::string_view name) {
  const auto at =
      std::find_if(kBackends.begin(), kBackends.end(),
                   [&](const Backend& b) { return b.name == name; });
  return at == kBackends.end() ? nullptr : &*at;
}

bool IsArch(const Backend& backend, std::string_view arch) {
  if (!arch.starts_with(backend.arch_prefix)) return false;
  std::string_view digits = arch.substr(backend.arch_prefix.size());
  const bool hex = backend.arch_prefix == "gfx";
  if (!hex && !digits.empty() &&
      backend.suffixes.find(digits.back()) != std::string_view::npos) {
    digits.remove_suffix(1);
  }
  return digits.size() >= backend.min_digits &&
         digits.size() <= backend.max_digits && digits.front() != '0' &&
         std::all_of(digits.begin(), digits.end(), [&](char c) {
           return (c >= '0' && c <= '9') || (hex && c >= 'a' && c <= 'f');
         });
}

std::string_view Nearest(std::string_view name) {
  std::string_view best;
  int best_distance = std::numeric_limits<int>::max();
  for (const std::string_view known : kWellKnown) {
    // Without the backend, "gfx942" still means one of them.
    const std::string_view arch = known.substr(known.find(':') + 1);
    const int distance =
        std::min(EditDistance(name, known), EditDistance(name, arch));
    if (distance < best_distance) {
      best_distance = distance;
      best = known;
    }
  }
  return best_distance <= 3 ? best : std::string_view();
}

}  // namespace

std::string TargetName(const v1::Target& target) {
  return fmt::format("{}:{}", target.backend(), target.arch());
}

absl::StatusOr<v1::Target> ParseTarget(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view backend_name = name.substr(0, colon);
  const std::string_view arch =
      colon == std::string_view::npos ? "" : name.substr(colon + 1);
  const Backend* backend = FindBackend(backend_name);
  if (backend == nullptr || !IsArch(*backend, arch)) {
    const std::string shown = Shorten(Printable(name), 80);
    const std::string_view nearest =
        name.size() <= 80 ? Nearest(name) : std::string_view();
    return InvalidArgument(
        nearest.empty()
            ? fmt::format("unknown target '{}': expected backend:arch, such as "
                          "cuda:sm_100 or hip:gfx942",
                          shown)
            : fmt::format("unknown target '{}': did you mean {}?", shown,
                          nearest));
  }
  v1::Target target;
  target.set_backend(std::string(backend_name));
  target.set_arch(std::string(arch));
  return target;
}

std::vector<std::string> WellKnownTargets() {
  return {std::begin(kWellKnown), std::end(kWellKnown)};
}

bool HasBufferOps(const v1::Target& target) {
  return !BufferOpsVariable(target).empty();
}

std::string_view BufferOpsVariable(const v1::Target& target) {
  const Backend* backend = FindBackend(target.backend());
  return backend == nullptr ? std::string_view() : backend->buffer_ops_variable;
}

}  // namespace kernelfleet::workflow
