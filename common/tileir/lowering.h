// One kernel's way from TTIR to Tile IR: the values so far, the block being
// filled, what was refused. The rules (rules.h) do the work, one operation
// each.
#ifndef KERNELFLEET_COMMON_TILEIR_LOWERING_H_
#define KERNELFLEET_COMMON_TILEIR_LOWERING_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/tileir/lower.h"
#include "common/tileir/pointer_roots.h"
#include "common/tileir/tile_ir.h"
#include "common/tileir/ttir.h"

namespace kernelfleet::tileir {

// Why an operation cannot be lowered; nothing when it was.
using Refusal = std::optional<std::string>;

// A tensor descriptor while it is lowered: the view and what surrounds it.
struct Descriptor {
  ValueId tensor_view = kNoValue;
  Padding padding = Padding::kZero;
  Scalar scalar = Scalar::kNone;
  std::vector<int64_t> block;
  int access_root = -1;
};

class Lowering {
 public:
  Lowering(const ttir::Module& module, const ttir::Function& function,
           const LowerOptions& options, v1::TileIrKernel* report);

  // Lowers the function into kernel(); refusals go to the report.
  void Run();
  Kernel& kernel() { return kernel_; }

  // --- For the rules ---
  const ttir::Module& module() const { return module_; }
  const LowerOptions& options() const { return options_; }
  const ttir::Type& TypeOf(ttir::ValueId value) const {
    return module_.TypeOf(value);
  }
  // The operation that makes a value; null for arguments.
  const ttir::Op* Definition(ttir::ValueId value) const;
  // The integer that a value always has, through casts and splats.
  std::optional<int64_t> ConstantOf(ttir::ValueId value) const;

  // The lowered form of a value, which must be a tile.
  ValueId Use(ttir::ValueId value) const {
    return values_[static_cast<size_t>(value)];
  }
  bool IsLowered(ttir::ValueId value) const { return Use(value) != kNoValue; }
  // From here on, and inside the block being filled, `value` is `lowered`.
  void Bind(ttir::ValueId value, ValueId lowered);
  std::optional<Descriptor> DescriptorOf(ttir::ValueId value) const;
  void BindDescriptor(ttir::ValueId value, Descriptor descriptor);

  TypeId TypeId_(const ttir::Type& type);
  TypeId Tile(Scalar scalar, std::vector<int64_t> shape = {}) {
    return kernel_.types.Tile(scalar, std::move(shape));
  }
  const Type& TileOf(ValueId value) const { return kernel_.TypeOf(value); }

  ValueId Emit(Code code, std::vector<ValueId> operands, TypeId result,
               std::vector<Attribute> attributes = {});
  // For operations of several results, groups or regions.
  Op& EmitOp(Op op);
  ValueId EmitInteger(int64_t value, Scalar scalar,
                      std::vector<int64_t> shape = {});
  // A splat of these bits.
  ValueId EmitBits(uint64_t bits, Scalar scalar, std::vector<int64_t> shape);
  // A scalar to a tile of this shape.
  ValueId EmitSplat(ValueId scalar, const std::vector<int64_t>& shape);
  ValueId EmitDivisible(ValueId value, int64_t divisor);
  ValueId EmitBounded(ValueId value, int64_t low, int64_t high);

  // Lowers one operation into the block being filled.
  void LowerOp(const ttir::Op& op);
  // Runs `fill` with `block` as the block being filled; bindings made inside
  // are undone after.
  template <typename Fill>
  void Inside(Block* block, Fill fill) {
    Block* const outer = std::exchange(block_, block);
    const size_t mark = rebound_.size();
    fill();
    Unbind(mark);
    block_ = outer;
  }
  Block* block() { return block_; }

  int NewAccess(Access access);
  const std::vector<Access>& accesses() const { return kernel_.accesses; }
  // The arguments that the pointers of `value` may come from.
  int RootOf(ttir::ValueId value) const { return roots_.RootOf(value); }
  const PointerRoots& roots() const { return roots_; }

  void Refuse(const ttir::Op& op, std::string reason);
  // The latency hint for loads at this place; 0: none.
  int latency() const { return latency_; }
  void set_latency(int latency) { latency_ = latency; }
  int loop_depth = 0;
  int call_depth = 0;

 private:
  void LowerArguments();
  Refusal CheckArgument(size_t index) const;
  void DescribeArgument(size_t index);
  void DescribeDescriptorParts(size_t index);
  void LowerDescriptorArgument(size_t index);
  void Unbind(size_t mark);

  const ttir::Module& module_;
  const ttir::Function& function_;
  const LowerOptions& options_;
  v1::TileIrKernel* const report_;
  PointerRoots roots_;
  Kernel kernel_;
  Block* block_ = nullptr;
  std::vector<ValueId> values_;
  std::vector<const ttir::Op*> definitions_;
  std::vector<std::pair<ttir::ValueId, Descriptor>> descriptors_;
  std::vector<std::pair<ttir::ValueId, ValueId>> rebound_;
  int latency_ = 0;
};

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_LOWERING_H_
