// A kernel in CUDA Tile IR, in memory: what the lowering builds, the token
// pass orders, and the bytecode writer and the printer read.
#ifndef KERNELFLEET_COMMON_TILEIR_TILE_IR_H_
#define KERNELFLEET_COMMON_TILEIR_TILE_IR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/tileir/tile_ops.h"
#include "common/tileir/ttir.h"

namespace kernelfleet::tileir {

using ttir::Scalar;

using TypeId = int32_t;
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;
// A shape or stride of a tensor view known only at run time.
inline constexpr int64_t kDynamic = INT64_MIN;

enum class Padding : uint8_t { kNone, kZero, kNan };

struct Type {
  enum class Kind : uint8_t {
    kTile,
    kToken,
    kTensorView,
    kPartitionView,
    kStridedView,
    kGatherScatterView,
  };
  Kind kind = Kind::kTile;
  Scalar scalar = Scalar::kNone;
  bool pointer = false;
  Padding padding = Padding::kNone;
  // Of the tile; of the tensor view; the tile's of the other views.
  std::vector<int64_t> shape;
  // Of a tensor view.
  std::vector<int64_t> strides;
  // The tensor view that another view looks into.
  TypeId of = -1;
};

// Types by number; equal types have one number.
class TypeTable {
 public:
  TypeId Add(const Type& type);
  TypeId Tile(Scalar scalar, std::vector<int64_t> shape = {},
              bool pointer = false);
  TypeId Token();
  const Type& operator[](TypeId id) const {
    return types_[static_cast<size_t>(id)];
  }

 private:
  std::vector<Type> types_;
  std::unordered_map<std::string, TypeId> numbers_;
};

struct Attribute {
  Key key = Key::kNone;
  int64_t number = 0;
  std::string text;
  std::vector<int64_t> list;
};

// What an assume says; kAssumption holds list = {kind, a, b}.
enum class Assumption : uint8_t { kDivBy = 0, kBounded = 1 };

struct Block;

struct Op {
  Code code = Code::kReturn;
  std::vector<ValueId> operands;
  // Sizes of the operand groups of the row, for rows with '?' or '*'.
  std::vector<int> groups;
  std::vector<ValueId> results;
  std::vector<Attribute> attributes;
  std::vector<Block> regions;
  // Which memory access this is (Kernel::accesses); -1: none.
  int access = -1;
  // Of a loop: roots through which no two iterations touch common memory.
  std::vector<int> disjoint_roots;

  const Attribute* Find(Key key) const;
};

struct Block {
  std::vector<ValueId> arguments;
  std::vector<Op> ops;
};

// What the token pass must know of an operation that touches memory.
struct Access {
  bool reads = false;
  bool writes = false;
  // An atomic with acquire or release: orders every access around it.
  bool acquires = false;
  bool releases = false;
  // The root of its pointers (PointerRoots); -1: none.
  int root = -1;
  // The TTIR value of its pointers; -1 where the addresses are no plain tile
  // of pointers.
  ttir::ValueId pointers = -1;
};

struct EntryHints {
  int num_ctas = 1;
  // 0: left to the compiler.
  int occupancy = 0;
  int num_worker_warps = 0;
};

struct Kernel {
  std::string name;
  TypeTable types;
  std::vector<TypeId> value_types;
  // Parameters first.
  Block body;
  std::vector<Access> accesses;
  EntryHints hints;

  ValueId NewValue(TypeId type) {
    value_types.push_back(type);
    return static_cast<ValueId>(value_types.size()) - 1;
  }
  const Type& TypeOf(ValueId value) const {
    return types[value_types[static_cast<size_t>(value)]];
  }
};

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_TILE_IR_H_
