#include "common/tileir/bytecode.h"

#include <algorithm>
#include <array>

#include "common/base/check.h"
#include "common/base/status.h"
#include "common/tileir/byte_sink.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

// Source of every number below: the CUDA Tile IR bytecode specification and
// NVIDIA/cuda-tile (BytecodeEnums.h, BytecodeTypeOpcodes.td,
// BytecodeAttrOpcodes.td).
constexpr std::string_view kMagic("\x7FTileIR\0", 8);

enum class Section : uint8_t {
  kEnd = 0,
  kString = 1,
  kFunction = 2,
  kConstant = 4,
  kType = 5,
  kProducer = 7,
};
constexpr uint8_t kAligned = 0x80;

enum class TypeTag : uint8_t {
  kPointer = 12,
  kTile = 13,
  kTensorView = 14,
  kPartitionView = 15,
  kFunction = 16,
  kToken = 17,
  kGatherScatterView = 20,
  kStridedView = 21,
};

enum class AttributeTag : uint8_t {
  kInteger = 1,
  kFloat = 2,
  kArray = 6,
  kDivBy = 8,
  kDictionary = 10,
  kHints = 11,
  kBounded = 12,
};

constexpr uint8_t kEntryFlag = 0x02;
constexpr uint8_t kHintsFlag = 0x04;

struct ScalarTag {
  Scalar scalar;
  uint8_t tag;
  uint8_t since;
};
constexpr std::array<ScalarTag, 15> kScalarTags = {{
    {Scalar::kI1, 0, 1},
    {Scalar::kI8, 1, 1},
    {Scalar::kI16, 2, 1},
    {Scalar::kI32, 3, 1},
    {Scalar::kI64, 4, 1},
    {Scalar::kF16, 5, 1},
    {Scalar::kBF16, 6, 1},
    {Scalar::kF32, 7, 1},
    {Scalar::kTF32, 8, 1},
    {Scalar::kF64, 9, 1},
    {Scalar::kF8E4M3FN, 10, 1},
    {Scalar::kF8E5M2, 11, 1},
    {Scalar::kF8E8M0FNU, 18, 2},
    {Scalar::kF4E2M1FN, 19, 3},
    {Scalar::kI4, 22, 3},
}};

class Writer {
 public:
  Writer(const Kernel& kernel, int minor, std::string_view arch)
      : kernel_(kernel), minor_(minor), arch_(arch) {
    numbers_.assign(kernel.value_types.size(), kNoValue);
    type_numbers_.assign(kernel.value_types.size() + 1, -1);
  }

  absl::StatusOr<std::string> Run();

 private:
  uint64_t TypeNumber(TypeId id);
  uint64_t ScalarNumber(Scalar scalar);
  std::string EncodeView(const Type& type);
  void WriteTypes(const std::vector<ValueId>& values, ByteSink* sink);
  absl::Status WriteBlock(const Block& block, ByteSink* sink);
  absl::Status WriteOp(const Op& op, ByteSink* sink);
  void WriteFlags(const Op& op, const OpRow& row, ByteSink* sink);
  void WriteField(const Attribute& value, ByteSink* sink);
  void WriteIdentities(const Attribute& value, ByteSink* sink);
  void WriteOperands(const Op& op, const OpRow& row, ByteSink* sink);
  void WriteValue(ValueId value, ByteSink* sink);
  // Dictionary of one architecture to a dictionary of integers.
  void WriteHints(const std::vector<std::pair<std::string_view, int>>& hints,
                  ByteSink* sink);
  void WriteEntryHints(ByteSink* sink);
  absl::Status WriteFunctions(ByteSink* sink);
  void Number(const std::vector<ValueId>& values);

  const Kernel& kernel_;
  const int minor_;
  const std::string_view arch_;
  absl::Status status_;
  ByteTable strings_;
  ByteTable types_;
  ByteTable constants_;
  // By our own value and type numbers.
  std::vector<ValueId> numbers_;
  std::vector<int64_t> type_numbers_;
  ValueId next_ = 0;
};

