#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/workflow/target.h"
#include "common/workflow/workflow.h"

namespace kernelfleet::workflow {
namespace {

constexpr int kMaxKernels = 100'000;
constexpr int kMaxTargets = 64;
constexpr int kMaxArgs = 1024;
constexpr int kMaxLabels = 64;
constexpr int kMaxAlternatives = 256;
constexpr size_t kMaxText = 4096;
constexpr size_t kMaxName = 256;
constexpr int kMaxTupleDepth = 8;

// Triton's short names (triton/language/core.py and the parser of signature
// strings in triton/compiler), 3.2 to 3.9.
constexpr std::string_view kElementTypes[] = {
    "i1",       "i8",   "i16",  "i32",     "i64",     "u1",       "u8",
    "u16",      "u32",  "u64",  "fp8e4nv", "fp8e4b8", "fp8e4b15", "fp8e5",
    "fp8e5b16", "fp16", "bf16", "fp32",    "fp64"};

// Triton's own names of dtypes that short names spell differently.
constexpr std::string_view kDtypeNames[] = {"int1",   "int8",   "int16",
                                            "int32",  "int64",  "uint8",
                                            "uint16", "uint32", "uint64"};

bool IsDtypeName(std::string_view name) {
  return name.starts_with("fp") || name.starts_with("bf")
             ? IsElementType(name)
             : std::find(std::begin(kDtypeNames), std::end(kDtypeNames),
                         name) != std::end(kDtypeNames);
}

std::string Shown(std::string_view text) {
  return Shorten(Printable(text), 80);
}

// Text that may be stored and shown: valid UTF-8 without control characters.
bool IsPlain(std::string_view text, size_t max_bytes) {
  return text.size() <= max_bytes && IsValidUtf8(text) &&
         Printable(text) == text;
}

// A Python identifier; letters beyond ASCII are accepted as they are.
bool IsIdentifier(std::string_view name) {
  if (name.empty() || !IsPlain(name, kMaxName)) return false;
  if (name.front() >= '0' && name.front() <= '9') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' ||
           (static_cast<unsigned char>(c) & 0x80) != 0;
  });
}

// "fp16[64,64]", with anything Triton appends after the shape.
bool IsDescriptor(std::string_view inner) {
  const size_t open = inner.find('[');
  const size_t close = inner.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos ||
      close < open || !IsElementType(inner.substr(0, open))) {
    return false;
  }
  const auto sizes = Split(inner.substr(open + 1, close - open - 1), ',');
  const std::string_view rest = inner.substr(close + 1);
  return sizes.size() <= 5 && (rest.empty() || rest.front() == ',') &&
         std::all_of(sizes.begin(), sizes.end(), [](std::string_view size) {
           const std::optional<int64_t> value = ParseInt(Trim(size));
           return value && *value > 0 && *value <= 1 << 20;
         });
}

absl::Status ValidateConstant(const v1::Constant& constant, int depth) {
  using V = v1::Constant;
  switch (constant.value_case()) {
    case V::VALUE_NOT_SET:
      return InvalidArgument("has neither a type nor a value");
    case V::kStringValue:
      if (!IsPlain(constant.string_value(), kMaxText)) {
        return InvalidArgument("has a string value with control characters");
      }
      return absl::OkStatus();
    case V::kDtypeValue:
      if (!IsDtypeName(constant.dtype_value())) {
        return InvalidArgument(fmt::format("has unknown dtype '{}'",
                                           Shown(constant.dtype_value())));
      }
      return absl::OkStatus();
    case V::kFunctionValue:
      if (!IsIdentifier(constant.function_value())) {
        return InvalidArgument(
            fmt::format("names function '{}', which is no identifier",
                        Shown(constant.function_value())));
      }
      return absl::OkStatus();
    case V::kTuple:
      if (depth >= kMaxTupleDepth || constant.tuple().items_size() > kMaxArgs) {
        return InvalidArgument("has a tuple that is too deep or too long");
      }
      for (const v1::Constant& item : constant.tuple().items()) {
        KF_RETURN_IF_ERROR(ValidateConstant(item, depth + 1));
      }
      return absl::OkStatus();
    case V::kIntValue:
    case V::kFloatValue:
    case V::kBoolValue:
    case V::kNone:
      return absl::OkStatus();
  }
  return InvalidArgument("has a value of an unknown kind");
}

bool IsPowerOfTwo(int value) { return value > 0 && (value & (value - 1)) == 0; }

