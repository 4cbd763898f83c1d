#include "common/tileir/tile_ir.h"

#include <utility>

namespace kernelfleet::tileir {
namespace {

// A type's identity as bytes.
std::string KeyOf(const Type& type) {
  std::string key;
  const auto number = [&key](int64_t value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  number(static_cast<int64_t>(type.kind) << 24 |
         static_cast<int64_t>(type.scalar) << 16 |
         static_cast<int64_t>(type.padding) << 8 | (type.pointer ? 1 : 0));
  number(type.of);
  number(static_cast<int64_t>(type.shape.size()));
  for (const int64_t extent : type.shape) number(extent);
  for (const int64_t stride : type.strides) number(stride);
  return key;
}

}  // namespace

TypeId TypeTable::Add(const Type& type) {
  const auto [entry, fresh] =
      numbers_.emplace(KeyOf(type), static_cast<TypeId>(types_.size()));
  if (fresh) types_.push_back(type);
  return entry->second;
}

TypeId TypeTable::Tile(Scalar scalar, std::vector<int64_t> shape,
                       bool pointer) {
  Type type;
  type.scalar = scalar;
  type.pointer = pointer;
  type.shape = std::move(shape);
  return Add(type);
}

TypeId TypeTable::Token() {
  Type type;
  type.kind = Type::Kind::kToken;
  return Add(type);
}

const Attribute* Op::Find(Key key) const {
  for (const Attribute& attribute : attributes) {
    if (attribute.key == key) return &attribute;
  }
  return nullptr;
}

}  // namespace kernelfleet::tileir
