#include "common/kernel/triton_api.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace kernelfleet::kernel {
namespace {

struct Row {
  std::string_view name;
  Effect effect;
};

// triton.language with its core, standard, math, random and extra modules:
// Triton 3.0 to 3.9, and the names that builds for other vendors add.
constexpr Row kLanguage[] = {
    {"load", Effect::kLoad},
    {"_experimental_descriptor_load", Effect::kLoad},
    {"_experimental_reinterpret_tensor_descriptor", Effect::kMakeDescriptor},
    {"load_tensor_descriptor", Effect::kLoad},
    {"atomic_load", Effect::kLoad},
    {"atomic_poll", Effect::kLoad},
    {"store", Effect::kStore},
    {"_experimental_descriptor_store", Effect::kStore},
    {"store_tensor_descriptor", Effect::kStore},
    {"atomic_store", Effect::kStore},
    {"atomic_add", Effect::kAtomic},
    {"atomic_max", Effect::kAtomic},
    {"atomic_min", Effect::kAtomic},
    {"atomic_and", Effect::kAtomic},
    {"atomic_or", Effect::kAtomic},
    {"atomic_xor", Effect::kAtomic},
    {"atomic_cas", Effect::kAtomicSync},
    {"atomic_xchg", Effect::kAtomicSync},
    {"dot", Effect::kDot},
    {"dot_scaled", Effect::kDot},
    {"dot_fma", Effect::kDot},
    // Gluon's names for the matrix units.
    {"mma_v2", Effect::kDot},
    {"warpgroup_mma", Effect::kDot},
    {"tcgen05_mma", Effect::kDot},
    {"tcgen05_mma_scaled", Effect::kDot},
    {"mfma", Effect::kDot},
    {"mfma_scaled", Effect::kDot},
    {"wmma", Effect::kDot},
    {"wmma_scaled", Effect::kDot},
    {"sum", Effect::kReduce},
    {"max", Effect::kReduce},
    {"min", Effect::kReduce},
    {"argmax", Effect::kReduce},
    {"argmin", Effect::kReduce},
    {"xor_sum", Effect::kReduce},
    {"reduce", Effect::kReduce},
    {"reduce_or", Effect::kReduce},
    {"prod", Effect::kReduce},
    {"any", Effect::kReduce},
    {"all", Effect::kReduce},
    {"softmax", Effect::kNormalize},
    {"cumsum", Effect::kScan},
    {"cumprod", Effect::kScan},
    {"cummax", Effect::kScan},
    {"cummin", Effect::kScan},
    {"associative_scan", Effect::kScan},
    {"sort", Effect::kPermuteLanes},
    {"topk", Effect::kPermuteLanes},
    {"bitonic_merge", Effect::kPermuteLanes},
    {"gather", Effect::kPermuteLanes},
    {"flip", Effect::kPermuteLanes},
    {"histogram", Effect::kHistogram},
    {"arange", Effect::kArange},
    {"zeros", Effect::kFull},
    {"full", Effect::kFull},
    {"zeros_like", Effect::kFull},
    {"full_like", Effect::kFull},
    {"program_id", Effect::kProgramId},
    {"num_programs", Effect::kProgramId},
    {"where", Effect::kWhere},
    {"cast", Effect::kCast},
    {"to_tensor", Effect::kCast},
    {"to", Effect::kCast},
    {"reshape", Effect::kReshape},
    {"view", Effect::kReshape},
    {"ravel", Effect::kReshape},
    {"trans", Effect::kTranspose},
    {"permute", Effect::kTranspose},
    {"swizzle2d", Effect::kElementwise},
    {"broadcast_to", Effect::kBroadcastTo},
    {"broadcast", Effect::kBroadcastTo},
    {"expand_dims", Effect::kExpandDims},
    {"join", Effect::kJoin},
    {"cat", Effect::kJoin},
    {"interleave", Effect::kJoin},
    {"split", Effect::kJoin},
    {"assume", Effect::kHint},
    {"multiple_of", Effect::kHint},
    {"max_contiguous", Effect::kHint},
    {"max_constancy", Effect::kHint},
    {"rand", Effect::kRandom},
    {"randn", Effect::kRandom},
    {"randint", Effect::kRandom},
    {"rand4x", Effect::kRandom},
    {"randn4x", Effect::kRandom},
    {"randint4x", Effect::kRandom},
    {"philox", Effect::kRandom},
    {"philox_impl", Effect::kRandom},
    {"pair_uniform_to_normal", Effect::kRandom},
    {"uint_to_uniform_float", Effect::kRandom},
    {"device_print", Effect::kDebug},
    {"device_assert", Effect::kDebug},
    {"static_print", Effect::kDebug},
    {"static_assert", Effect::kDebug},
    {"debug_barrier", Effect::kBarrier},
    {"inline_asm_elementwise", Effect::kInlineAsm},
    {"make_block_ptr", Effect::kMakeBlockPointer},
    {"advance", Effect::kAdvance},
    {"make_tensor_descriptor", Effect::kMakeDescriptor},
    {"_experimental_make_tensor_descriptor", Effect::kMakeDescriptor},
    {"range", Effect::kRange},
    {"static_range", Effect::kRange},
    {"constexpr", Effect::kStatic},
    {"cdiv", Effect::kStatic},
    {"constexpr_function", Effect::kStatic},
    {"pointer_type", Effect::kStatic},
    {"dtype", Effect::kStatic},
    {"tensor", Effect::kStatic},
    {"abs", Effect::kElementwise},
    {"add", Effect::kElementwise},
    {"sub", Effect::kElementwise},
    {"mul", Effect::kElementwise},
    {"ceil", Effect::kElementwise},
    {"clamp", Effect::kElementwise},
    {"cos", Effect::kElementwise},
    {"div_rn", Effect::kElementwise},
    {"erf", Effect::kElementwise},
    {"exp", Effect::kElementwise},
    {"exp2", Effect::kElementwise},
    {"fdiv", Effect::kElementwise},
    {"floor", Effect::kElementwise},
    {"fma", Effect::kElementwise},
    {"log", Effect::kElementwise},
    {"log2", Effect::kElementwise},
    {"log1p", Effect::kElementwise},
    {"map_elementwise", Effect::kElementwise},
    {"maximum", Effect::kElementwise},
    {"minimum", Effect::kElementwise},
    {"rsqrt", Effect::kElementwise},
    {"sigmoid", Effect::kElementwise},
    {"sin", Effect::kElementwise},
    {"sqrt", Effect::kElementwise},
    {"sqrt_rn", Effect::kElementwise},
    {"tanh", Effect::kElementwise},
    {"umulhi", Effect::kElementwise},
    {"pow", Effect::kElementwise},
    {"div", Effect::kElementwise},
    {"logical_and", Effect::kElementwise},
    {"logical_or", Effect::kElementwise},
    {"logical_not", Effect::kElementwise},
};

// torch._inductor.runtime.triton_helpers, torch 2.1 to 2.11.
constexpr Row kInductorHelpers[] = {
    {"max2", Effect::kReduce},
    {"min2", Effect::kReduce},
    {"any", Effect::kReduce},
    {"prod", Effect::kReduce},
    {"max_with_index", Effect::kReduce},
    {"min_with_index", Effect::kReduce},
    {"welford", Effect::kReduce},
    {"online_softmax_reduce", Effect::kReduce},
    {"sort_with_index", Effect::kPermuteLanes},
    {"bucketize_binary_search", Effect::kElementwise},
    {"exclusive_scan_decoupled_lookback", Effect::kScan},
    {"exclusive_scan_decoupled_lookback_64", Effect::kScan},
};

// Methods of descriptors, and of tensors where they differ from the language.
constexpr Row kMethods[] = {
    {"gather", Effect::kLoad},
    {"scatter", Effect::kStore},
    {"T", Effect::kTranspose},
    {"item", Effect::kCast},
    {"logical_and", Effect::kElementwise},
};

using Table = std::unordered_map<std::string_view, Effect>;

template <size_t N>
Table TableOf(const Row (&rows)[N]) {
  Table out;
  for (const Row& row : rows) out.emplace(row.name, row.effect);
  return out;
}

Effect Find(const Table& table, std::string_view name) {
  const auto found = table.find(name);
  return found == table.end() ? Effect::kUnknown : found->second;
}

}  // namespace

Effect EffectOfName(std::string_view name) {
  static const Table table = TableOf(kLanguage);
  return Find(table, name);
}

Effect EffectOfMethod(std::string_view name) {
  static const Table table = TableOf(kMethods);
  const Effect own = Find(table, name);
  return own != Effect::kUnknown ? own : EffectOfName(name);
}

Effect EffectOfPath(std::string_view path) {
  static const Table helpers = TableOf(kInductorHelpers);
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return Effect::kUnknown;
  const std::string_view name = path.substr(dot + 1);
  const std::string_view module = path.substr(0, dot);
  if (module.starts_with("libdevice")) return Effect::kLibdevice;
  if (module.starts_with("triton_helpers")) {
    const Effect effect = Find(helpers, name);
    return effect == Effect::kUnknown ? Effect::kElementwise : effect;
  }
  if (module.starts_with("triton.language")) {
    const Effect effect = EffectOfName(name);
    // What a newer Triton added: values in, a value out.
    return effect == Effect::kUnknown ? Effect::kElementwise : effect;
  }
  if (path == "triton.cdiv" || path == "triton.next_power_of_2") {
    return Effect::kStatic;
  }
  return Effect::kUnknown;
}

}  // namespace kernelfleet::kernel
