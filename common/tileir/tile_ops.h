// The operations of CUDA Tile IR that we write: names, opcodes and the layout
// of their bytecode, as one table.
#ifndef KERNELFLEET_COMMON_TILEIR_TILE_OPS_H_
#define KERNELFLEET_COMMON_TILEIR_TILE_OPS_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace kernelfleet::tileir {

enum class Code : uint8_t {
  kAbsF,
  kAbsI,
  kAddF,
  kAddI,
  kAndI,
  kAssert,
  kAssume,
  kAtan2,
  kAtomicCas,
  kAtomicRmw,
  kAtomicRedView,
  kBitcast,
  kBreak,
  kBroadcast,
  kCat,
  kCeil,
  kCmpF,
  kCmpI,
  kConstant,
  kContinue,
  kCos,
  kCosH,
  kDivF,
  kDivI,
  kExp,
  kExp2,
  kExtI,
  kExtract,
  kFloor,
  kFma,
  kFor,
  kFToF,
  kFToI,
  kGetNumTileBlocks,
  kGetTileBlockId,
  kIf,
  kIntToPtr,
  kIota,
  kIToF,
  kJoinTokens,
  kLoadPtr,
  kLoadView,
  kLog,
  kLog2,
  kLoop,
  kMakeGatherScatterView,
  kMakePartitionView,
  kMakeStridedView,
  kMakeTensorView,
  kMakeToken,
  kMaxF,
  kMaxI,
  kMinF,
  kMinI,
  kMmaF,
  kMmaFScaled,
  kMmaI,
  kMulF,
  kMulHiI,
  kMulI,
  kNegF,
  kNegI,
  kOffset,
  kOrI,
  kPack,
  kPermute,
  kPow,
  kPrint,
  kPtrToInt,
  kPtrToPtr,
  kReduce,
  kRemF,
  kRemI,
  kReshape,
  kReturn,
  kRsqrt,
  kScan,
  kSelect,
  kShLI,
  kShRI,
  kSin,
  kSinH,
  kSqrt,
  kStorePtr,
  kStoreView,
  kSubF,
  kSubI,
  kTan,
  kTanH,
  kTruncI,
  kUnpack,
  kXOrI,
  kYield,
};
inline constexpr size_t kCodeCount = static_cast<size_t>(Code::kYield) + 1;

// Attributes; the comment names the form of the value.
enum class Key : uint8_t {
  kNone,
  kRounding,       // Rounding
  kOverflow,       // 0: wraps
  kSignedness,     // Signedness
  kSignednessLhs,  // Signedness
  kSignednessRhs,  // Signedness
  kPredicate,      // Predicate
  kOrdering,       // 0: unordered, 1: ordered
  kSemantics,      // Semantics
  kScope,          // Scope
  kMode,           // AtomicMode
  kDim,            // integer
  kReverse,        // bool
  kPermutation,    // integers
  kInbounds,       // bools
  kIdentities,     // scalars and bits
  kValue,          // bytes of the constant
  kMessage,        // string
  kAssumption,     // divisor or bounds
  kLatency,        // load and store hint
  kFlushToZero,    // unit
  kPropagateNan,   // unit
  kUnsignedCmp,    // unit
  kFastAcc,        // unit
  kSaturating,     // unit
};

enum class Rounding : uint8_t {
  kNearestEven = 0,
  kZero = 1,
  kNegativeInf = 2,
  kPositiveInf = 3,
  kApprox = 4,
  kFull = 5,
  kNearestIntToZero = 6,
};
enum class Signedness : uint8_t { kUnsigned = 0, kSigned = 1 };
enum class Predicate : uint8_t {
  kEqual = 0,
  kNotEqual = 1,
  kLess = 2,
  kLessOrEqual = 3,
  kGreater = 4,
  kGreaterOrEqual = 5,
};
enum class Semantics : uint8_t {
  kWeak = 0,
  kRelaxed = 1,
  kAcquire = 2,
  kRelease = 3,
  kAcqRel = 4,
};
enum class Scope : uint8_t { kBlock = 0, kDevice = 1, kSystem = 2 };
enum class AtomicMode : uint8_t {
  kAnd = 0,
  kOr = 1,
  kXor = 2,
  kAdd = 3,
  kAddF = 4,
  kMax = 5,
  kMin = 6,
  kUMax = 7,
  kUMin = 8,
  kExchange = 9,
};

enum class Presence : uint8_t { kRequired, kOptional, kUnit };

struct Field {
  Key key = Key::kNone;
  Presence presence = Presence::kRequired;
  // First minor version of bytecode 13 that has the field.
  uint8_t since = 1;
};

struct OpRow {
  Code code;
  std::string_view name;
  uint8_t opcode;
  // First minor version of bytecode 13 that has the operation.
  uint8_t since;
  // One character for each group of operands: '1' one, '?' none or one, '*'
  // counted. "#": all operands, counted together.
  std::string_view operands;
  // True: the number of results stands before their types.
  bool counted_results = false;
  std::array<Field, 4> fields = {};
  // First minor version with a flags word for optional parts; 0: as `since`.
  uint8_t flags_since = 0;
};

const OpRow& RowOf(Code code);

std::string_view Name(Key key);
// The word that Tile IR's text has for an enumerator; empty for plain numbers.
std::string_view EnumeratorName(Key key, int64_t value);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_TILE_OPS_H_
