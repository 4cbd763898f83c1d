#include "common/tileir/lowering.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/tileir/descriptors.h"
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

void CollectDefinitions(const ttir::Region& region,
                        std::vector<const ttir::Op*>* definitions) {
  for (const ttir::Block& block : region.blocks) {
    for (const ttir::Op& op : block.ops) {
      for (const ttir::ValueId result : op.results) {
        (*definitions)[static_cast<size_t>(result)] = &op;
      }
      for (const ttir::Region& inner : op.regions) {
        CollectDefinitions(inner, definitions);
      }
    }
  }
}

bool IsPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

// Largest power of two that divides it; hints may name any multiple.
int64_t PowerOfTwoIn(int64_t value) { return value <= 0 ? 1 : value & -value; }

// Bytes; what TMA and Triton ask of a descriptor's base and outer strides.
constexpr int64_t kDescriptorAlignment = 16;
// Tile IR's own limit on a tile.
constexpr int64_t kMaxElements = 16'777'216;

}  // namespace

Lowering::Lowering(const ttir::Module& module, const ttir::Function& function,
                   const LowerOptions& options, v1::TileIrKernel* report)
    : module_(module),
      function_(function),
      options_(options),
      report_(report),
      roots_(module, function),
      values_(module.values.size(), kNoValue),
      definitions_(module.values.size(), nullptr),
      latency_(options.num_stages) {
  for (const ttir::Function& any : module.functions) {
    CollectDefinitions(any.body, &definitions_);
  }
}

const ttir::Op* Lowering::Definition(ttir::ValueId value) const {
  return definitions_[static_cast<size_t>(value)];
}

std::optional<int64_t> Lowering::ConstantOf(ttir::ValueId value) const {
  const ttir::Op* op = Definition(value);
  while (op != nullptr && op->operands.size() == 1 &&
         (op->name == "arith.extsi" || op->name == "arith.extui" ||
          op->name == "tt.splat" || op->name == "arith.trunci")) {
    op = Definition(op->operands[0]);
  }
  if (op == nullptr || op->name != "arith.constant") return std::nullopt;
  const ttir::Attribute* attribute = op->Find("value");
  if (attribute != nullptr &&
      attribute->kind == ttir::Attribute::Kind::kDense &&
      attribute->items.size() == 1) {
    attribute = &attribute->items[0];
  }
  if (attribute == nullptr ||
      (attribute->kind != ttir::Attribute::Kind::kInteger &&
       attribute->kind != ttir::Attribute::Kind::kBool)) {
    return std::nullopt;
  }
  return attribute->integer;
}

void Lowering::Bind(ttir::ValueId value, ValueId lowered) {
  ValueId& place = values_[static_cast<size_t>(value)];
  rebound_.emplace_back(value, place);
  place = lowered;
}

void Lowering::Unbind(size_t mark) {
  while (rebound_.size() > mark) {
    const auto& [value, before] = rebound_.back();
    values_[static_cast<size_t>(value)] = before;
    rebound_.pop_back();
  }
}

std::optional<Descriptor> Lowering::DescriptorOf(ttir::ValueId value) const {
  for (auto it = descriptors_.rbegin(); it != descriptors_.rend(); ++it) {
    if (it->first == value) return it->second;
  }
  return std::nullopt;
}

void Lowering::BindDescriptor(ttir::ValueId value, Descriptor descriptor) {
  Bind(value, descriptor.tensor_view);
  descriptors_.emplace_back(value, std::move(descriptor));
}

TypeId Lowering::TypeId_(const ttir::Type& type) {
  return kernel_.types.Tile(type.scalar, type.shape, type.pointer);
}

ValueId Lowering::Emit(Code code, std::vector<ValueId> operands, TypeId result,
                       std::vector<Attribute> attributes) {
  Op op;
  op.code = code;
  op.operands = std::move(operands);
  op.attributes = std::move(attributes);
  op.results.push_back(kernel_.NewValue(result));
  block_->ops.push_back(std::move(op));
  return block_->ops.back().results[0];
}

Op& Lowering::EmitOp(Op op) {
  block_->ops.push_back(std::move(op));
  return block_->ops.back();
}

ValueId Lowering::EmitBits(uint64_t bits, Scalar scalar,
                           std::vector<int64_t> shape) {
  Attribute value;
  value.key = Key::kValue;
  // A splat is stored as one element; i1 is a whole byte of its bit, and tf32
  // keeps its upper three bytes.
  int bytes = std::max(1, ttir::Bits(scalar) / 8);
  if (scalar == Scalar::kI1) bits = (bits & 1) != 0 ? 0xFF : 0;
  if (scalar == Scalar::kTF32) {
    bits >>= 8;
    bytes = 3;
  }
  for (int i = 0; i < bytes; ++i) {
    value.text += static_cast<char>(bits >> (8 * i));
  }
  return Emit(Code::kConstant, {}, Tile(scalar, std::move(shape)),
              {std::move(value)});
}

