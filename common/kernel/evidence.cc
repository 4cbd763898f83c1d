#include "common/kernel/evidence.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/strings.h"

namespace kernelfleet::kernel {
namespace {

using Items = google::protobuf::RepeatedPtrField<v1::Evidence::Item>;

class EvidenceFinder {
 public:
  EvidenceFinder(const SourceFile& source, const Flow& flow, const Lanes& lanes)
      : source_(source),
        flow_(flow),
        lanes_(lanes),
        leaf_mark_(flow.values.size(), 0),
        reaches_(flow.values.size(), 0),
        used_(flow.values.size(), 0) {}

  v1::Evidence Find() {
    CountAccesses();
    for (ValueId operand : flow_.operands) {
      used_[static_cast<size_t>(operand)] = 1;
    }
    for (const NotableCall& call : flow_.calls) {
      if (call.effect == Effect::kDot) AddItem(*out_.mutable_dots(), call.node);
    }
    for (const MemoryAccess& access : flow_.accesses) {
      if (access.effect == Effect::kStore) {
        JudgeStored(access.value, access.address, access.loop);
      } else if (access.effect == Effect::kAtomic) {
        JudgeAtomic(access);
        JudgeStored(access.value, access.address, access.loop);
      }
    }
    if (!has_output_) {
      for (ValueId value : flow_.returns) JudgeReturned(value);
    }
    ListReached();
    for (const Value& value : flow_.values) {
      out_.set_elementwise(out_.elementwise() +
                           (value.op == Op::kBinary || value.op == Op::kCall ||
                            value.op == Op::kWhere || value.op == Op::kUnary));
    }
    out_.set_unseen_calls(flow_.unseen_calls);
    out_.set_truncated(flow_.truncated);
    return std::move(out_);
  }

 private:
  void CountAccesses() {
    for (const MemoryAccess& access : flow_.accesses) {
      if (access.effect == Effect::kLoad) out_.set_loads(out_.loads() + 1);
      if (access.effect == Effect::kStore) out_.set_stores(out_.stores() + 1);
      has_output_ |= access.effect != Effect::kLoad;
    }
  }

  void AddItem(Items& items, NodeId node) {
    const int line = source_.syntax.line(node);
    const std::string_view text = source_.syntax.TextOf(node);
    std::string shown = Shorten(Trim(text.substr(0, text.find('\n'))), 80);
    for (const auto& item : items) {
      if (item.line() == line && item.text() == shown) return;
    }
    auto* item = items.Add();
    item->set_line(line);
    item->set_text(std::move(shown));
  }

  // An atomic that combines data, rather than counting or locking.
  void JudgeAtomic(const MemoryAccess& access) {
    const bool data =
        access.value != kNoValue && lanes_.at(access.value).sources != 0;
    // A count whose old value is used hands out slots; it is no histogram.
    const bool scattered = access.address != kNoValue &&
                           !used_[static_cast<size_t>(access.result)] &&
                           IndexedByData(access.address);
    if (data || scattered) AddItem(*out_.mutable_atomics(), access.node);
  }

  // The address depends on loaded data: a histogram, a scatter.
  bool IndexedByData(ValueId address) {
    std::vector<ValueId> stack = {address};
    std::vector<char> seen(flow_.values.size(), 0);
    while (!stack.empty()) {
      const ValueId id = stack.back();
      stack.pop_back();
      if (std::exchange(seen[static_cast<size_t>(id)], 1)) continue;
      if (flow_.at(id).op == Op::kLoad) return true;
      for (ValueId operand : flow_.OperandsOf(id)) stack.push_back(operand);
    }
    return false;
  }

  void JudgeReturned(ValueId value) {
    if (flow_.at(value).op == Op::kTuple) {
      for (ValueId item : flow_.OperandsOf(value)) {
        JudgeStored(item, kNoValue, 0);
      }
    } else {
      JudgeStored(value, kNoValue, 0);
    }
  }

  // The loads, reductions and carried values that make up each lane of a
  // value: the walk stops there, and at conditions, which choose but do not
  // scale.
  void CollectLeaves(ValueId value) {
    leaves_.clear();
    ++mark_;
    std::vector<ValueId> stack = {value};
    while (!stack.empty()) {
      const ValueId id = stack.back();
      stack.pop_back();
      if (std::exchange(leaf_mark_[static_cast<size_t>(id)], mark_) == mark_) {
        continue;
      }
      const auto operands = flow_.OperandsOf(id);
      switch (flow_.at(id).op) {
        case Op::kLoad:
        case Op::kReduce:
        case Op::kNormalize:
        case Op::kScan:
        case Op::kDot:
        case Op::kHistogram:
        case Op::kParam:
          leaves_.push_back(id);
          break;
        case Op::kCompare:
        case Op::kArange:
        case Op::kIndex:
        case Op::kFull:
          break;
        case Op::kPhi:
          if (lanes_.Accumulates(id)) {
            leaves_.push_back(id);
          } else {
            stack.insert(stack.end(), operands.begin(), operands.end());
          }
          break;
        case Op::kExit:
          if (lanes_.Accumulates(operands[0])) {
            leaves_.push_back(id);
          } else {
            stack.push_back(operands[0]);
          }
          break;
        case Op::kWhere:
          if (operands.size() == 3) {
            stack.push_back(operands[1]);
            stack.push_back(operands[2]);
            break;
          }
          [[fallthrough]];
        default:
          stack.insert(stack.end(), operands.begin(), operands.end());
          break;
      }
    }
  }

