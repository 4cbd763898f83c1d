#include "common/tileir/bytecode.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/status.h"
#include "common/tileir/byte_sink.h"
#include "common/tileir/bytecode_writer.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

// Source: BytecodeEnums.h of NVIDIA/cuda-tile.
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
constexpr uint8_t kEntryFlag = 0x02;
constexpr uint8_t kHintsFlag = 0x04;

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

}  // namespace

void BytecodeWriter::WriteTypes(const std::vector<ValueId>& values,
                                ByteSink* sink) {
  for (const ValueId value : values) {
    sink->Varint(TypeNumber(kernel_.value_types[static_cast<size_t>(value)]));
  }
}

void BytecodeWriter::Number(const std::vector<ValueId>& values) {
  for (const ValueId value : values) {
    numbers_[static_cast<size_t>(value)] = next_++;
  }
}

void BytecodeWriter::WriteValue(ValueId value, ByteSink* sink) {
  const ValueId number = numbers_[static_cast<size_t>(value)];
  KF_CHECK(number >= 0);
  sink->Varint(static_cast<uint64_t>(number));
}

void BytecodeWriter::WriteHints(
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

void BytecodeWriter::WriteIdentities(const Attribute& value, ByteSink* sink) {
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

void BytecodeWriter::WriteField(const Attribute& value, ByteSink* sink) {
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
void BytecodeWriter::WriteFlags(const Op& op, const OpRow& row,
                                ByteSink* sink) {
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

void BytecodeWriter::WriteOperands(const Op& op, const OpRow& row,
                                   ByteSink* sink) {
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

absl::Status BytecodeWriter::WriteOp(const Op& op, ByteSink* sink) {
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

absl::Status BytecodeWriter::WriteBlock(const Block& block, ByteSink* sink) {
  const ValueId before = next_;
  sink->Varint(block.arguments.size());
  WriteTypes(block.arguments, sink);
  Number(block.arguments);
  sink->Varint(block.ops.size());
  for (const Op& op : block.ops) KF_RETURN_IF_ERROR(WriteOp(op, sink));
  next_ = before;
  return absl::OkStatus();
}

void BytecodeWriter::WriteEntryHints(ByteSink* sink) {
  std::vector<std::pair<std::string_view, int>> hints;
  if (kernel_.hints.num_ctas > 1) {
    hints.emplace_back("num_cta_in_cga", kernel_.hints.num_ctas);
  }
  if (kernel_.hints.occupancy > 0) {
    hints.emplace_back("occupancy", kernel_.hints.occupancy);
  }
  if (kernel_.hints.num_worker_warps > 0 && minor_ >= 3) {
    // Before 13.5 only 4 and 8 are legal.
    const int warps = kernel_.hints.num_worker_warps;
    hints.emplace_back("num_worker_warps_per_cta",
                       minor_ >= 5 ? warps : std::clamp(warps, 4, 8));
  }
  const bool always = minor_ >= 5;
  sink->Byte(kEntryFlag | (!always && !hints.empty() ? kHintsFlag : 0));
  sink->Varint(0);  // No debug location.
  if (!always && hints.empty()) return;
  sink->Varint(static_cast<uint8_t>(AttributeTag::kHints));
  WriteHints(hints, sink);
}

absl::Status BytecodeWriter::WriteFunctions(ByteSink* sink) {
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

absl::StatusOr<std::string> BytecodeWriter::Run() {
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

absl::StatusOr<std::string> WriteBytecode(const Kernel& kernel, int minor,
                                          std::string_view arch) {
  if (minor < kOldestMinor || minor > kNewestMinor) {
    return FailedPrecondition(fmt::format(
        "Tile IR bytecode 13.{} is not one that we write (13.{} to 13.{})",
        minor, kOldestMinor, kNewestMinor));
  }
  return BytecodeWriter(kernel, minor, arch).Run();
}

}  // namespace kernelfleet::tileir