ValueId Lowering::EmitInteger(int64_t value, Scalar scalar,
                              std::vector<int64_t> shape) {
  return EmitBits(static_cast<uint64_t>(value), scalar, std::move(shape));
}

ValueId Lowering::EmitSplat(ValueId scalar, const std::vector<int64_t>& shape) {
  const Type type = TileOf(scalar);
  if (shape.empty()) return scalar;
  const std::vector<int64_t> ones(shape.size(), 1);
  const ValueId ranked =
      Emit(Code::kReshape, {scalar},
           kernel_.types.Tile(type.scalar, ones, type.pointer));
  if (ones == shape) return ranked;
  return Emit(Code::kBroadcast, {ranked},
              kernel_.types.Tile(type.scalar, shape, type.pointer));
}

ValueId Lowering::EmitDivisible(ValueId value, int64_t divisor) {
  divisor = PowerOfTwoIn(divisor);
  if (divisor <= 1) return value;
  Attribute attribute;
  attribute.key = Key::kAssumption;
  attribute.number = static_cast<int64_t>(Assumption::kDivBy);
  attribute.list = {divisor};
  return Emit(Code::kAssume, {value},
              kernel_.value_types[static_cast<size_t>(value)],
              {std::move(attribute)});
}

ValueId Lowering::EmitBounded(ValueId value, int64_t low, int64_t high) {
  Attribute attribute;
  attribute.key = Key::kAssumption;
  attribute.number = static_cast<int64_t>(Assumption::kBounded);
  attribute.list = {low, high};
  return Emit(Code::kAssume, {value},
              kernel_.value_types[static_cast<size_t>(value)],
              {std::move(attribute)});
}

int Lowering::NewAccess(Access access) {
  kernel_.accesses.push_back(access);
  return static_cast<int>(kernel_.accesses.size()) - 1;
}

void Lowering::Refuse(const ttir::Op& op, std::string reason) {
  const ttir::SourceLine line = module_.Resolve(op.location);
  v1::TileIrUnsupported* finding = report_->add_unsupported();
  finding->set_op(std::string(op.name));
  finding->set_file(line.file);
  finding->set_line(line.line);
  finding->set_reason(std::move(reason));
}

// Refuses types that no tile has; nothing when all are well.
static Refusal CheckTypes(const Lowering& lowering, const ttir::Op& op) {
  for (const auto* list : {&op.operands, &op.results}) {
    for (const ttir::ValueId value : *list) {
      const ttir::Type& type = lowering.TypeOf(value);
      if (type.kind == ttir::Type::Kind::kDescriptor) continue;
      if (type.kind != ttir::Type::Kind::kValue) {
        return fmt::format("type {}", Printable(ttir::Spell(type)));
      }
      if (ttir::ElementCount(type) > kMaxElements ||
          !std::all_of(type.shape.begin(), type.shape.end(), IsPowerOfTwo)) {
        return fmt::format("no tile has the shape of {}", ttir::Spell(type));
      }
    }
  }
  return std::nullopt;
}

void Lowering::LowerOp(const ttir::Op& op) {
  const Rule* rule = FindRule(op.name);
  if (rule == nullptr) return Refuse(op, "no counterpart in Tile IR");
  // What depends on something refused is not refused again.
  for (const ttir::ValueId operand : op.operands) {
    if (!IsLowered(operand)) return;
  }
  Refusal refusal = CheckTypes(*this, op);
  if (!refusal.has_value()) refusal = Verify(*this, op, *rule);
  if (!refusal.has_value()) refusal = rule->lower(*this, op, *rule);
  if (refusal.has_value()) Refuse(op, *std::move(refusal));
}

Refusal Lowering::CheckArgument(size_t index) const {
  const ttir::Type& type = TypeOf(function_.arguments[index].value);
  if (type.kind == ttir::Type::Kind::kDescriptor) {
    const size_t rank = type.shape.size();
    if (rank == 0) return "a descriptor without dimensions";
    for (size_t i = 1; i <= 2 * rank; ++i) {
      const Scalar wanted = i <= rank ? Scalar::kI32 : Scalar::kI64;
      if (index + i >= function_.arguments.size()) {
        return "a descriptor without extents and strides";
      }
      const ttir::Type& part = TypeOf(function_.arguments[index + i].value);
      if (part.kind != ttir::Type::Kind::kValue || part.scalar != wanted ||
          part.tensor || part.pointer) {
        return "a descriptor without extents and strides";
      }
    }
    return std::nullopt;
  }
  if (type.kind != ttir::Type::Kind::kValue || type.tensor) {
    return fmt::format("an argument of type {}", Printable(ttir::Spell(type)));
  }
  return std::nullopt;
}