absl::Status ValidateArg(const v1::KernelArg& arg) {
  if (!IsIdentifier(arg.name())) {
    return InvalidArgument(fmt::format(
        "argument name '{}' is no Python identifier", Shown(arg.name())));
  }
  const auto fail = [&](std::string_view what) {
    return InvalidArgument(fmt::format("argument '{}' {}", arg.name(), what));
  };
  if (arg.type().empty()) {
    const absl::Status status = ValidateConstant(arg.constant(), 0);
    return status.ok() ? status : fail(Text(status));
  }
  const absl::Status status = ValidateType(arg.type());
  if (!status.ok()) return fail(fmt::format("has {}", Text(status)));
  if (arg.divisibility() != 0 && !IsPowerOfTwo(arg.divisibility())) {
    return fail(fmt::format("has divisibility {}, which is no power of two",
                            arg.divisibility()));
  }
  const bool pointer = arg.type().front() == '*';
  if (arg.divisibility() != 0 && !pointer && arg.type().front() != 'i' &&
      arg.type().front() != 'u') {
    return fail(
        fmt::format("is {}: only pointers and integers have a "
                    "divisibility",
                    arg.type()));
  }
  if (arg.pointer_range() != 0 && (!pointer || arg.pointer_range() != 32)) {
    return fail(pointer ? "has a pointer range other than 32"
                        : "is no pointer: it has no pointer range");
  }
  return absl::OkStatus();
}