uint64_t Writer::ScalarNumber(Scalar scalar) {
  for (const ScalarTag& row : kScalarTags) {
    if (row.scalar != scalar) continue;
    if (row.since > minor_ && status_.ok()) {
      status_ = FailedPrecondition(fmt::format("type {} needs bytecode 13.{}",
                                               ttir::Name(scalar), row.since));
    }
    const auto tag = static_cast<char>(row.tag);
    return types_.Number(std::string_view(&tag, 1));
  }
  KF_CHECK(false);
}

std::string Writer::EncodeView(const Type& type) {
  ByteSink sink;
  const uint64_t of = TypeNumber(type.of);
  const bool partition = type.kind == Type::Kind::kPartitionView;
  sink.Varint(static_cast<uint8_t>(partition ? TypeTag::kPartitionView
                                   : type.kind == Type::Kind::kStridedView
                                       ? TypeTag::kStridedView
                                       : TypeTag::kGatherScatterView));
  const bool padded = type.padding != Padding::kNone;
  if (minor_ >= 3) sink.Varint(padded ? 1 : 0);
  sink.Varint(type.shape.size());
  for (const int64_t extent : type.shape) {
    sink.Fixed(static_cast<uint64_t>(extent), 4);
  }
  if (type.kind == Type::Kind::kStridedView) {  // One element a step.
    sink.Varint(type.shape.size());
    for (size_t i = 0; i < type.shape.size(); ++i) sink.Fixed(1, 4);
  }
  sink.Varint(of);
  if (type.kind == Type::Kind::kGatherScatterView) {
    sink.Varint(0);  // The sparse dimension: Triton gathers rows.
  } else {
    sink.Varint(type.shape.size());
    for (size_t i = 0; i < type.shape.size(); ++i) sink.Fixed(i, 4);
  }
  if (minor_ < 3) sink.Varint(padded ? 1 : 0);
  if (padded) sink.Byte(type.padding == Padding::kZero ? 0 : 2);
  return sink.bytes();
}

uint64_t Writer::TypeNumber(TypeId id) {
  const auto place = static_cast<size_t>(id);
  if (place >= type_numbers_.size()) type_numbers_.resize(place + 1, -1);
  if (type_numbers_[place] >= 0) {
    return static_cast<uint64_t>(type_numbers_[place]);
  }
  const Type& type = kernel_.types[id];
  ByteSink sink;
  switch (type.kind) {
    case Type::Kind::kToken:
      sink.Varint(static_cast<uint8_t>(TypeTag::kToken));
      break;
    case Type::Kind::kTile: {
      uint64_t element = ScalarNumber(type.scalar);
      if (type.pointer) {
        ByteSink pointer;
        pointer.Varint(static_cast<uint8_t>(TypeTag::kPointer));
        if (minor_ >= 4) pointer.Varint(0);
        pointer.Varint(element);
        element = types_.Number(pointer.bytes());
      }
      sink.Varint(static_cast<uint8_t>(TypeTag::kTile));
      sink.Varint(element);
      sink.Varint(type.shape.size());
      for (const int64_t extent : type.shape) {
        sink.Fixed(static_cast<uint64_t>(extent), 8);
      }
      break;
    }
    case Type::Kind::kTensorView: {
      const uint64_t element = ScalarNumber(type.scalar);
      sink.Varint(static_cast<uint8_t>(TypeTag::kTensorView));
      if (minor_ >= 4) sink.Varint(0);
      sink.Varint(element);
      for (const auto* list : {&type.shape, &type.strides}) {
        sink.Varint(list->size());
        for (const int64_t extent : *list) {
          sink.Fixed(static_cast<uint64_t>(extent), 8);
        }
      }
      break;
    }
    case Type::Kind::kPartitionView:
    case Type::Kind::kStridedView:
    case Type::Kind::kGatherScatterView:
      sink.Bytes(EncodeView(type));
      break;
  }
  const uint64_t number = types_.Number(sink.bytes());
  type_numbers_[place] = static_cast<int64_t>(number);
  return number;
}

