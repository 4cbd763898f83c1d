#include "common/workflow/probe_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/base/strings.h"

namespace kernelfleet::workflow {
namespace {

constexpr size_t kMaxCauseBytes = 240;

// Higher is nearer to the hardware.
int Nearness(const v1::IsaKernel& code) {
  return code.dialect() == "ptx" ? 0 : 1;
}

}  // namespace

bool HasResult(const v1::TaskRecord& record) {
  return record.state() == v1::TaskState::done && record.result().has_probe() &&
         record.result().probe().outcome() != v1::Outcome::outcome_unspecified;
}

bool Compiled(const v1::TaskRecord& record) {
  return HasResult(record) &&
         record.result().probe().outcome() == v1::Outcome::compiled;
}

const v1::IsaKernel* MachineCode(const v1::TaskRecord& record) {
  const std::string& symbol = record.result().probe().symbol();
  const v1::IsaKernel* best = nullptr;
  for (const v1::IsaKernel& code : record.result().isa()) {
    if (!symbol.empty() && code.symbol() != symbol) continue;
    if (best == nullptr || Nearness(code) > Nearness(*best)) best = &code;
  }
  return best;
}

v1::Resources ResourcesOf(const v1::TaskRecord& record) {
  v1::Resources resources;
  if (const v1::IsaKernel* code = MachineCode(record)) {
    resources = code->resources();
  }
  resources.MergeFrom(record.result().probe().resources());
  return resources;
}

int64_t SpillsOf(const v1::Resources& resources) {
  const int64_t bytes = std::max<int64_t>(resources.spill_store_bytes(),
                                          resources.spill_load_bytes());
  return bytes > 0 ? bytes
                   : int64_t{resources.vgpr_spills()} + resources.sgpr_spills();
}

GlobalAccess GlobalAccessOf(const v1::IsaKernel& code) {
  GlobalAccess access;
  for (const v1::MemoryCount& memory : code.memory()) {
    const bool buffer = memory.space() == "buffer";
    const bool global = memory.space() == "global" || memory.space() == "flat";
    if (memory.spill() || (!buffer && !global)) continue;
    if (memory.direction() == "load") {
      (buffer ? access.buffer_loads : access.global_loads) += memory.count();
      access.widest_load_bytes =
          std::max(access.widest_load_bytes, memory.bytes());
    } else if (memory.direction() == "store") {
      (buffer ? access.buffer_stores : access.global_stores) += memory.count();
      access.widest_store_bytes =
          std::max(access.widest_store_bytes, memory.bytes());
    }
  }
  return access;
}

std::string PlaceOf(const v1::KernelSpec& kernel, const v1::Failure& failure) {
  if (failure.line() <= 0) return {};
  std::string place =
      fmt::format("{}:{}", Printable(kernel.source_file()), failure.line());
  if (failure.column() > 0) place += fmt::format(":{}", failure.column());
  return place;
}

std::string CauseOf(const v1::Failure& failure) {
  const std::string_view message = Trim(failure.message());
  const std::string_view line = Trim(message.substr(0, message.find('\n')));
  std::string cause = Shorten(Printable(line), kMaxCauseBytes);
  if (failure.error_class().empty()) return cause;
  const std::string name = Shorten(Printable(failure.error_class()), 80);
  return cause.empty() ? name : fmt::format("{}: {}", name, cause);
}

}  // namespace kernelfleet::workflow
