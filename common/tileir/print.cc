#include "common/tileir/print.h"

#include "common/base/strings.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

std::string Extents(const std::vector<int64_t>& extents,
                    std::string_view separator) {
  std::vector<std::string> parts;
  for (const int64_t extent : extents) {
    parts.push_back(extent == kDynamic ? "?" : fmt::format("{}", extent));
  }
  return Join(parts, separator);
}

std::string Hex(std::string_view bytes) {
  std::string out = "0x";
  for (size_t i = bytes.size(); i-- > 0;) {
    out += fmt::format("{:02x}", static_cast<uint8_t>(bytes[i]));
  }
  return out;
}

// Constants longer than this are cut in the text.
constexpr size_t kShownBytes = 16;

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

  std::string Run() {
    out_ += fmt::format("entry @{}({})", kernel_.name,
                        Typed(kernel_.body.arguments));
    if (kernel_.hints.num_ctas > 1) {
      out_ += fmt::format(" num_cta_in_cga={}", kernel_.hints.num_ctas);
    }
    if (kernel_.hints.occupancy > 0) {
      out_ += fmt::format(" occupancy={}", kernel_.hints.occupancy);
    }
    if (kernel_.hints.num_worker_warps > 0) {
      out_ += fmt::format(" num_worker_warps_per_cta={}",
                          kernel_.hints.num_worker_warps);
    }
    out_ += " {\n";
    PrintOps(kernel_.body, 1);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  std::string TypeOf(ValueId value) const {
    return Spell(kernel_.types,
                 kernel_.value_types[static_cast<size_t>(value)]);
  }
  std::string Typed(const std::vector<ValueId>& values) const {
    std::vector<std::string> parts;
    for (const ValueId value : values) {
      parts.push_back(fmt::format("%{}: {}", value, TypeOf(value)));
    }
    return Join(parts, ", ");
  }
  static std::string Names(const std::vector<ValueId>& values) {
    std::vector<std::string> parts;
    for (const ValueId value : values)
      parts.push_back(fmt::format("%{}", value));
    return Join(parts, ", ");
  }
  static std::string Show(const Attribute& attribute);
  void PrintOps(const Block& block, int depth);
  void PrintOp(const Op& op, int depth);

  const Kernel& kernel_;
  std::string out_;
};

std::string Printer::Show(const Attribute& attribute) {
  const std::string_view name = Name(attribute.key);
  const std::string_view word = EnumeratorName(attribute.key, attribute.number);
  if (!word.empty()) return fmt::format("{}={}", name, word);
  switch (attribute.key) {
    case Key::kValue:
      return attribute.text.size() <= kShownBytes
                 ? Hex(attribute.text)
                 : fmt::format("[{} bytes]", attribute.text.size());
    case Key::kMessage:
      return fmt::format("\"{}\"", Printable(attribute.text));
    case Key::kAssumption:
      return attribute.number == static_cast<int64_t>(Assumption::kDivBy)
                 ? fmt::format("div_by<{}>", attribute.list[0])
                 : fmt::format("bounded<{}, {}>", attribute.list[0],
                               attribute.list[1]);
    case Key::kFlushToZero:
    case Key::kPropagateNan:
    case Key::kUnsignedCmp:
    case Key::kFastAcc:
    case Key::kSaturating:
      return std::string(name);
    case Key::kIdentities: {
      std::vector<std::string> parts;
      for (size_t i = 0; i + 1 < attribute.list.size(); i += 2) {
        parts.push_back(fmt::format(
            "{}: {:#x}", ttir::Name(static_cast<Scalar>(attribute.list[i])),
            static_cast<uint64_t>(attribute.list[i + 1])));
      }
      return fmt::format("identities=[{}]", Join(parts, ", "));
    }
    default:
      break;
  }
  if (!attribute.list.empty()) {
    return fmt::format("{}=[{}]", name, Extents(attribute.list, ", "));
  }
  return fmt::format("{}={}", name, attribute.number);
}

void Printer::PrintOp(const Op& op, int depth) {
  out_.append(static_cast<size_t>(depth) * 2, ' ');
  if (!op.results.empty()) out_ += Names(op.results) + " = ";
  out_ += RowOf(op.code).name;
  if (!op.operands.empty()) out_ += " " + Names(op.operands);
  for (const Attribute& attribute : op.attributes) {
    // Defaults are not worth a word.
    if (attribute.key == Key::kOverflow ||
        (attribute.key == Key::kSemantics && attribute.number == 0)) {
      continue;
    }
    out_ += " " + Show(attribute);
  }
  for (size_t i = 0; i < op.results.size(); ++i) {
    out_ += (i == 0 ? " : " : ", ") + TypeOf(op.results[i]);
  }
  for (const Block& block : op.regions) {
    out_ += fmt::format(" ({}) {{\n", Typed(block.arguments));
    PrintOps(block, depth + 1);
    out_.append(static_cast<size_t>(depth) * 2, ' ');
    out_ += "}";
  }
  out_ += "\n";
}

void Printer::PrintOps(const Block& block, int depth) {
  for (const Op& op : block.ops) PrintOp(op, depth);
}

}  // namespace

std::string Spell(const TypeTable& types, TypeId id) {
  const Type& type = types[id];
  switch (type.kind) {
    case Type::Kind::kToken:
      return "token";
    case Type::Kind::kTile: {
      std::string shape = Extents(type.shape, "x");
      if (!shape.empty()) shape += "x";
      const std::string_view scalar = ttir::Name(type.scalar);
      return type.pointer ? fmt::format("tile<{}ptr<{}>>", shape, scalar)
                          : fmt::format("tile<{}{}>", shape, scalar);
    }
    case Type::Kind::kTensorView:
      return fmt::format("tensor_view<{}x{}, strides=[{}]>",
                         Extents(type.shape, "x"), ttir::Name(type.scalar),
                         Extents(type.strides, ","));
    case Type::Kind::kPartitionView:
    case Type::Kind::kStridedView:
    case Type::Kind::kGatherScatterView:
      break;
  }
  const std::string_view kind =
      type.kind == Type::Kind::kPartitionView ? "partition_view"
      : type.kind == Type::Kind::kStridedView ? "strided_view"
                                              : "gather_scatter_view";
  const std::string_view padding = type.padding == Padding::kNone ? ""
                                   : type.padding == Padding::kZero
                                       ? ", padding=zero"
                                       : ", padding=nan";
  return fmt::format("{}<tile=({}), {}{}>", kind, Extents(type.shape, "x"),
                     Spell(types, type.of), padding);
}

std::string Print(const Kernel& kernel) { return Printer(kernel).Run(); }

}  // namespace kernelfleet::tileir