  void JudgeStored(ValueId value, ValueId address, uint16_t loop) {
    if (value == kNoValue) return;
    Reach(value);
    CollectLeaves(value);
    const auto is_scan = [&](ValueId leaf) {
      return flow_.at(leaf).op == Op::kScan;
    };
    const auto scan = std::find_if(leaves_.begin(), leaves_.end(), is_scan);
    if (scan != leaves_.end()) {
      AddItem(*out_.mutable_scans(), flow_.at(*scan).node);
      return;
    }
    const Set stored =
        lanes_.at(value).varies |
        (address == kNoValue ? Set{0} : lanes_.at(address).varies);
    for (ValueId leaf : leaves_) {
      const Op op = flow_.at(leaf).op;
      if (op == Op::kNormalize)
        AddItem(*out_.mutable_norms(), flow_.at(leaf).node);
      if (op == Op::kReduce || op == Op::kExit) JudgePair(leaf, stored);
      // Each step of a recurrence is kept: a scan written as a loop.
      if (op == Op::kPhi && address != kNoValue && loop != 0 &&
          StepsWith(leaf, address)) {
        AddItem(*out_.mutable_scans(), flow_.at(leaf).node);
      }
    }
  }

  bool StepsWith(ValueId phi, ValueId address) const {
    return (lanes_.at(address).varies & lanes_.LoopIndex(flow_.at(phi).aux)) !=
           0;
  }

  void JudgePair(ValueId reduction, Set stored) {
    const Lane& reduced = lanes_.at(reduction);
    for (ValueId leaf : leaves_) {
      if (leaf == reduction || flow_.at(leaf).op == Op::kPhi) continue;
      if ((lanes_.OwnSource(leaf) & reduced.sources) == 0) continue;
      const Set lost = lanes_.at(leaf).varies & ~reduced.varies;
      if ((lost & stored) != 0) {
        AddItem(*out_.mutable_norms(), flow_.at(reduction).node);
        return;
      }
    }
  }

  void Reach(ValueId value) {
    std::vector<ValueId> stack = {value};
    while (!stack.empty()) {
      const ValueId id = stack.back();
      stack.pop_back();
      if (std::exchange(reaches_[static_cast<size_t>(id)], 1)) continue;
      const auto operands = flow_.OperandsOf(id);
      // An address decides where, not what.
      if (flow_.at(id).op == Op::kLoad) continue;
      stack.insert(stack.end(), operands.begin(), operands.end());
    }
  }

  void ListReached() {
    for (ValueId id = 0; id < static_cast<ValueId>(flow_.values.size()); ++id) {
      if (!reaches_[static_cast<size_t>(id)]) continue;
      const Value& value = flow_.at(id);
      switch (value.op) {
        case Op::kReduce:
        case Op::kNormalize:
        case Op::kHistogram:
          AddItem(*out_.mutable_reductions(), value.node);
          break;
        case Op::kScan:
          AddItem(*out_.mutable_scans(), value.node);
          break;
        case Op::kPhi:
          if (lanes_.Accumulates(id)) {
            AddItem(*out_.mutable_accumulations(),
                    flow_.at(flow_.OperandsOf(id)[1]).node);
          }
          break;
        case Op::kExit:
          if (lanes_.Accumulates(flow_.OperandsOf(id)[0])) {
            AddItem(*out_.mutable_accumulations(), value.node);
          }
          break;
        default:
          break;
      }
    }
    ListScansOfAddresses();
    ListDeciders();
  }

  // Reductions of loaded data that only decide: which branch is taken, which
  // element is read. A sampler stores one of its inputs, found by a scan.
  void ListDeciders() {
    std::fill(reaches_.begin(), reaches_.end(), 0);
    for (ValueId condition : flow_.conditions) Reach(condition);
    for (const MemoryAccess& access : flow_.accesses) {
      if (access.effect == Effect::kLoad && access.address != kNoValue) {
        Reach(access.address);
      }
    }
    for (ValueId id = 0; id < static_cast<ValueId>(flow_.values.size()); ++id) {
      const Op op = flow_.at(id).op;
      if (reaches_[static_cast<size_t>(id)] && lanes_.at(id).sources != 0 &&
          (op == Op::kScan || (op == Op::kReduce && DecidesByOrder(id)))) {
        AddItem(*out_.mutable_deciders(), flow_.at(id).node);
      }
    }
  }

  // An arg-reduction or a sum names a place; a maximum may be a loop bound.
  bool DecidesByOrder(ValueId id) const {
    const NodeId callee =
        source_.syntax.Child(flow_.at(id).node, Field::kFunction);
    return callee != kNoNode &&
           source_.syntax.TextOf(callee).find("arg") != std::string_view::npos;
  }

  // Compaction: where a lane is written is a prefix sum.
  void ListScansOfAddresses() {
    std::fill(reaches_.begin(), reaches_.end(), 0);
    for (const MemoryAccess& access : flow_.accesses) {
      if (access.effect == Effect::kStore && access.address != kNoValue) {
        Reach(access.address);
      }
    }
    for (ValueId id = 0; id < static_cast<ValueId>(flow_.values.size()); ++id) {
      if (reaches_[static_cast<size_t>(id)] && flow_.at(id).op == Op::kScan) {
        AddItem(*out_.mutable_scans(), flow_.at(id).node);
      }
    }
  }

  const SourceFile& source_;
  const Flow& flow_;
  const Lanes& lanes_;
  v1::Evidence out_;
  bool has_output_ = false;
  std::vector<ValueId> leaves_;
  std::vector<int> leaf_mark_;
  std::vector<char> reaches_;
  std::vector<char> used_;
  int mark_ = 0;
};

}  // namespace

v1::Evidence FindEvidence(const SourceFile& source, const Flow& flow,
                          const Lanes& lanes) {
  return EvidenceFinder(source, flow, lanes).Find();
}

}  // namespace kernelfleet::kernel