void Writer::WriteTypes(const std::vector<ValueId>& values, ByteSink* sink) {
  for (const ValueId value : values) {
    sink->Varint(TypeNumber(kernel_.value_types[static_cast<size_t>(value)]));
  }
}

void Writer::Number(const std::vector<ValueId>& values) {
  for (const ValueId value : values) {
    numbers_[static_cast<size_t>(value)] = next_++;
  }
}

void Writer::WriteValue(ValueId value, ByteSink* sink) {
  const ValueId number = numbers_[static_cast<size_t>(value)];
  KF_CHECK(number >= 0);
  sink->Varint(static_cast<uint64_t>(number));
}

void Writer::WriteHints(
    const std::vector<std::pair<std::string_view, int>>& hints,
    ByteSink* sink) {
  sink->Varint(hints.empty() ? 0 : 1);
  if (hints.empty()) return;
  sink->Varint(strings_.Number(arch_.empty() ? "default" : arch_));
  sink->Varint(static_cast<uint8_t>(AttributeTag::kDictionary));
  sink->Varint(hints.size());
  for (const auto& [name, value] : hints) {
    sink->Varint(strings_.Number(name));
    sink->Varint(static_cast<uint8_t>(AttributeTag::kInteger));
    sink->Varint(ScalarNumber(Scalar::kI32));
    sink->Varint(static_cast<uint64_t>(value));
  }
}

void Writer::WriteIdentities(const Attribute& value, ByteSink* sink) {
  sink->Varint(value.list.size() / 2);
  for (size_t i = 0; i + 1 < value.list.size(); i += 2) {
    const auto scalar = static_cast<Scalar>(value.list[i]);
    const int64_t bits = value.list[i + 1];
    if (ttir::IsFloat(scalar)) {
      sink->Varint(static_cast<uint8_t>(AttributeTag::kFloat));
      sink->Varint(ScalarNumber(scalar));
      if (ttir::Bits(scalar) <= 8) {
        sink->Byte(static_cast<uint8_t>(bits));
      } else {
        sink->SignedVarint(bits);
      }
    } else {
      sink->Varint(static_cast<uint8_t>(AttributeTag::kInteger));
      sink->Varint(ScalarNumber(scalar));
      sink->Varint(static_cast<uint64_t>(bits));
    }
  }
}

void Writer::WriteField(const Attribute& value, ByteSink* sink) {
  switch (value.key) {
    case Key::kValue: {
      ByteSink constant;
      constant.Varint(value.text.size());
      constant.Bytes(value.text);
      sink->Varint(constants_.Number(constant.bytes()));
      return;
    }
    case Key::kMessage:
      sink->Varint(strings_.Number(value.text));
      return;
    case Key::kPermutation:
      sink->Varint(value.list.size());
      for (const int64_t item : value.list) {
        sink->Fixed(static_cast<uint64_t>(item), 4);
      }
      return;
    case Key::kInbounds:
      sink->Varint(value.list.size());
      for (const int64_t item : value.list) {
        sink->Byte(static_cast<uint8_t>(item));
      }
      return;
    case Key::kIdentities:
      WriteIdentities(value, sink);
      return;
    case Key::kAssumption: {
      const bool divisor =
          value.number == static_cast<int64_t>(Assumption::kDivBy);
      sink->Varint(static_cast<uint8_t>(divisor ? AttributeTag::kDivBy
                                                : AttributeTag::kBounded));
      if (divisor) {
        sink->Varint(static_cast<uint64_t>(value.list[0]));
        sink->Byte(0);  // Of every element.
      } else {          // Both bounds.
        sink->Byte(3);
        sink->SignedVarint(value.list[0]);
        sink->SignedVarint(value.list[1]);
      }
      return;
    }
    case Key::kLatency:
      WriteHints({{"latency", static_cast<int>(value.number)}}, sink);
      return;
    case Key::kRounding:
    case Key::kOverflow:
    case Key::kSignedness:
    case Key::kSignednessLhs:
    case Key::kSignednessRhs:
    case Key::kPredicate:
    case Key::kOrdering:
    case Key::kSemantics:
    case Key::kScope:
    case Key::kMode:
    case Key::kDim:
    case Key::kReverse:
      sink->Varint(static_cast<uint64_t>(value.number));
      return;
    case Key::kNone:
    case Key::kFlushToZero:
    case Key::kPropagateNan:
    case Key::kUnsignedCmp:
    case Key::kFastAcc:
    case Key::kSaturating:
      return;  // Flags have no value.
  }
}

