#include "agent/gpu_tools.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "common/base/strings.h"

namespace kernelfleet::agent {
namespace {

constexpr size_t kMaxGpus = 256;

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return out;
}

// "key: value" at the first colon; nothing for other lines.
std::optional<std::pair<std::string, std::string>> KeyValue(
    std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  return std::pair(Lower(Trim(line.substr(0, colon))),
                   Printable(Trim(line.substr(colon + 1))));
}

// The digits at the start of "67092480(0x3ffc000) KB".
int64_t LeadingInt(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return ParseInt(text.substr(0, end)).value_or(0);
}

// "8.9" -> "sm_89".
std::string NvidiaArch(std::string_view capability) {
  std::string digits;
  for (const char c : capability) {
    if (c == '.') continue;
    if (c < '0' || c > '9') return "";
    digits += c;
  }
  return digits.empty() ? "" : "sm_" + digits;
}

// One block of rocminfo.
struct RocmAgent {
  std::map<std::string, std::string> fields;
  int64_t largest_pool_kb = 0;
};

v1::Gpu GpuOf(const RocmAgent& agent, int index) {
  const auto field = [&](const char* name) {
    const auto it = agent.fields.find(name);
    return it == agent.fields.end() ? std::string() : it->second;
  };
  v1::Gpu gpu;
  gpu.set_index(index);
  // "gfx906:sramecc+:xnack-": features are no part of the architecture.
  const std::string name = field("name");
  gpu.set_arch(name.substr(0, name.find(':')));
  gpu.set_name(field("marketing name"));
  // "GPU-XX" stands for "the card has no number".
  if (field("uuid") != "GPU-XX") gpu.set_uuid(field("uuid"));
  gpu.set_memory_bytes(agent.largest_pool_kb << 10);
  gpu.set_vendor(Lower(field("device type")) == "hcu" ? "hygon" : "amd");
  return gpu;
}

}  // namespace

std::vector<v1::Gpu> ParseNvidiaSmi(std::string_view csv) {
  std::vector<v1::Gpu> gpus;
  std::vector<std::string> columns;
  for (const std::string_view line : Split(csv, '\n')) {
    const std::vector<std::string_view> cells = Split(line, ',');
    if (columns.empty()) {
      for (const std::string_view cell : cells) {
        // "memory.total [MiB]": the unit is no part of the name.
        columns.emplace_back(Trim(cell.substr(0, cell.find('['))));
      }
      if (columns.size() < 2) columns.clear();
      continue;
    }
    if (cells.size() != columns.size() || gpus.size() >= kMaxGpus) continue;
    v1::Gpu& gpu = gpus.emplace_back();
    gpu.set_vendor("nvidia");
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string value = Printable(Trim(cells[i]));
      if (columns[i] == "index") {
        gpu.set_index(static_cast<int>(ParseInt(value).value_or(0)));
      } else if (columns[i] == "name") {
        gpu.set_name(value);
      } else if (columns[i] == "uuid") {
        gpu.set_uuid(value);
      } else if (columns[i] == "compute_cap") {
        gpu.set_arch(NvidiaArch(value));
      } else if (columns[i] == "memory.total") {
        gpu.set_memory_bytes(ParseInt(value).value_or(0) << 20);
      } else if (columns[i] == "driver_version") {
        gpu.set_driver(value);
      }
    }
  }
  return gpus;
}

std::vector<v1::Gpu> ParseRocminfo(std::string_view text) {
  std::vector<RocmAgent> agents;
  bool in_isa = false;
  for (const std::string_view line : Split(text, '\n')) {
    const std::string_view trimmed = Trim(line);
    if (trimmed.starts_with("Agent ") && trimmed.find(':') == trimmed.npos) {
      if (agents.size() >= kMaxGpus) break;
      agents.emplace_back();
      in_isa = false;
      continue;
    }
    if (agents.empty()) continue;
    RocmAgent& agent = agents.back();
    // The ISA list repeats "Name:" with other values.
    if (trimmed.starts_with("ISA Info")) in_isa = true;
    const auto pair = KeyValue(trimmed);
    if (!pair || in_isa) continue;
    if (pair->first == "size") {
      agent.largest_pool_kb =
          std::max(agent.largest_pool_kb, LeadingInt(pair->second));
    }
    agent.fields.insert(*pair);
  }
  std::vector<v1::Gpu> gpus;
  for (const RocmAgent& agent : agents) {
    const auto type = agent.fields.find("device type");
    if (type == agent.fields.end()) continue;
    const std::string kind = Lower(type->second);
    if (kind != "gpu" && kind != "hcu" && kind != "dcu") continue;
    gpus.push_back(GpuOf(agent, static_cast<int>(gpus.size())));
  }
  return gpus;
}

void AddSmi(std::string_view text, std::vector<v1::Gpu>& gpus) {
  for (const std::string_view line : Split(text, '\n')) {
    // "HCU[0]", "DCU[0]", "GPU[0]", then ": key: value".
    const size_t open = line.find('[');
    const size_t close = line.find(']');
    const std::string_view trimmed = Trim(line);
    if (Lower(trimmed).starts_with("driver version")) {
      const auto pair = KeyValue(trimmed);
      for (v1::Gpu& gpu : gpus) {
        if (pair) gpu.set_driver(pair->second);
      }
      continue;
    }
    if (open == line.npos || close == line.npos || close < open) continue;
    const auto index = ParseInt(line.substr(open + 1, close - open - 1));
    std::string_view rest = Trim(line.substr(close + 1));
    if (!index || *index < 0 || *index >= static_cast<int64_t>(gpus.size()) ||
        !rest.starts_with(':')) {
      continue;
    }
    const auto pair = KeyValue(rest.substr(1));
    if (!pair) continue;
    v1::Gpu& gpu = gpus[static_cast<size_t>(*index)];
    if (pair->first == "card series") gpu.set_name(pair->second);
    if (pair->first == "unique id" && gpu.uuid().empty()) {
      gpu.set_uuid(pair->second);
    }
    if (pair->first == "driver version") gpu.set_driver(pair->second);
    if (pair->first == "vram total memory (b)") {
      gpu.set_memory_bytes(LeadingInt(pair->second));
    } else if (pair->first == "vram total memory (mib)") {
      gpu.set_memory_bytes(LeadingInt(pair->second) << 20);
    }
  }
}

}  // namespace kernelfleet::agent
