// The bytecode writer's insides: bytecode.cc writes sections, blocks and
// fields, bytecode_types.cc types.
#ifndef KERNELFLEET_COMMON_TILEIR_BYTECODE_WRITER_H_
#define KERNELFLEET_COMMON_TILEIR_BYTECODE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/tileir/byte_sink.h"
#include "common/tileir/tile_ir.h"

namespace kernelfleet::tileir {

// Source of every number below: the CUDA Tile IR bytecode specification and
// NVIDIA/cuda-tile (BytecodeEnums.h, BytecodeTypeOpcodes.td,
// BytecodeAttrOpcodes.td).
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

class BytecodeWriter {
 public:
  BytecodeWriter(const Kernel& kernel, int minor, std::string_view arch)
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

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_BYTECODE_WRITER_H_
