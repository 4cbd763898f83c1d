#include "agent/meter/memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace meter {
namespace {

constexpr size_t kAlignment = 256;

size_t RoundUp(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Round to nearest even, by way of the bits; finite inputs only.
uint16_t ToBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// A small float with `exponent` and `mantissa` bits and this bias: nearest
// representable by scaling; subnormals included, saturating.
uint32_t ToSmallFloat(float value, int exponent, int mantissa, int bias) {
  const uint32_t sign = std::signbit(value) ? 1u << (exponent + mantissa) : 0;
  const float magnitude = std::abs(value);
  if (magnitude == 0) return sign;
  int power = std::ilogb(magnitude);
  power = std::max(power, 1 - bias);
  auto scaled = static_cast<uint32_t>(
      std::nearbyint(std::ldexp(magnitude, mantissa - power)));
  if (scaled >> (mantissa + 1)) {
    scaled >>= 1;
    ++power;
  }
  const bool normal = scaled >> mantissa;
  uint32_t biased = normal ? static_cast<uint32_t>(power + bias) : 0;
  const uint32_t largest = (1u << exponent) - 2;
  if (biased > largest) {
    biased = largest;
    scaled = (2u << mantissa) - 1;
  }
  return sign | biased << mantissa | (scaled & ((1u << mantissa) - 1));
}

struct Element {
  const char* name;
  size_t bytes;
  void (*store)(double value, std::byte* to);
};

template <typename T>
void StoreAs(double value, std::byte* to) {
  const T converted = static_cast<T>(value);
  std::memcpy(to, &converted, sizeof converted);
}
template <typename T, int exponent, int mantissa, int bias>
void StoreSmall(double value, std::byte* to) {
  StoreAs<T>(ToSmallFloat(static_cast<float>(value), exponent, mantissa, bias),
             to);
}
void StoreBf16(double value, std::byte* to) {
  StoreAs<uint16_t>(ToBf16(static_cast<float>(value)), to);
}

constexpr Element kElements[] = {
    {"fp64", 8, StoreAs<double>},
    {"fp32", 4, StoreAs<float>},
    {"fp16", 2, StoreSmall<uint16_t, 5, 10, 15>},
    {"bf16", 2, StoreBf16},
    {"fp8e4nv", 1, StoreSmall<uint8_t, 4, 3, 7>},
    {"fp8e5", 1, StoreSmall<uint8_t, 5, 2, 15>},
    {"i64", 8, StoreAs<int64_t>},
    {"i32", 4, StoreAs<int32_t>},
    {"i16", 2, StoreAs<int16_t>},
    {"i8", 1, StoreAs<int8_t>},
    {"i1", 1, StoreAs<int8_t>},
};

const Element& ElementOf(const std::string& dtype) {
  for (const Element& element : kElements) {
    if (dtype == element.name) return element;
  }
  throw std::runtime_error("unknown element type " + dtype);
}

}  // namespace

std::vector<std::byte> MakeContents(const Fill& fill, size_t bytes,
                                    uint64_t seed) {
  std::vector<std::byte> out(bytes);
  if (fill.kind == "zeros") return out;
  if (fill.kind == "file") {
    const std::string data = ReadBytes(fill.file);
    std::memcpy(out.data(), data.data(), std::min(bytes, data.size()));
    return out;
  }
  const Element& element = ElementOf(fill.dtype);
  std::mt19937_64 generator(seed);
  // A period of 2^20 elements is drawn; larger buffers repeat it, shifted by
  // an odd prime so that rows differ.
  const size_t count = bytes / element.bytes;
  const size_t drawn = std::min<size_t>(count, (1u << 20) + 7);
  const auto draw = [&](auto distribution) {
    for (size_t i = 0; i < drawn; ++i) {
      element.store(static_cast<double>(distribution(generator)),
                    out.data() + i * element.bytes);
    }
  };
  if (fill.kind == "normal") {
    draw(std::normal_distribution<double>(0, 1));
  } else if (fill.kind == "uniform") {
    draw(std::uniform_real_distribution<double>(fill.low, fill.high));
  } else if (fill.kind == "integers") {
    draw(std::uniform_int_distribution<int64_t>(
        static_cast<int64_t>(fill.low), static_cast<int64_t>(fill.high) - 1));
  } else {
    throw std::runtime_error("unknown fill " + fill.kind);
  }
  for (size_t done = drawn; done < count;) {
    const size_t more = std::min(drawn, count - done);
    std::memcpy(out.data() + done * element.bytes, out.data(),
                more * element.bytes);
    done += more;
  }
  return out;
}

Memory::Memory(Driver& driver, const std::vector<Buffer>& buffers,
               uint64_t seed)
    : driver_(driver), buffers_(buffers) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = buffers[i];
    total_bytes_ += RoundUp(buffer.bytes);
    restores_ |= buffer.restore;
    const std::vector<std::byte> contents =
        MakeContents(buffer.fill, buffer.bytes, seed + i);
    masters_.push_back(driver_.Allocate(RoundUp(buffer.bytes)));
    driver_.CopyIn(masters_.back(), contents.data(), contents.size());
  }
  arena_bytes_ = 2 * total_bytes_ + (size_t{512} << 20);
  arena_ = driver_.Allocate(arena_bytes_);
}

Memory::~Memory() {
  driver_.Free(arena_);
  for (const DevicePointer master : masters_) driver_.Free(master);
}

std::vector<Placement> Memory::Draw(std::mt19937_64& generator, Stream stream,
                                    size_t count) {
  const size_t held =
      std::clamp<size_t>(arena_bytes_ / (2 * total_bytes_), 1, count);
  // Equal slots, so that no output of one set lands on an input of another.
  const size_t slot = arena_bytes_ / held / kAlignment * kAlignment;
  std::vector<Placement> out;
  for (size_t i = 0; i < held; ++i) {
    out.push_back(DrawIn(arena_ + i * slot, slot, generator, stream));
  }
  return out;
}

Placement Memory::DrawIn(DevicePointer start, size_t bytes,
                         std::mt19937_64& generator, Stream stream) {
  // Shuffle the buffers, then spread the slack over the gaps before them.
  std::vector<size_t> order(buffers_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), generator);
  std::uniform_int_distribution<size_t> slack(
      0, (bytes - total_bytes_) / kAlignment);
  std::vector<size_t> before(order.size());
  for (size_t& gap : before) gap = slack(generator) * kAlignment;
  std::sort(before.begin(), before.end());

  Placement placement(buffers_.size());
  size_t used = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    placement[order[i]] = start + before[i] + used;
    used += RoundUp(buffers_[order[i]].bytes);
  }
  RestoreAll(placement, stream);
  return placement;
}

void Memory::Restore(const Placement& placement, Stream stream) {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (!buffers_[i].restore) continue;
    driver_.CopyWithin(placement[i], masters_[i], buffers_[i].bytes, stream);
  }
}

void Memory::RestoreAll(const Placement& placement, Stream stream) {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    driver_.CopyWithin(placement[i], masters_[i], buffers_[i].bytes, stream);
  }
}

}  // namespace meter
