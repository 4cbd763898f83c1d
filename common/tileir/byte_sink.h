// Bytes of the Tile IR container: variable-length integers, tables, sections.
#ifndef KERNELFLEET_COMMON_TILEIR_BYTE_SINK_H_
#define KERNELFLEET_COMMON_TILEIR_BYTE_SINK_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kernelfleet::tileir {

class ByteSink {
 public:
  void Byte(uint8_t value) { bytes_ += static_cast<char>(value); }
  void Bytes(std::string_view bytes) { bytes_ += bytes; }
  // Seven bits a byte, low bits first, the high bit says that more follow.
  void Varint(uint64_t value) {
    while (value >= 0x80) {
      Byte(static_cast<uint8_t>(value | 0x80));
      value >>= 7;
    }
    Byte(static_cast<uint8_t>(value));
  }
  // Zigzag, then Varint.
  void SignedVarint(int64_t value) {
    const auto bits = static_cast<uint64_t>(value);
    Varint(bits << 1 ^ (value < 0 ? ~uint64_t{0} : 0));
  }
  void Fixed(uint64_t value, int width) {
    for (int i = 0; i < width; ++i) {
      Byte(static_cast<uint8_t>(value >> (8 * i)));
    }
  }
  void PadTo(size_t alignment) {
    while (bytes_.size() % alignment != 0) Byte(kPadding);
  }
  const std::string& bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

 private:
  static constexpr uint8_t kPadding = 0xCB;
  std::string bytes_;
};

// Byte strings by number, in order of first use.
class ByteTable {
 public:
  uint64_t Number(std::string_view bytes) {
    const auto [entry, fresh] =
        numbers_.emplace(std::string(bytes), rows_.size());
    if (fresh) rows_.emplace_back(bytes);
    return entry->second;
  }
  // Count, an offset of `width` bytes for each row, the rows.
  void WriteTo(ByteSink* sink, int width) const {
    sink->Varint(rows_.size());
    sink->PadTo(static_cast<size_t>(width));
    uint64_t offset = 0;
    for (const std::string& row : rows_) {
      sink->Fixed(offset, width);
      offset += row.size();
    }
    for (const std::string& row : rows_) sink->Bytes(row);
  }
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> rows_;
  std::unordered_map<std::string, uint64_t> numbers_;
};

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_BYTE_SINK_H_
