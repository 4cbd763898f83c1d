#include "common/report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "common/base/strings.h"
#include "common/isa/meaning.h"
#include "common/workflow/probe_facts.h"
#include "common/workflow/target.h"

namespace kernelfleet::report {
namespace {

// Spaces worth a reader's eye, and their order. Kernel arguments, constants
// and private memory are not tensor traffic.
constexpr std::string_view kSpaces[] = {
    "global", "buffer",         "flat",         "generic",
    "shared", "cluster_shared", "tensor_memory"};

int SpaceRank(std::string_view space) {
  const auto at = std::find(std::begin(kSpaces), std::end(kSpaces), space);
  return at == std::end(kSpaces) ? -1
                                 : static_cast<int>(at - std::begin(kSpaces));
}

bool IsMatrixFamily(std::string_view family) {
  for (size_t i = 0; i < isa::kFamilies; ++i) {
    const auto one = static_cast<isa::Family>(i);
    if (isa::IsMatrix(one) && isa::NameOf(one) == family) return true;
  }
  return false;
}

void Append(std::string& text, std::string_view more) {
  text += fmt::format("{}{}", text.empty() ? "" : ", ", more);
}

std::string Spaced(std::string_view word) {
  std::string out(word);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

int FamilyCountOf(const v1::IsaKernel& code, std::string_view family) {
  for (const v1::FamilyCount& one : code.families()) {
    if (one.family() == family) return one.count();
  }
  return 0;
}

}  // namespace

std::string TaskLabel(const v1::JobSpec& job, const v1::TaskSpec& task) {
  std::string kernel = "?";
  if (task.kernel() >= 0 && task.kernel() < job.kernels_size()) {
    kernel = job.kernels(task.kernel()).name();
  }
  std::string label =
      fmt::format("{} {}", kernel, workflow::TargetName(task.target()));
  if (!task.variant().empty()) label += fmt::format(" {}", task.variant());
  return label;
}

Cell OutcomeCell(const v1::TaskRecord& task) {
  if (!workflow::HasResult(task)) {
    const bool ours = task.state() == v1::TaskState::failed ||
                      task.state() == v1::TaskState::dead;
    return {Spaced(v1::TaskState::Name_Name(task.state())),
            ours ? Tone::kBad : Tone::kFaint};
  }
  const v1::Outcome::Code outcome = task.result().probe().outcome();
  const bool good =
      outcome == v1::Outcome::compiled || outcome == v1::Outcome::completed;
  return {Spaced(v1::Outcome::Code_Name(outcome)),
          good ? Tone::kGood : Tone::kBad};
}

std::string RegistersText(const v1::Resources& resources) {
  if (!resources.has_registers()) return {};
  if (!resources.has_sgprs()) return std::to_string(resources.registers());
  std::string text = fmt::format("{} v", resources.registers());
  if (resources.agprs() > 0) text += fmt::format(", {} a", resources.agprs());
  return text + fmt::format(", {} s", resources.sgprs());
}

std::string SpillsText(const v1::Resources& resources) {
  const bool bytes =
      resources.has_spill_store_bytes() || resources.has_spill_load_bytes();
  if (!bytes && !resources.has_vgpr_spills() && !resources.has_sgpr_spills()) {
    return {};
  }
  const int64_t spills = workflow::SpillsOf(resources);
  if (spills == 0) return "0";
  return bytes ? BytesText(spills)
               : fmt::format("{} register{}", spills, spills == 1 ? "" : "s");
}

std::string MemoryText(const v1::IsaKernel& code, std::string_view direction) {
  // Space, then widest first.
  std::map<std::tuple<int, int>, int> counts;
  for (const v1::MemoryCount& memory : code.memory()) {
    const int rank = SpaceRank(memory.space());
    if (memory.direction() != direction || memory.spill() || rank < 0) continue;
    counts[{rank, -memory.bytes()}] += memory.count();
  }
  std::string text;
  for (const auto& [key, count] : counts) {
    const auto& [rank, width] = key;
    std::string one = fmt::format("{} × {}", count, Spaced(kSpaces[rank]));
    if (width != 0) one += fmt::format(" {} B", -width);
    Append(text, one);
  }
  return text;
}

std::string AsyncText(const v1::IsaKernel& code) {
  constexpr isa::Family kCopies[] = {
      isa::Family::kTmaLoad,    isa::Family::kTmaStore,
      isa::Family::kTmaReduce,  isa::Family::kBulkCopy,
      isa::Family::kTensorLoad, isa::Family::kTensorStore};
  std::string text = MemoryText(code, "async_copy");
  for (const isa::Family family : kCopies) {
    const int count = FamilyCountOf(code, isa::NameOf(family));
    if (count > 0) {
      Append(text, fmt::format("{} × {}", count, Spaced(isa::NameOf(family))));
    }
  }
  return text;
}

std::string MatrixText(const v1::IsaKernel& code) {
  std::string text;
  for (const v1::FamilyCount& one : code.families()) {
    if (IsMatrixFamily(one.family()) && one.count() > 0) {
      Append(text, fmt::format("{} × {}", one.count(), one.family()));
    }
  }
  return text;
}

std::string AtomicsText(const v1::IsaKernel& code) {
  std::map<int, int> counts;
  for (const v1::MemoryCount& memory : code.memory()) {
    const int rank = SpaceRank(memory.space());
    if (memory.direction() == "atomic" && rank >= 0) {
      counts[rank] += memory.count();
    }
  }
  std::string text;
  for (const auto& [rank, count] : counts) {
    Append(text, fmt::format("{} × {}", count, Spaced(kSpaces[rank])));
  }
  const int loops = FamilyCountOf(code, isa::NameOf(isa::Family::kCasLoop));
  if (loops > 0) Append(text, fmt::format("{} × CAS loop", loops));
  return text;
}

std::string BytesText(int64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
    return fmt::format("{} MiB", bytes >> 20);
  }
  if (bytes >= 10 << 20) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1024 && bytes % 1024 == 0) {
    return fmt::format("{} KiB", bytes >> 10);
  }
  if (bytes >= 10 << 10) {
    return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  }
  return fmt::format("{} B", bytes);
}

std::string DurationText(double seconds) {
  if (seconds < 0) return {};
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 3600) {
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  if (whole < 86400) {
    return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
  }
  return fmt::format("{} d {} h", whole / 86400, whole / 3600 % 24);
}

double Seconds(const google::protobuf::Timestamp& stamp) {
  return static_cast<double>(stamp.seconds()) +
         static_cast<double>(stamp.nanos()) * 1e-9;
}

}  // namespace kernelfleet::report
