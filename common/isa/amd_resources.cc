#include "common/isa/amd_resources.h"

#include <optional>

#include "common/base/strings.h"
#include "common/isa/scan.h"
#include "common/isa/text_lines.h"

namespace kernelfleet::isa {
namespace {

struct Field {
  std::string_view key;
  void (v1::Resources::*set)(int32_t);
  // Zero is what Triton's dynamic LDS looks like, not "uses none".
  bool skip_zero = false;
  // Keeps what an earlier line said.
  bool (v1::Resources::*has)() const = nullptr;
};

// LLVM: AMDHSA Kernel Descriptor Directives.
constexpr Field kDirectives[] = {
    {"next_free_vgpr", &v1::Resources::set_registers},
    {"next_free_sgpr", &v1::Resources::set_sgprs},
    {"group_segment_fixed_size", &v1::Resources::set_shared_bytes, true},
    {"private_segment_fixed_size", &v1::Resources::set_scratch_bytes},
};

// What LLVM's AMDGPU printer writes behind a kernel. "NumVgprs" leaves out the
// accumulators where "TotalNumVgprs" (CDNA 2 and later) counts both.
constexpr Field kComments[] = {
    {"NumVgprs", &v1::Resources::set_registers, false,
     &v1::Resources::has_registers},
    {"TotalNumVgprs", &v1::Resources::set_registers},
    {"NumAgprs", &v1::Resources::set_agprs},
    {"TotalNumSgprs", &v1::Resources::set_sgprs},
    {"NumSgprs", &v1::Resources::set_sgprs, false, &v1::Resources::has_sgprs},
    {"ScratchSize", &v1::Resources::set_scratch_bytes},
    {"LDSByteSize", &v1::Resources::set_shared_bytes, true},
    {"Occupancy", &v1::Resources::set_occupancy_waves},
};

// LLVM: AMDGPU code object metadata, version 3 and later.
constexpr Field kDocumentKeys[] = {
    {".vgpr_count", &v1::Resources::set_registers},
    {".agpr_count", &v1::Resources::set_agprs},
    {".sgpr_count", &v1::Resources::set_sgprs},
    {".vgpr_spill_count", &v1::Resources::set_vgpr_spills},
    {".sgpr_spill_count", &v1::Resources::set_sgpr_spills},
    {".group_segment_fixed_size", &v1::Resources::set_shared_bytes, true},
    {".private_segment_fixed_size", &v1::Resources::set_scratch_bytes},
};

// User registers in the order in which the hardware fills them, up to the
// kernel-argument pointer.
struct UserRegisters {
  std::string_view key;
  int count;
};
constexpr UserRegisters kBeforeKernarg[] = {
    {"private_segment_buffer", 4}, {"dispatch_ptr", 2}, {"queue_ptr", 2}};

// Leading decimal number of a value such as "0 bytes/workgroup".
std::optional<int> NumberIn(std::string_view value) {
  value = SkipBlanks(value);
  return TakeDecimal(value);
}

template <size_t N>
void Apply(const Field (&fields)[N], std::string_view key,
           std::string_view value, v1::Resources& resources) {
  for (const Field& field : fields) {
    if (field.key != key) continue;
    const std::optional<int> number = NumberIn(value);
    if (!number || (field.skip_zero && *number == 0)) return;
    if (field.has != nullptr && (resources.*field.has)()) return;
    (resources.*field.set)(*number);
    return;
  }
}

std::string_view Unquoted(std::string_view text) {
  text = Trim(text);
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') &&
      text.back() == text[0]) {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

}  // namespace

std::string_view GfxNameIn(std::string_view text) {
  const size_t at = text.rfind("gfx");
  if (at == text.npos) return {};
  std::string_view name = text.substr(at);
  const size_t digits = RunLength(name.substr(3), kHexChar);
  return digits == 0 ? std::string_view() : name.substr(0, 3 + digits);
}

AmdKernel& AmdResources::Named(std::string_view symbol) {
  if (first_.empty()) first_ = symbol;
  return kernels_[symbol];
}

const AmdKernel* AmdResources::Find(std::string_view symbol) const {
  const auto found = kernels_.find(symbol);
  return found == kernels_.end() ? nullptr : &found->second;
}

void AmdResources::Line(std::string_view line) {
  const std::string_view body = SkipBlanks(line);
  if (body.empty()) return;
  if (body.starts_with("amdhsa.") || in_kernels_) {
    DocumentLine(line);
  } else if (body.starts_with(".amdhsa_")) {
    Directive(body.substr(8));
  } else if (body[0] == ';') {
    Comment(SkipBlanks(body.substr(1)));
  }
}

void AmdResources::Directive(std::string_view line) {
  const size_t end = RunLength(line, kNameChar);
  const std::string_view key = line.substr(0, end);
  const std::string_view value = line.substr(end);
  if (key == "kernel") {
    current_ = &Named(Unquoted(value));
    user_sgprs_ = 0;
    return;
  }
  if (current_ == nullptr) return;
  Apply(kDirectives, key, value, current_->resources);
  constexpr std::string_view kUser = "user_sgpr_";
  if (!key.starts_with(kUser)) return;
  const std::string_view name = key.substr(kUser.size());
  const bool used = NumberIn(value).value_or(0) != 0;
  for (const UserRegisters& user : kBeforeKernarg) {
    if (name == user.key && used) user_sgprs_ += user.count;
  }
  if (name == "kernarg_segment_ptr" && used) {
    current_->kernarg_sgpr = user_sgprs_;
  }
}

void AmdResources::Comment(std::string_view line) {
  // Device functions have the same comments, under another title.
  if (line.starts_with("Function info:")) current_ = nullptr;
  if (current_ == nullptr) return;
  const size_t colon = line.find(':');
  if (colon == line.npos) return;
  Apply(kComments, Trim(line.substr(0, colon)), line.substr(colon + 1),
        current_->resources);
}

// The document is YAML as LLVM prints it; only the items of amdhsa.kernels
// and, inside them, the keys of the first level matter: arguments have names
// and sizes too.
void AmdResources::DocumentLine(std::string_view line) {
  std::string_view body = SkipBlanks(line);
  int indent = static_cast<int>(line.size() - body.size());
  if (body.starts_with("amdhsa.") || body.starts_with("...") ||
      body.starts_with(".end_amdgpu_metadata")) {
    FlushItem();
    in_kernels_ = body.starts_with("amdhsa.kernels:");
    item_indent_ = -1;
    return;
  }
  if (body.starts_with("- ") && (item_indent_ < 0 || indent == item_indent_)) {
    FlushItem();
    item_indent_ = indent;
    body = SkipBlanks(body.substr(2));
    indent += 2;
  }
  if (item_indent_ < 0 || indent != item_indent_ + 2) return;
  const size_t colon = body.find(':');
  if (colon == body.npos) return;
  DocumentKey(body.substr(0, colon), Unquoted(body.substr(colon + 1)));
}

void AmdResources::DocumentKey(std::string_view key, std::string_view value) {
  if (key == ".name" && item_symbol_.empty()) item_symbol_ = value;
  if (key == ".symbol") {
    // The descriptor's symbol: the kernel's with ".kd".
    if (value.ends_with(".kd")) value.remove_suffix(3);
    item_symbol_ = value;
  }
  if (key == ".max_flat_workgroup_size") {
    item_threads_ = NumberIn(value).value_or(0);
  }
  if (key == ".wavefront_size") item_wave_ = NumberIn(value).value_or(0);
  Apply(kDocumentKeys, key, value, item_);
}

void AmdResources::FlushItem() {
  if (!item_symbol_.empty()) {
    if (item_threads_ > 0 && item_wave_ > 0) {
      item_.set_num_warps((item_threads_ + item_wave_ - 1) / item_wave_);
    }
    Named(item_symbol_).resources.MergeFrom(item_);
  }
  item_symbol_ = {};
  item_.Clear();
  item_threads_ = item_wave_ = 0;
}

v1::Resources ReadAmdMetadata(std::string_view text, std::string_view symbol) {
  AmdResources resources;
  while (!text.empty()) resources.Line(TakeLine(text));
  resources.Finish();
  const AmdKernel* kernel =
      resources.Find(symbol.empty() ? resources.first() : symbol);
  return kernel == nullptr ? v1::Resources() : kernel->resources;
}

}  // namespace kernelfleet::isa
