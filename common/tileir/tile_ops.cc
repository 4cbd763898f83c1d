#include "common/tileir/tile_ops.h"

#include <span>

namespace kernelfleet::tileir {
namespace {

constexpr Field Required(Key key, uint8_t since = 1) {
  return {key, Presence::kRequired, since};
}
constexpr Field Optional(Key key, uint8_t since = 1) {
  return {key, Presence::kOptional, since};
}
constexpr Field Unit(Key key, uint8_t since = 1) {
  return {key, Presence::kUnit, since};
}

constexpr Field kRounded = Required(Key::kRounding);
constexpr Field kFtz = Unit(Key::kFlushToZero);
constexpr Field kWraps = Required(Key::kOverflow);
constexpr Field kSign = Required(Key::kSignedness);
constexpr Field kOrder = Required(Key::kSemantics);
constexpr Field kMaybeScope = Optional(Key::kScope);
constexpr Field kHint = Optional(Key::kLatency);

// Source: opcodes and field orders of the CUDA Tile IR bytecode, versions 13.1
// to 13.5 (docs.nvidia.com/cuda/tile-ir; NVIDIA/cuda-tile BytecodeOpcodes.td
// and Ops.td). Opcodes never change once given.
constexpr std::array<OpRow, kCodeCount> kRows = {{
    {Code::kAbsF, "absf", 0x00, 1, "1"},
    {Code::kAbsI, "absi", 0x01, 1, "1"},
    {Code::kAddF, "addf", 0x02, 1, "11", false, {kRounded, kFtz}},
    {Code::kAddI, "addi", 0x03, 1, "11", false, {kWraps}},
    {Code::kAndI, "andi", 0x04, 1, "11"},
    {Code::kAssert, "assert", 0x05, 1, "1", false, {Required(Key::kMessage)}},
    {Code::kAssume,
     "assume",
     0x06,
     1,
     "1",
     false,
     {Required(Key::kAssumption)}},
    {Code::kAtan2, "atan2", 0x6E, 2, "11"},
    {Code::kAtomicCas,
     "atomic_cas_tko",
     0x07,
     1,
     "111??",
     false,
     {kOrder, Required(Key::kScope)}},
    {Code::kAtomicRmw,
     "atomic_rmw_tko",
     0x08,
     1,
     "11??",
     false,
     {kOrder, Required(Key::kScope), Required(Key::kMode)}},
    {Code::kAtomicRedView,
     "atomic_red_view_tko",
     0x75,
     3,
     "1*1?",
     true,
     {kOrder, Required(Key::kScope), Required(Key::kMode),
      Required(Key::kInbounds, 5)}},
    {Code::kBitcast, "bitcast", 0x09, 1, "1"},
    {Code::kBreak, "break", 0x0A, 1, "#", true},
    {Code::kBroadcast, "broadcast", 0x0B, 1, "1"},
    {Code::kCat, "cat", 0x0C, 1, "11", false, {Required(Key::kDim)}},
    {Code::kCeil, "ceil", 0x0D, 1, "1"},
    {Code::kCmpF,
     "cmpf",
     0x0E,
     1,
     "11",
     false,
     {Required(Key::kPredicate), Required(Key::kOrdering)}},
    {Code::kCmpI,
     "cmpi",
     0x0F,
     1,
     "11",
     false,
     {Required(Key::kPredicate), kSign}},
    {Code::kConstant, "constant", 0x10, 1, "", false, {Required(Key::kValue)}},
    {Code::kContinue, "continue", 0x11, 1, "#", true},
    {Code::kCos, "cos", 0x12, 1, "1"},
    {Code::kCosH, "cosh", 0x13, 1, "1"},
    {Code::kDivF, "divf", 0x14, 1, "11", false, {kRounded, kFtz}},
    {Code::kDivI, "divi", 0x15, 1, "11", false, {kSign, kRounded}},
    {Code::kExp, "exp", 0x17, 1, "1", false, {Required(Key::kRounding, 3)}},
    {Code::kExp2, "exp2", 0x18, 1, "1", false, {kFtz}},
    {Code::kExtI, "exti", 0x25, 1, "1", false, {kSign}},
    {Code::kExtract, "extract", 0x26, 1, "#", true},
    {Code::kFloor, "floor", 0x27, 1, "1"},
    {Code::kFma, "fma", 0x28, 1, "111", false, {kRounded, kFtz}},
    {Code::kFor, "for", 0x29, 1, "#", true, {Unit(Key::kUnsignedCmp, 2)}, 2},
    {Code::kFToF, "ftof", 0x2A, 1, "1", false, {kRounded}},
    {Code::kFToI,
     "ftoi",
     0x2B,
     1,
     "1",
     false,
     {Unit(Key::kSaturating, 4), kSign, kRounded},
     4},
    {Code::kGetNumTileBlocks, "get_num_tile_blocks", 0x2E, 1, ""},
    {Code::kGetTileBlockId, "get_tile_block_id", 0x30, 1, ""},
    {Code::kIf, "if", 0x32, 1, "1", true},
    {Code::kIntToPtr, "int_to_ptr", 0x33, 1, "1"},
    {Code::kIota, "iota", 0x3A, 1, ""},
    {Code::kIToF, "itof", 0x3B, 1, "1", false, {kSign, kRounded}},
    {Code::kJoinTokens, "join_tokens", 0x3C, 1, "#", true},
    {Code::kLoadPtr,
     "load_ptr_tko",
     0x3D,
     1,
     "1???",
     false,
     {kOrder, kMaybeScope, kHint}},
    {Code::kLoadView,
     "load_view_tko",
     0x3E,
     1,
     "1*?",
     true,
     {kOrder, kMaybeScope, kHint, Required(Key::kInbounds, 4)}},
    {Code::kLog, "log", 0x3F, 1, "1"},
    {Code::kLog2, "log2", 0x40, 1, "1"},
    {Code::kLoop, "loop", 0x41, 1, "#", true},
    {Code::kMakeGatherScatterView, "make_gather_scatter_view", 0x73, 3, "1"},
    {Code::kMakePartitionView, "make_partition_view", 0x42, 1, "1"},
    {Code::kMakeStridedView, "make_strided_view", 0x74, 3, "1"},
    {Code::kMakeTensorView, "make_tensor_view", 0x43, 1, "1**", true},
    {Code::kMakeToken, "make_token", 0x44, 1, ""},
    {Code::kMaxF,
     "maxf",
     0x45,
     1,
     "11",
     false,
     {Unit(Key::kPropagateNan), kFtz}},
    {Code::kMaxI, "maxi", 0x46, 1, "11", false, {kSign}},
    {Code::kMinF,
     "minf",
     0x47,
     1,
     "11",
     false,
     {Unit(Key::kPropagateNan), kFtz}},
    {Code::kMinI, "mini", 0x48, 1, "11", false, {kSign}},
    {Code::kMmaF, "mmaf", 0x49, 1, "111", false, {Unit(Key::kFastAcc, 3)}, 3},
    {Code::kMmaFScaled, "mmaf_scaled", 0x72, 3, "11111"},
    {Code::kMmaI,
     "mmai",
     0x4A,
     1,
     "111",
     false,
     {Required(Key::kSignednessLhs), Required(Key::kSignednessRhs)}},
    {Code::kMulF, "mulf", 0x4C, 1, "11", false, {kRounded, kFtz}},
    {Code::kMulHiI, "mulhii", 0x4D, 1, "11"},
    {Code::kMulI, "muli", 0x4E, 1, "11", false, {kWraps}},
    {Code::kNegF, "negf", 0x4F, 1, "1"},
    {Code::kNegI, "negi", 0x50, 1, "1", false, {Required(Key::kOverflow, 2)}},
    {Code::kOffset, "offset", 0x51, 1, "11"},
    {Code::kOrI, "ori", 0x52, 1, "11"},
    {Code::kPack, "pack", 0x6F, 3, "1"},
    {Code::kPermute,
     "permute",
     0x53,
     1,
     "1",
     false,
     {Required(Key::kPermutation)}},
    {Code::kPow, "pow", 0x54, 1, "11"},
    {Code::kPrint, "print_tko", 0x55, 2, "*?", true, {Required(Key::kMessage)}},
    {Code::kPtrToInt, "ptr_to_int", 0x56, 1, "1"},
    {Code::kPtrToPtr, "ptr_to_ptr", 0x57, 1, "1"},
    {Code::kReduce,
     "reduce",
     0x58,
     1,
     "#",
     true,
     {Required(Key::kDim), Required(Key::kIdentities)}},
    {Code::kRemF, "remf", 0x59, 1, "11"},
    {Code::kRemI, "remi", 0x5A, 1, "11", false, {kSign}},
    {Code::kReshape, "reshape", 0x5B, 1, "1"},
    {Code::kReturn, "return", 0x5C, 1, "#", true},
    {Code::kRsqrt, "rsqrt", 0x5D, 1, "1", false, {kFtz}},
    {Code::kScan,
     "scan",
     0x5E,
     1,
     "#",
     true,
     {Required(Key::kDim), Required(Key::kReverse),
      Required(Key::kIdentities)}},
    {Code::kSelect, "select", 0x5F, 1, "111"},
    {Code::kShLI, "shli", 0x60, 1, "11", false, {kWraps}},
    {Code::kShRI, "shri", 0x61, 1, "11", false, {kSign}},
    {Code::kSin, "sin", 0x62, 1, "1"},
    {Code::kSinH, "sinh", 0x63, 1, "1"},
    {Code::kSqrt, "sqrt", 0x64, 1, "1", false, {kRounded, kFtz}},
    {Code::kStorePtr,
     "store_ptr_tko",
     0x65,
     1,
     "11??",
     false,
     {kOrder, kMaybeScope, kHint}},
    {Code::kStoreView,
     "store_view_tko",
     0x66,
     1,
     "11*?",
     true,
     {kOrder, kMaybeScope, kHint, Required(Key::kInbounds, 4)}},
    {Code::kSubF, "subf", 0x67, 1, "11", false, {kRounded, kFtz}},
    {Code::kSubI, "subi", 0x68, 1, "11", false, {kWraps}},
    {Code::kTan, "tan", 0x69, 1, "1"},
    {Code::kTanH, "tanh", 0x6A, 1, "1", false, {Required(Key::kRounding, 2)}},
    {Code::kTruncI, "trunci", 0x6B, 1, "1", false, {kWraps}},
    {Code::kUnpack, "unpack", 0x70, 3, "1"},
    {Code::kXOrI, "xori", 0x6C, 1, "11"},
    {Code::kYield, "yield", 0x6D, 1, "#", true},
}};

constexpr bool InOrder() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].code) != i) return false;
  }
  return true;
}
static_assert(InOrder(), "kRows must follow the order of Code");

