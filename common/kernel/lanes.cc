#include "common/kernel/lanes.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include "common/base/strings.h"
#include "fmt/format.h"

namespace kernelfleet::kernel {
namespace {

// Values settle in as many passes as loops nest; more is not written.
constexpr int kMaxPasses = 6;

Set Bit(int number) { return Set{1} << std::min(number, 63); }

bool IsDisplay(const Syntax& syntax, NodeId node) {
  return syntax.kind(node) == Kind::kList || syntax.kind(node) == Kind::kTuple;
}

// The argument of a call by keyword or position, or kNoNode.
NodeId ArgumentOf(const Syntax& syntax, NodeId call, std::string_view name,
                  int position) {
  const NodeId arguments = syntax.Child(call, Field::kArguments);
  if (arguments == kNoNode) return kNoNode;
  int at = 0;
  for (NodeId child : syntax.Children(arguments)) {
    if (syntax.kind(child) == Kind::kKeywordArgument) {
      const NodeId keyword = syntax.Child(child, Field::kName);
      if (keyword != kNoNode && syntax.TextOf(keyword) == name) {
        return syntax.Child(child, Field::kValue);
      }
    } else if (at++ == position) {
      return child;
    }
  }
  return kNoNode;
}

// Axes of a broadcast: aligned at the last one.
void Broadcast(Lane& into, const Lane& other) {
  if (other.rank == 0) return;
  if (into.rank == 0) {
    into.rank = other.rank;
    into.axis = other.axis;
    return;
  }
  if (into.rank < 0 || other.rank < 0) {
    into.rank = -1;
    return;
  }
  const int rank = std::max(into.rank, other.rank);
  std::array<int8_t, kMaxRank> axis = {-1, -1, -1, -1, -1};
  for (int i = 0; i < rank; ++i) {
    const int mine = into.rank - 1 - i;
    const int theirs = other.rank - 1 - i;
    int8_t value = kUniformAxis;
    if (mine >= 0) value = into.axis[static_cast<size_t>(mine)];
    if (value == kUniformAxis && theirs >= 0) {
      value = other.axis[static_cast<size_t>(theirs)];
    }
    axis[static_cast<size_t>(rank - 1 - i)] = value;
  }
  into.rank = static_cast<int8_t>(rank);
  into.axis = axis;
}

// Lanes that a value has by its written shape.
void AddOwn(const Lane& own, Lane& lane) {
  if (own.varies == 0) return;
  lane.varies |= own.varies;
  lane.rank = own.rank;
  lane.axis = own.axis;
}

}  // namespace

Lanes::Lanes(const SourceFile& source, const Flow& flow)
    : source_(source), flow_(flow) {
  lanes_.resize(flow.values.size());
  AssignBits();
  for (int pass = 0; pass < kMaxPasses && Pass(); ++pass) {
  }
  LinkStoresToLoads();
  for (int pass = 0; pass < kMaxPasses && Pass(); ++pass) {
  }
}

void Lanes::AssignBits() {
  own_source_.assign(flow_.values.size(), 0);
  own_index_.assign(flow_.values.size(), 0);
  own_carry_.assign(flow_.values.size(), 0);
  own_lane_.assign(flow_.values.size(), Lane());
  param_source_.assign(flow_.params.size(), 0);
  loop_index_.push_back(0);
  for (size_t i = 1; i < flow_.loops.size(); ++i) {
    loop_index_.push_back(Bit(next_index_++));
  }
  int next_carry = 0;
  // A function that stores nothing is a helper: what it is given is its row.
  const bool helper = flow_.accesses.empty();
  for (ValueId id = 0; id < static_cast<ValueId>(flow_.values.size()); ++id) {
    const Value& value = flow_.at(id);
    const auto at = static_cast<size_t>(id);
    switch (value.op) {
      case Op::kArange:
        own_index_[at] = Bit(next_index_++);
        break;
      case Op::kPhi:
        own_carry_[at] = Bit(next_carry++);
        break;
      case Op::kReduce:
      case Op::kNormalize:
      case Op::kExit:
        own_source_[at] = Bit(next_source_++);
        break;
      case Op::kParam: {
        const auto& param = flow_.params[static_cast<size_t>(value.aux)];
        if (helper && !param.is_constexpr) {
          own_source_[at] = Bit(next_source_++);
          own_index_[at] = Bit(next_index_++);
        }
        break;
      }
      case Op::kLoad:
        AssignSource(id);
        break;
      default:
        break;
    }
  }
  AssignBlocks();
}

// Loads through one pointer parameter read one memory.
void Lanes::AssignSource(ValueId id) {
  const auto operands = flow_.OperandsOf(id);
  ValueId root = operands.empty() ? kNoValue : flow_.RootOf(operands[0]);
  if (root != kNoValue && flow_.at(root).operand_count > 0 &&
      (flow_.at(root).op == Op::kBlockPointer ||
       flow_.at(root).op == Op::kDescriptor)) {
    root = flow_.RootOf(flow_.OperandsOf(root)[0]);
  }
  Set& own = own_source_[static_cast<size_t>(id)];
  if (root != kNoValue && flow_.at(root).op == Op::kParam) {
    Set& shared = param_source_[static_cast<size_t>(flow_.at(root).aux)];
    if (shared == 0) shared = Bit(next_source_++);
    own = shared;
  } else {
    own = Bit(next_source_++);
  }
}

Set Lanes::IndexNamed(const std::string& name) {
  const auto [entry, added] = named_index_.try_emplace(name, 0);
  if (added) entry->second = Bit(next_index_++);
  return entry->second;
}

Lane Lanes::LaneOfShape(NodeId list, std::string_view prefix) {
  Lane lane;
  int rank = 0;
  for (NodeId extent : source_.syntax.Children(list)) {
    if (rank == kMaxRank) break;
    // Named by the extent where it is known, else by the axis.
    const std::string name = prefix.empty()
                                 ? std::string(source_.syntax.TextOf(extent))
                                 : fmt::format("{}.{}", prefix, rank);
    const Set index = IndexNamed(name);
    lane.varies |= index;
    lane.axis[static_cast<size_t>(rank++)] =
        static_cast<int8_t>(std::countr_zero(index));
  }
  lane.rank = static_cast<int8_t>(rank);
  return lane;
}

void Lanes::AssignBlocks() {
  const Syntax& syntax = source_.syntax;
  for (ValueId id = 0; id < static_cast<ValueId>(flow_.values.size()); ++id) {
    const Op op = flow_.at(id).op;
    if (op != Op::kBlockPointer && op != Op::kDescriptor) continue;
    const NodeId shape = ArgumentOf(syntax, flow_.at(id).node, "block_shape",
                                    op == Op::kBlockPointer ? 4 : 3);
    if (shape != kNoNode && IsDisplay(syntax, shape)) {
      own_lane_[static_cast<size_t>(id)] = LaneOfShape(shape, {});
    }
  }
  // desc.load([y, x]) on a descriptor passed in: as many axes as offsets.
  for (const MemoryAccess& access : flow_.accesses) {
    if (!access.method || access.result == kNoValue) continue;
    const ValueId root = flow_.RootOf(access.address);
    if (root != kNoValue && flow_.at(root).op == Op::kDescriptor) continue;
    Lane& lane = own_lane_[static_cast<size_t>(access.result)];
    const NodeId offsets = ArgumentOf(syntax, access.node, "offsets", 0);
    const std::string prefix = fmt::format("v{}", root);
    if (offsets != kNoNode && IsDisplay(syntax, offsets)) {
      lane = LaneOfShape(offsets, prefix);
    } else {
      lane.rank = -1;
      lane.varies = IndexNamed(prefix);
    }
  }
}

bool Lanes::Pass() {
  bool changed = false;
  for (ValueId id = 0; id < static_cast<ValueId>(lanes_.size()); ++id) {
    const Lane lane = Transfer(id);
    Lane& old = lanes_[static_cast<size_t>(id)];
    changed |= lane.varies != old.varies || lane.sources != old.sources ||
               lane.carries != old.carries || lane.combined != old.combined ||
               lane.rank != old.rank || lane.axis != old.axis;
    old = lane;
  }
  return changed;
}

// A row written and read back by the same kernel is the row it came from.
void Lanes::LinkStoresToLoads() {
  std::vector<Set> stored(flow_.params.size(), 0);
  bool any = false;
  for (const MemoryAccess& access : flow_.accesses) {
    if (access.effect != Effect::kStore || access.value == kNoValue) continue;
    if (access.address == kNoValue) continue;
    const ValueId root = flow_.RootOf(access.address);
    if (root == kNoValue || flow_.at(root).op != Op::kParam) continue;
    const auto param = static_cast<size_t>(flow_.at(root).aux);
    stored[param] |= at(access.value).sources;
    any |= param_source_[param] != 0;
  }
  if (!any) return;
  for (ValueId id = 0; id < static_cast<ValueId>(lanes_.size()); ++id) {
    if (flow_.at(id).op != Op::kLoad || flow_.OperandsOf(id).empty()) continue;
    const ValueId root = flow_.RootOf(flow_.OperandsOf(id)[0]);
    if (root == kNoValue || flow_.at(root).op != Op::kParam) continue;
    own_source_[static_cast<size_t>(id)] |=
        stored[static_cast<size_t>(flow_.at(root).aux)];
  }
}

Lane Lanes::Join(ValueId id) const {
  Lane lane;
  bool first = true;
  for (ValueId operand : flow_.OperandsOf(id)) {
    const Lane& other = at(operand);
    lane.varies |= other.varies;
    lane.sources |= other.sources;
    lane.carries |= other.carries;
    lane.combined |= other.combined;
    if (first) {
      lane.rank = other.rank;
      lane.axis = other.axis;
      first = false;
    } else {
      Broadcast(lane, other);
    }
  }
  return lane;
}

Lane Lanes::Transfer(ValueId id) const {
  const Value& value = flow_.at(id);
  const auto index = static_cast<size_t>(id);
  Lane lane = Join(id);
  switch (value.op) {
    case Op::kArange: {
      Lane out;
      out.varies = own_index_[index];
      out.rank = 1;
      out.axis[0] = static_cast<int8_t>(std::countr_zero(own_index_[index]));
      return out;
    }
    case Op::kParam:
      lane.sources = own_source_[index];
      lane.varies = own_index_[index];
      if (lane.varies != 0) lane.rank = -1;
      return lane;
    case Op::kIndex:
      lane.varies |= LoopIndex(value.aux);
      lane.rank = 0;
      return lane;
    case Op::kLoad:
      // The address says which lanes; its own data are an index, not a row.
      lane.sources = own_source_[index];
      lane.carries = 0;
      lane.combined = 0;
      AddOwn(own_lane_[index], lane);
      return lane;
    case Op::kBlockPointer:
    case Op::kDescriptor:
      lane.sources = 0;
      AddOwn(own_lane_[index], lane);
      return lane;
    case Op::kWhere: {
      // The condition chooses; it is not among the data.
      const auto operands = flow_.OperandsOf(id);
      if (operands.size() == 3) {
        lane.sources = at(operands[1]).sources | at(operands[2]).sources;
      }
      lane.combined |= lane.carries;
      return lane;
    }
    case Op::kReduce:
    case Op::kNormalize:
    case Op::kHistogram:
      return TransferReduce(id, lane);
    case Op::kPhi:
      lane.carries |= own_carry_[index];
      lane.varies |= LoopIndex(value.aux);
      return lane;
    case Op::kExit: {
      const ValueId phi = flow_.OperandsOf(id)[0];
      lane.carries &= ~own_carry_[static_cast<size_t>(phi)];
      lane.combined &= ~own_carry_[static_cast<size_t>(phi)];
      lane.varies &= ~LoopIndex(value.aux);
      lane.sources |= own_source_[index];
      return lane;
    }
    case Op::kBinary:
    case Op::kCall:
    case Op::kScan:
      lane.combined |= lane.carries;
      return lane;
    case Op::kDot:
      lane.combined |= lane.carries;
      lane.rank = -1;
      return lane;
    case Op::kReshape:
    case Op::kJoin:
      lane.rank = -1;
      return lane;
    case Op::kFull:
    case Op::kBroadcast:
      return TransferShape(id, lane);
    case Op::kExpand:
      return TransferExpand(id, lane);
    case Op::kTranspose:
      return TransferTranspose(id, lane);
    default:
      return lane;
  }
}

Lane Lanes::TransferShape(ValueId id, const Lane& joined) const {
  // tl.zeros([M, N]): the shape is written as a list.
  const Syntax& syntax = source_.syntax;
  Lane lane = joined;
  const NodeId arguments = syntax.Child(flow_.at(id).node, Field::kArguments);
  if (arguments == kNoNode) return lane;
  NodeId shape = kNoNode;
  for (NodeId child : syntax.Children(arguments)) {
    NodeId list = child;
    if (syntax.kind(child) == Kind::kKeywordArgument) {
      list = syntax.Child(child, Field::kValue);
    }
    if (list == kNoNode) continue;
    const Kind kind = syntax.kind(list);
    if (kind == Kind::kList || kind == Kind::kTuple) {
      shape = list;
      break;
    }
  }
  if (shape == kNoNode) return lane;
  int rank = 0;
  for ([[maybe_unused]] NodeId child : syntax.Children(shape)) ++rank;
  if (rank > kMaxRank) {
    lane.rank = -1;
    return lane;
  }
  Lane wide;
  wide.rank = static_cast<int8_t>(rank);
  wide.varies = joined.varies;
  wide.sources = joined.sources;
  wide.carries = joined.carries;
  if (flow_.at(id).op == Op::kBroadcast && joined.rank > 0) {
    Broadcast(wide, joined);
  }
  return wide;
}

Lanes::Axis Lanes::AxisOf(NodeId call) const {
  const Syntax& syntax = source_.syntax;
  Axis out;
  const NodeId arguments = syntax.Child(call, Field::kArguments);
  const NodeId callee = syntax.Child(call, Field::kFunction);
  if (arguments == kNoNode || callee == kNoNode) return out;
  // x.sum(0) has its axis first, tl.sum(x, 0) second.
  const bool method = syntax.kind(callee) == Kind::kAttribute &&
                      source_.names.Path(callee).empty();
  int position = method ? 1 : 0;
  const auto read = [&](NodeId node) {
    const std::string_view text = syntax.TextOf(node);
    if (text == "None") return;
    out.given = true;
    if (const std::optional<int64_t> number = ParseInt(text)) {
      out.known = true;
      out.value = static_cast<int>(std::clamp<int64_t>(*number, -9, 9));
    }
  };
  for (NodeId child : syntax.Children(arguments)) {
    if (syntax.kind(child) == Kind::kKeywordArgument) {
      const NodeId name = syntax.Child(child, Field::kName);
      const NodeId value = syntax.Child(child, Field::kValue);
      if (name == kNoNode || value == kNoNode) continue;
      const std::string_view text = syntax.TextOf(name);
      if (text == "axis" || text == "dim") read(value);
      if (text == "keep_dims") out.keeps = syntax.TextOf(value) == "True";
    } else if (position++ == 1) {
      read(child);
    }
  }
  return out;
}

Lane Lanes::TransferReduce(ValueId id, const Lane& joined) const {
  Lane lane = joined;
  lane.sources |= own_source_[static_cast<size_t>(id)];
  lane.combined |= lane.carries;
  if (flow_.at(id).op == Op::kNormalize) return lane;
  const Axis axis = AxisOf(flow_.at(id).node);
  if (lane.rank < 0 || (axis.given && !axis.known)) {
    // Lanes of unknown shape: which axis went is unknown too, so none stays.
    Set lanes = 0;
    for (size_t loop = 0; loop < loop_index_.size(); ++loop) {
      lanes |= loop_index_[loop];
    }
    lane.varies &= lanes;
    lane.rank = -1;
    return lane;
  }
  if (!axis.given) {
    for (int i = 0; i < lane.rank; ++i) {
      const int8_t bit = lane.axis[static_cast<size_t>(i)];
      if (bit != kUniformAxis) lane.varies &= ~Bit(bit);
    }
    lane.rank = 0;
    return lane;
  }
  const int at = axis.value < 0 ? axis.value + lane.rank : axis.value;
  if (at < 0 || at >= lane.rank) return lane;
  const int8_t bit = lane.axis[static_cast<size_t>(at)];
  if (bit != kUniformAxis) lane.varies &= ~Bit(bit);
  if (axis.keeps) {
    lane.axis[static_cast<size_t>(at)] = kUniformAxis;
    return lane;
  }
  for (int i = at; i + 1 < lane.rank; ++i) {
    lane.axis[static_cast<size_t>(i)] = lane.axis[static_cast<size_t>(i + 1)];
  }
  lane.axis[static_cast<size_t>(lane.rank - 1)] = kUniformAxis;
  --lane.rank;
  return lane;
}

Lane Lanes::TransferExpand(ValueId id, const Lane& input) const {
  Lane lane = input;
  if (input.rank < 0) return lane;
  std::array<int, 10> letters = {};
  int count = 0;
  for (int32_t rest = flow_.at(id).aux; rest != 0 && count < 10; rest >>= 2) {
    letters[static_cast<size_t>(count++)] = rest & 3;
  }
  if (count > kMaxRank) {
    lane.rank = -1;
    return lane;
  }
  int from = 0;
  lane.axis.fill(kUniformAxis);
  for (int i = 0; i < count; ++i) {
    // The letters were pushed, so the first subscript is the last of them.
    const bool keeps = letters[static_cast<size_t>(count - 1 - i)] == 1;
    if (keeps && from < input.rank) {
      lane.axis[static_cast<size_t>(i)] =
          input.axis[static_cast<size_t>(from++)];
    }
  }
  lane.rank = static_cast<int8_t>(count);
  return lane;
}

Lane Lanes::TransferTranspose(ValueId, const Lane& input) const {
  Lane lane = input;
  if (input.rank == 2) {
    std::swap(lane.axis[0], lane.axis[1]);
  } else if (input.rank > 2) {
    lane.rank = -1;
  }
  return lane;
}

bool Lanes::Accumulates(ValueId phi) const {
  const auto operands = flow_.OperandsOf(phi);
  if (operands.size() != 2) return false;
  if (flow_.loops[static_cast<size_t>(flow_.at(phi).aux)].literal) return false;
  const Lane& after = at(operands[1]);
  return (after.combined & own_carry_[static_cast<size_t>(phi)]) != 0 &&
         after.sources != 0;
}

}  // namespace kernelfleet::kernel