void Lowering::DescribeArgument(size_t index) {
  const ttir::Argument& argument = function_.arguments[index];
  const ttir::Type& type = TypeOf(argument.value);
  v1::TileIrArgument* made = report_->add_arguments();
  made->set_name(
      std::string(module_.values[static_cast<size_t>(argument.value)].name));
  made->set_kind(type.pointer ? v1::TileIrArgument::pointer
                              : v1::TileIrArgument::scalar);
  made->set_type(std::string(ttir::Name(type.scalar)));
  made->set_parameter(static_cast<int>(index));
  for (const auto& [key, attribute] : argument.attributes) {
    if (key == "tt.divisibility" && attribute.integer > 1) {
      made->set_divisor(attribute.integer);
    }
  }
  if (type.kind != ttir::Type::Kind::kDescriptor) return;
  made->set_kind(v1::TileIrArgument::descriptor_base);
  made->set_divisor(kDescriptorAlignment);
}

// The parts that follow a descriptor, with what the launcher must check.
void Lowering::DescribeDescriptorParts(size_t index) {
  const ttir::Type& type = TypeOf(function_.arguments[index].value);
  const auto rank = static_cast<int>(type.shape.size());
  const int64_t step =
      kDescriptorAlignment / std::max(1, ttir::Bits(type.scalar) / 8);
  for (int i = 0; i < 2 * rank; ++i) {
    v1::TileIrArgument* part =
        report_->mutable_arguments(static_cast<int>(index) + 1 + i);
    part->set_dimension(i % rank);
    part->set_maximum(INT32_MAX);
    if (i < rank) {
      part->set_kind(v1::TileIrArgument::descriptor_shape);
    } else {
      part->set_kind(v1::TileIrArgument::descriptor_stride);
      if (i + 1 == 2 * rank) {
        part->set_equals(1);
      } else {
        part->set_divisor(std::max<int64_t>(1, step));
      }
    }
  }
}

void Lowering::LowerArguments() {
  for (size_t i = 0; i < function_.arguments.size(); ++i) {
    if (Refusal refusal = CheckArgument(i)) {
      ttir::Op here;
      here.name = "tt.func";
      here.location = function_.location;
      Refuse(here, *std::move(refusal));
      return;
    }
    const ttir::ValueId argument = function_.arguments[i].value;
    const ttir::Type& type = TypeOf(argument);
    const bool descriptor = type.kind == ttir::Type::Kind::kDescriptor;
    const ValueId value = kernel_.NewValue(
        descriptor ? kernel_.types.Tile(type.scalar, {}, true) : TypeId_(type));
    kernel_.body.arguments.push_back(value);
    Bind(argument, value);
    DescribeArgument(i);
  }
  for (size_t i = 0; i < function_.arguments.size(); ++i) {
    const ttir::ValueId argument = function_.arguments[i].value;
    if (TypeOf(argument).kind == ttir::Type::Kind::kDescriptor) {
      DescribeDescriptorParts(i);
      LowerDescriptorArgument(i);
      continue;
    }
    const v1::TileIrArgument& made = report_->arguments(static_cast<int>(i));
    if (made.kind() == v1::TileIrArgument::pointer ||
        made.kind() == v1::TileIrArgument::scalar) {
      Bind(argument, EmitDivisible(Use(argument), made.divisor()));
    }
  }
}

// Triton passes a descriptor as itself, an i32 extent for each dimension and
// an i64 stride for each. The entry takes a base pointer in its own place.
void Lowering::LowerDescriptorArgument(size_t index) {
  const ttir::ValueId value = function_.arguments[index].value;
  const ttir::Type& type = TypeOf(value);
  const size_t rank = type.shape.size();
  TensorShape shape;
  shape.base = Use(value);
  for (size_t i = 1; i <= 2 * rank; ++i) {
    Extent extent;
    extent.value = Use(function_.arguments[index + i].value);
    if (i == 2 * rank) {
      extent.constant = 1;
    } else if (i > rank) {  // The launcher checked that it fits.
      extent.value = Emit(Code::kTruncI, {extent.value}, Tile(Scalar::kI32),
                          {Number(Key::kOverflow, 0)});
    }
    (i <= rank ? shape.extents : shape.strides).push_back(extent);
  }
  Descriptor descriptor;
  descriptor.block = type.shape;
  descriptor.scalar = type.scalar;
  descriptor.tensor_view = EmitTensorView(*this, shape, type.scalar);
  BindDescriptor(value, std::move(descriptor));
}

void Lowering::Run() {
  kernel_.name = function_.name;
  kernel_.hints = {options_.num_ctas, options_.occupancy,
                   options_.num_worker_warps};
  block_ = &kernel_.body;
  LowerArguments();
  if (report_->unsupported_size() > 0) return;
  LowerBody(*this, function_.body);
}

}  // namespace kernelfleet::tileir