struct KeyRow {
  Key key;
  std::string_view name;
  std::span<const std::string_view> words;
};

constexpr std::array<std::string_view, 7> kRoundings = {
    "nearest_even", "zero", "negative_inf",       "positive_inf",
    "approx",       "full", "nearest_int_to_zero"};
constexpr std::array<std::string_view, 2> kSigns = {"unsigned", "signed"};
constexpr std::array<std::string_view, 6> kPredicates = {
    "equal",        "not_equal",
    "less_than",    "less_than_or_equal",
    "greater_than", "greater_than_or_equal"};
constexpr std::array<std::string_view, 2> kOrderings = {"unordered", "ordered"};
constexpr std::array<std::string_view, 5> kSemantics = {
    "weak", "relaxed", "acquire", "release", "acq_rel"};
constexpr std::array<std::string_view, 3> kScopes = {"tl_blk", "device", "sys"};
constexpr std::array<std::string_view, 10> kModes = {
    "and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"};

constexpr std::array<KeyRow, 25> kKeys = {{
    {Key::kNone, "", {}},
    {Key::kRounding, "rounding", kRoundings},
    {Key::kOverflow, "overflow", {}},
    {Key::kSignedness, "sign", kSigns},
    {Key::kSignednessLhs, "lhs", kSigns},
    {Key::kSignednessRhs, "rhs", kSigns},
    {Key::kPredicate, "predicate", kPredicates},
    {Key::kOrdering, "ordering", kOrderings},
    {Key::kSemantics, "order", kSemantics},
    {Key::kScope, "scope", kScopes},
    {Key::kMode, "mode", kModes},
    {Key::kDim, "dim", {}},
    {Key::kReverse, "reverse", {}},
    {Key::kPermutation, "permutation", {}},
    {Key::kInbounds, "inbounds", {}},
    {Key::kIdentities, "identities", {}},
    {Key::kValue, "value", {}},
    {Key::kMessage, "message", {}},
    {Key::kAssumption, "assumption", {}},
    {Key::kLatency, "latency", {}},
    {Key::kFlushToZero, "flush_to_zero", {}},
    {Key::kPropagateNan, "propagate_nan", {}},
    {Key::kUnsignedCmp, "unsigned_cmp", {}},
    {Key::kFastAcc, "fast_acc", {}},
    {Key::kSaturating, "saturating", {}},
}};

}  // namespace

const OpRow& RowOf(Code code) { return kRows[static_cast<size_t>(code)]; }

std::string_view Name(Key key) { return kKeys[static_cast<size_t>(key)].name; }

std::string_view EnumeratorName(Key key, int64_t value) {
  const auto& words = kKeys[static_cast<size_t>(key)].words;
  if (value < 0 || value >= static_cast<int64_t>(words.size())) return {};
  return words[static_cast<size_t>(value)];
}

}  // namespace kernelfleet::tileir
