// Basic blocks, dominators and natural loops of one function.
//
// A loop here is what the text books call natural: a back edge, that is an
// edge whose head dominates its tail, and everything that reaches the tail
// without passing the head. A label that stands before a branch is no loop, a
// branch to a lower address need not be one either, and code that nothing
// reaches (the self-branch behind every SASS kernel's EXIT) is in none.
//
// Dominators after Lengauer and Tarjan (1979) with path compression, loops
// collapsed innermost first with union-find: n log n on any input.
#ifndef KERNELFLEET_COMMON_ISA_FLOW_H_
#define KERNELFLEET_COMMON_ISA_FLOW_H_

#include <cstdint>
#include <span>
#include <vector>

#include "common/isa/meaning.h"

namespace kernelfleet::isa {

inline constexpr uint32_t kNowhere = UINT32_MAX;

// An instruction after which control may be elsewhere.
struct Transfer {
  uint32_t at = 0;
  Flow flow = Flow::kJump;
  // Position of an instruction; kNowhere: out of this function or unknown.
  uint32_t target = kNowhere;
};

// Instructions [begin, next block's begin).
struct Block {
  uint32_t begin = 0;
  bool reachable = false;
  // Also true in a routine called from a loop.
  bool in_loop = false;
  // Number of the innermost natural loop; kNowhere: in none.
  uint32_t loop = kNowhere;
};

struct LoopForest {
  // By position; the first begins at 0. Empty for an empty function.
  std::vector<Block> blocks;
  uint32_t loops = 0;
  // Edges that go round without a dominating head: no natural loop.
  uint32_t irreducible_edges = 0;
};

// `transfers` in the order of `at`; `cases` are the targets that any
// Flow::kIndirect may take.
LoopForest FindLoops(uint32_t instructions, std::span<const Transfer> transfers,
                     std::span<const uint32_t> cases);

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_FLOW_H_
