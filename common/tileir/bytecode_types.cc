#include <array>

#include "common/base/check.h"
#include "common/base/status.h"
#include "common/tileir/bytecode_writer.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

// Source: BytecodeTypeOpcodes.td of NVIDIA/cuda-tile.
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

}  // namespace

uint64_t BytecodeWriter::ScalarNumber(Scalar scalar) {
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

std::string BytecodeWriter::EncodeView(const Type& type) {
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

uint64_t BytecodeWriter::TypeNumber(TypeId id) {
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

}  // namespace kernelfleet::tileir