// Bits for the optional fields, then for the optional operands, in order.
void Writer::WriteFlags(const Op& op, const OpRow& row, ByteSink* sink) {
  uint64_t flags = 0;
  int bit = 0;
  for (const Field& field : row.fields) {
    if (field.key == Key::kNone || field.presence == Presence::kRequired) {
      continue;
    }
    if (op.Find(field.key) != nullptr) flags |= uint64_t{1} << bit;
    ++bit;
  }
  for (size_t i = 0; i < row.operands.size(); ++i) {
    if (row.operands[i] != '?') continue;
    if (op.groups[i] != 0) flags |= uint64_t{1} << bit;
    ++bit;
  }
  if (bit != 0 && minor_ >= row.flags_since) sink->Varint(flags);
}

void Writer::WriteOperands(const Op& op, const OpRow& row, ByteSink* sink) {
  if (row.operands == "#") {
    sink->Varint(op.operands.size());
    for (const ValueId value : op.operands) WriteValue(value, sink);
    return;
  }
  size_t next = 0;
  for (size_t i = 0; i < row.operands.size(); ++i) {
    const char kind = row.operands[i];
    const auto count =
        kind == '1' ? size_t{1} : static_cast<size_t>(op.groups[i]);
    if (kind == '*') sink->Varint(count);
    for (size_t k = 0; k < count; ++k) WriteValue(op.operands[next++], sink);
  }
  KF_CHECK(next == op.operands.size());
}

absl::Status Writer::WriteOp(const Op& op, ByteSink* sink) {
  const OpRow& row = RowOf(op.code);
  if (row.since > minor_) {
    return FailedPrecondition(
        fmt::format("{} needs bytecode 13.{}", row.name, row.since));
  }
  sink->Varint(row.opcode);
  if (row.counted_results) sink->Varint(op.results.size());
  WriteTypes(op.results, sink);
  WriteFlags(op, row, sink);
  for (const Field& field : row.fields) {
    if (field.key == Key::kNone || field.presence == Presence::kUnit) continue;
    const Attribute* value = op.Find(field.key);
    if (field.since > minor_) continue;
    KF_CHECK(value != nullptr || field.presence == Presence::kOptional);
    if (value == nullptr) continue;
    WriteField(*value, sink);
  }
  WriteOperands(op, row, sink);
  if (!op.regions.empty()) {
    sink->Varint(op.regions.size());
    for (const Block& block : op.regions) {
      sink->Varint(1);  // Blocks in the region.
      KF_RETURN_IF_ERROR(WriteBlock(block, sink));
    }
  }
  Number(op.results);
  return status_;
}

absl::Status Writer::WriteBlock(const Block& block, ByteSink* sink) {
  const ValueId before = next_;
  sink->Varint(block.arguments.size());
  WriteTypes(block.arguments, sink);
  Number(block.arguments);
  sink->Varint(block.ops.size());
  for (const Op& op : block.ops) KF_RETURN_IF_ERROR(WriteOp(op, sink));
  next_ = before;
  return absl::OkStatus();
}