absl::Status ValidateOptions(const v1::CompileOptions& options) {
  if (options.num_warps() != 0 &&
      (!IsPowerOfTwo(options.num_warps()) || options.num_warps() > 64)) {
    return InvalidArgument(
        fmt::format("num_warps is {}: expected a power of two up to 64",
                    options.num_warps()));
  }
  if (options.num_stages() < 0 || options.num_stages() > 64) {
    return InvalidArgument(fmt::format("num_stages is {}: expected 1 to 64",
                                       options.num_stages()));
  }
  if (options.num_ctas() < 0 || options.num_ctas() > 16) {
    return InvalidArgument(
        fmt::format("num_ctas is {}: expected 1 to 16", options.num_ctas()));
  }
  for (const auto& [name, value] : options.extra()) {
    if (!IsIdentifier(name)) {
      return InvalidArgument(
          fmt::format("option name '{}' is no identifier", Shown(name)));
    }
    const absl::Status status = ValidateConstant(value, 0);
    if (!status.ok()) {
      return InvalidArgument(fmt::format("option '{}' {}", name, Text(status)));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateTargets(
    const google::protobuf::RepeatedPtrField<v1::Target>& targets) {
  if (targets.size() > kMaxTargets) {
    return InvalidArgument(fmt::format("{} targets: at most {} are accepted",
                                       targets.size(), kMaxTargets));
  }
  std::set<std::string> seen;
  for (const v1::Target& target : targets) {
    KF_RETURN_IF_ERROR(ParseTarget(TargetName(target)).status());
    if (!seen.insert(TargetName(target)).second) {
      return InvalidArgument(
          fmt::format("target {} is given twice", TargetName(target)));
    }
  }
  return absl::OkStatus();
}

bool IsHex64(std::string_view text) {
  return IsDigest(fmt::format("sha256:{}", text));
}

absl::Status ValidateKernel(const v1::JobSpec& job,
                            const v1::KernelSpec& kernel) {
  if (!IsIdentifier(kernel.name())) {
    return InvalidArgument(fmt::format(
        "kernel name '{}' is no Python identifier", Shown(kernel.name())));
  }
  const auto fail = [&](std::string_view what) {
    return InvalidArgument(fmt::format("kernel '{}': {}", kernel.name(), what));
  };
  if (!IsPlain(kernel.source_file(), kMaxText)) {
    return fail("its file name has control characters or is too long");
  }
  if (!IsDigest(kernel.module_digest())) {
    return fail("its module is not named by a sha256 digest");
  }
  if (!IsHex64(kernel.file_sha256())) {
    return fail("the hash of its file is not a SHA-256 in hex");
  }
  if (TargetsOf(job, kernel).empty()) return fail("no target is given");
  if (kernel.alternatives_size() > kMaxAlternatives) {
    return fail(fmt::format("{} alternative cases: at most {} are accepted",
                            kernel.alternatives_size(), kMaxAlternatives));
  }
  absl::Status status = ValidateTargets(kernel.targets());
  if (status.ok()) status = ValidateCase(kernel.case_());
  for (const v1::CompileCase& other : kernel.alternatives()) {
    if (status.ok()) status = ValidateCase(other);
  }
  return status.ok() ? status : fail(Text(status));
}

absl::Status ValidateLabels(const v1::JobSpec& job) {
  if (job.labels_size() > kMaxLabels) {
    return InvalidArgument(fmt::format("{} labels: at most {} are accepted",
                                       job.labels_size(), kMaxLabels));
  }
  for (const auto& [key, value] : job.labels()) {
    if (key.empty() || !IsPlain(key, kMaxName) || !IsPlain(value, kMaxText)) {
      return InvalidArgument(
          fmt::format("label '{}' is empty, too long or has control characters",
                      Shown(key)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsElementType(std::string_view name) {
  return std::find(std::begin(kElementTypes), std::end(kElementTypes), name) !=
         std::end(kElementTypes);
}

absl::Status ValidateType(std::string_view type) {
  std::string_view inner = type;
  if (inner.starts_with("tensordesc<") && inner.ends_with('>')) {
    inner = inner.substr(11, inner.size() - 12);
    if (IsDescriptor(inner)) return absl::OkStatus();
    return InvalidArgument(
        fmt::format("impossible type '{}': expected "
                    "tensordesc<fp16[64,64]>, element type and block shape",
                    Shown(type)));
  }
  if (inner.starts_with('*')) {
    inner.remove_prefix(1);
    // `k` marks a pointer to constant memory.
    if (inner.starts_with('k')) inner.remove_prefix(1);
    // A pointer to pointers, as in grouped kernels.
    if (inner.starts_with('*')) inner.remove_prefix(1);
  }
  if (IsElementType(inner)) return absl::OkStatus();
  return InvalidArgument(fmt::format(
      "impossible type '{}': expected one such as *fp16, i32, fp32 or "
      "tensordesc<fp16[64,64]>",
      Shown(type)));
}

absl::Status ValidateCase(const v1::CompileCase& compile_case) {
  if (compile_case.args_size() > kMaxArgs) {
    return InvalidArgument(fmt::format("{} arguments: at most {} are accepted",
                                       compile_case.args_size(), kMaxArgs));
  }
  std::set<std::string_view> seen;
  for (const v1::KernelArg& arg : compile_case.args()) {
    KF_RETURN_IF_ERROR(ValidateArg(arg));
    if (!seen.insert(arg.name()).second) {
      return InvalidArgument(
          fmt::format("argument '{}' is given twice", arg.name()));
    }
  }
  return ValidateOptions(compile_case.options());
}

absl::Status ValidateJob(const v1::JobSpec& job) {
  const std::vector<std::string> known = WorkflowNames();
  if (std::find(known.begin(), known.end(), job.workflow()) == known.end()) {
    return InvalidArgument(fmt::format("unknown workflow '{}': expected {}",
                                       Shown(job.workflow()),
                                       Join(known, " or ")));
  }
  if (job.kernels().empty()) return InvalidArgument("the job has no kernel");
  if (job.kernels_size() > kMaxKernels) {
    return InvalidArgument(fmt::format("{} kernels: at most {} are accepted",
                                       job.kernels_size(), kMaxKernels));
  }
  KF_RETURN_IF_ERROR(ValidateTargets(job.targets()));
  for (const v1::KernelSpec& kernel : job.kernels()) {
    KF_RETURN_IF_ERROR(ValidateKernel(job, kernel));
  }
  KF_RETURN_IF_ERROR(ValidateLabels(job));
  for (const std::string& text : {job.user(), job.node(), job.environment()}) {
    if (!IsPlain(text, kMaxName)) {
      return InvalidArgument(fmt::format(
          "'{}' is too long or has control characters", Shown(text)));
    }
  }
  for (const double seconds :
       {job.queue_timeout_s(), job.total_timeout_s(), job.limits().run_s()}) {
    if (!std::isfinite(seconds) || seconds < 0) {
      return InvalidArgument("a timeout is negative or not a number");
    }
  }
  if (job.limits().output_bytes() < 0 || job.limits().artifact_bytes() < 0 ||
      job.limits().memory_bytes() < 0) {
    return InvalidArgument("a limit is negative");
  }
  return absl::OkStatus();
}

}  // namespace kernelfleet::workflow
