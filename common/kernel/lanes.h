// Over which indices each value of a flow varies, from which memory it comes,
// and around which loops it is carried: what decides whether two values belong
// to the same row.
#ifndef KERNELFLEET_COMMON_KERNEL_LANES_H_
#define KERNELFLEET_COMMON_KERNEL_LANES_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/kernel/flow.h"

namespace kernelfleet::kernel {

// Sets of at most 64 things; what comes after the 63rd shares the last bit.
using Set = uint64_t;

inline constexpr int kMaxRank = 5;
inline constexpr int8_t kUniformAxis = -1;

struct Lane {
  // Indices (each tl.arange, each loop) that the value varies with.
  Set varies = 0;
  // Memory it was computed from: one member per pointer parameter, plus one
  // per reduction passed through.
  Set sources = 0;
  // Loop-carried values it was computed from.
  Set carries = 0;
  // Those of them that were combined with something, not merely chosen.
  Set combined = 0;
  // -1: unknown.
  int8_t rank = 0;
  // The index along each axis as a bit number; kUniformAxis: none.
  std::array<int8_t, kMaxRank> axis = {-1, -1, -1, -1, -1};
};

class Lanes {
 public:
  Lanes(const SourceFile& source, const Flow& flow);

  const Lane& at(ValueId id) const { return lanes_[static_cast<size_t>(id)]; }
  // The member of Lane::sources that stands for this load's memory, or for
  // this reduction.
  Set OwnSource(ValueId id) const {
    return own_source_[static_cast<size_t>(id)];
  }
  // A kPhi that combines what it held with loaded data, each time around.
  bool Accumulates(ValueId phi) const;
  // The member of Lane::varies of a loop.
  Set LoopIndex(int loop) const {
    return loop_index_[static_cast<size_t>(loop)];
  }

 private:
  void AssignBits();
  void AssignSource(ValueId id);
  void AssignBlocks();
  // Lanes of a tile whose shape is written, not computed: one index per
  // distinct extent.
  Lane LaneOfShape(NodeId list, std::string_view prefix);
  Set IndexNamed(const std::string& name);
  bool Pass();
  void LinkStoresToLoads();
  Lane Transfer(ValueId id) const;
  Lane TransferReduce(ValueId id, const Lane& joined) const;
  Lane TransferExpand(ValueId id, const Lane& input) const;
  Lane TransferTranspose(ValueId id, const Lane& input) const;
  Lane TransferShape(ValueId id, const Lane& joined) const;
  Lane Join(ValueId id) const;
  // A literal axis of a reduction; nothing: all, or not literal.
  struct Axis {
    bool given = false;
    bool known = false;
    bool keeps = false;
    int value = 0;
  };
  Axis AxisOf(NodeId call) const;

  const SourceFile& source_;
  const Flow& flow_;
  std::vector<Lane> lanes_;
  std::vector<Set> own_source_;
  std::vector<Set> own_index_;
  std::vector<Set> own_carry_;
  std::vector<Set> loop_index_;
  std::vector<Set> param_source_;
  // What block pointers, descriptors and loads through them vary over.
  std::vector<Lane> own_lane_;
  std::unordered_map<std::string, Set> named_index_;
  int next_index_ = 0;
  int next_source_ = 0;
};

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_LANES_H_