void Writer::WriteEntryHints(ByteSink* sink) {
  std::vector<std::pair<std::string_view, int>> hints;
  if (kernel_.hints.num_ctas > 1) {
    hints.emplace_back("num_cta_in_cga", kernel_.hints.num_ctas);
  }
  if (kernel_.hints.occupancy > 0) {
    hints.emplace_back("occupancy", kernel_.hints.occupancy);
  }
  if (kernel_.hints.num_worker_warps > 0 && minor_ >= 3) {
    hints.emplace_back("num_worker_warps_per_cta",
                       kernel_.hints.num_worker_warps);
  }
  const bool always = minor_ >= 5;
  sink->Byte(kEntryFlag | (!always && !hints.empty() ? kHintsFlag : 0));
  sink->Varint(0);  // No debug location.
  if (!always && hints.empty()) return;
  sink->Varint(static_cast<uint8_t>(AttributeTag::kHints));
  WriteHints(hints, sink);
}

absl::Status Writer::WriteFunctions(ByteSink* sink) {
  sink->Varint(1);
  sink->Varint(strings_.Number(kernel_.name));
  ByteSink signature;
  signature.Varint(static_cast<uint8_t>(TypeTag::kFunction));
  signature.Varint(kernel_.body.arguments.size());
  WriteTypes(kernel_.body.arguments, &signature);
  signature.Varint(0);  // Results.
  sink->Varint(types_.Number(signature.bytes()));
  WriteEntryHints(sink);
  if (minor_ >= 5) {  // Argument attributes: none.
    sink->Varint(static_cast<uint8_t>(AttributeTag::kArray));
    sink->Varint(0);
  }
  Number(kernel_.body.arguments);
  ByteSink body;
  for (const Op& op : kernel_.body.ops) KF_RETURN_IF_ERROR(WriteOp(op, &body));
  sink->Varint(body.size());
  sink->Bytes(body.bytes());
  return status_;
}

void AddSection(Section id, size_t alignment, const ByteSink& content,
                ByteSink* out) {
  out->Byte(static_cast<uint8_t>(id) | (alignment > 1 ? kAligned : 0));
  out->Varint(content.size());
  if (alignment > 1) {
    out->Varint(alignment);
    out->PadTo(alignment);
  }
  out->Bytes(content.bytes());
}

absl::StatusOr<std::string> Writer::Run() {
  ByteSink out;
  out.Bytes(kMagic);
  out.Byte(13);
  out.Byte(static_cast<uint8_t>(minor_));
  out.Fixed(0, 2);
  ByteSink functions;
  KF_RETURN_IF_ERROR(WriteFunctions(&functions));
  AddSection(Section::kFunction, 8, functions, &out);
  if (!constants_.empty()) {
    ByteSink section;
    constants_.WriteTo(&section, 8);
    AddSection(Section::kConstant, 8, section, &out);
  }
  ByteSink producer;
  if (minor_ >= 3) producer.Varint(strings_.Number("kernelfleet"));
  ByteSink types;
  types_.WriteTo(&types, 4);
  AddSection(Section::kType, 4, types, &out);
  if (minor_ >= 3) AddSection(Section::kProducer, 1, producer, &out);
  ByteSink strings;
  strings_.WriteTo(&strings, 4);
  AddSection(Section::kString, 4, strings, &out);
  out.Byte(static_cast<uint8_t>(Section::kEnd));
  return out.bytes();
}

}  // namespace

absl::StatusOr<std::string> WriteBytecode(const Kernel& kernel, int minor,
                                          std::string_view arch) {
  if (minor < kOldestMinor || minor > kNewestMinor) {
    return FailedPrecondition(fmt::format(
        "Tile IR bytecode 13.{} is not one that we write (13.{} to 13.{})",
        minor, kOldestMinor, kNewestMinor));
  }
  return Writer(kernel, minor, arch).Run();
}

}  // namespace kernelfleet::tileir
