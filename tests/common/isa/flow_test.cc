#include "common/isa/flow.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "common/base/random.h"

namespace kernelfleet::isa {
namespace {

TEST(FlowTest, ABackwardBranchThatNothingReachesIsNoLoop) {
  // 0: exit. 1: branch to itself, as behind every SASS kernel.
  const std::vector<Transfer> transfers = {{0, Flow::kExit, kNowhere},
                                           {1, Flow::kJump, 1}};
  const LoopForest forest = FindLoops(3, transfers, {});
  EXPECT_EQ(forest.loops, 0u);
  EXPECT_FALSE(forest.blocks[1].reachable);
}

TEST(FlowTest, ABackwardJumpOutOfLineIsNoLoop) {
  // 0 → 3 → 1 → exit: 3 jumps back to a lower address, once.
  const std::vector<Transfer> transfers = {
      {0, Flow::kJump, 3}, {2, Flow::kExit, kNowhere}, {3, Flow::kJump, 1}};
  EXPECT_EQ(FindLoops(4, transfers, {}).loops, 0u);
}

TEST(FlowTest, ALoopMayLieOutOfLine) {
  // The body of the loop at 1 is at 4, behind the exit.
  const std::vector<Transfer> transfers = {
      {1, Flow::kBranch, 4}, {3, Flow::kExit, kNowhere}, {5, Flow::kJump, 1}};
  const LoopForest forest = FindLoops(6, transfers, {});
  EXPECT_EQ(forest.loops, 1u);
  std::vector<uint32_t> in_loop;
  for (const Block& block : forest.blocks) {
    if (block.in_loop) in_loop.push_back(block.begin);
  }
  EXPECT_EQ(in_loop, (std::vector<uint32_t>{1, 4}));
}

TEST(FlowTest, NestedLoopsKeepTheInnermost) {
  // for (1) { for (2) {} }
  const std::vector<Transfer> transfers = {
      {2, Flow::kBranch, 2}, {3, Flow::kBranch, 1}, {4, Flow::kExit, kNowhere}};
  const LoopForest forest = FindLoops(5, transfers, {});
  EXPECT_EQ(forest.loops, 2u);
  ASSERT_EQ(forest.blocks.size(), 5u);
  EXPECT_EQ(forest.blocks[0].loop, kNowhere);
  EXPECT_EQ(forest.blocks[1].loop, forest.blocks[3].loop);
  EXPECT_NE(forest.blocks[1].loop, forest.blocks[2].loop);
  EXPECT_EQ(forest.blocks[4].loop, kNowhere);
}

TEST(FlowTest, ARegionWithTwoEntriesIsNoNaturalLoop) {
  // 0 branches into the middle (2) of 1 ⇄ 2.
  const std::vector<Transfer> transfers = {{0, Flow::kBranch, 2},
                                           {1, Flow::kBranch, 3},
                                           {2, Flow::kJump, 1},
                                           {3, Flow::kExit, kNowhere}};
  const LoopForest forest = FindLoops(4, transfers, {});
  EXPECT_EQ(forest.loops, 0u);
  EXPECT_EQ(forest.irreducible_edges, 1u);
}

TEST(FlowTest, ARoutineCalledFromALoopIsInside) {
  // 1: call 4 in the loop 1–2; 4–5 is the routine.
  const std::vector<Transfer> transfers = {{1, Flow::kCall, 4},
                                           {2, Flow::kBranch, 1},
                                           {3, Flow::kExit, kNowhere},
                                           {5, Flow::kExit, kNowhere}};
  const LoopForest forest = FindLoops(6, transfers, {});
  EXPECT_EQ(forest.loops, 1u);
  EXPECT_TRUE(forest.blocks.back().in_loop);
  EXPECT_EQ(forest.blocks.back().loop, kNowhere);
}

TEST(FlowTest, ATableOfTargetsCanCloseALoop) {
  const std::vector<Transfer> transfers = {{2, Flow::kIndirect, kNowhere},
                                           {3, Flow::kExit, kNowhere}};
  EXPECT_EQ(FindLoops(4, transfers, std::vector<uint32_t>{1, 3}).loops, 1u);
}

// The same question by sets: dominators by iteration, loops by walking back.
struct Slow {
  std::set<uint32_t> in_loop;
  std::set<uint32_t> heads;
};

Slow SlowLoops(uint32_t nodes, const std::vector<std::set<uint32_t>>& next) {
  const auto reach = [&](uint32_t without) {
    std::set<uint32_t> seen;
    std::vector<uint32_t> waiting;
    if (without != 0) waiting = {0};
    while (!waiting.empty()) {
      const uint32_t node = waiting.back();
      waiting.pop_back();
      if (!seen.insert(node).second) continue;
      for (uint32_t to : next[node]) {
        if (to != without) waiting.push_back(to);
      }
    }
    return seen;
  };
  const std::set<uint32_t> reachable = reach(kNowhere);
  Slow slow;
  for (uint32_t head : reachable) {
    const std::set<uint32_t> free = reach(head);
    for (uint32_t tail : reachable) {
      // head dominates tail when nothing reaches tail without it.
      if (!next[tail].contains(head) || free.contains(tail)) continue;
      slow.heads.insert(head);
      std::set<uint32_t> body = {head};
      std::vector<uint32_t> waiting = {tail};
      while (!waiting.empty()) {
        const uint32_t node = waiting.back();
        waiting.pop_back();
        if (!body.insert(node).second) continue;
        for (uint32_t from = 0; from < nodes; ++from) {
          if (reachable.contains(from) && next[from].contains(node)) {
            waiting.push_back(from);
          }
        }
      }
      slow.in_loop.insert(body.begin(), body.end());
    }
  }
  return slow;
}

TEST(FlowTest, AgreesWithTheDefinitionOnRandomGraphs) {
  SeededRandom random(20261201);
  for (int round = 0; round < 3000; ++round) {
    const uint32_t nodes = 1 + static_cast<uint32_t>(random.Next() % 14);
    std::vector<Transfer> transfers;
    std::vector<std::set<uint32_t>> next(nodes);
    for (uint32_t n = 0; n < nodes; ++n) {
      // Two instructions per block; the second one leaves.
      const uint32_t target = static_cast<uint32_t>(random.Next() % nodes);
      const Flow flow = std::vector{Flow::kBranch, Flow::kBranch, Flow::kJump,
                                    Flow::kExit}[random.Next() % 4];
      transfers.push_back(
          {2 * n + 1, flow, flow == Flow::kExit ? kNowhere : 2 * target});
      if (flow != Flow::kExit) next[n].insert(target);
      if (flow == Flow::kBranch && n + 1 < nodes) next[n].insert(n + 1);
    }
    const Slow slow = SlowLoops(nodes, next);
    const LoopForest forest = FindLoops(2 * nodes, transfers, {});
    ASSERT_EQ(forest.loops, slow.heads.size()) << "round " << round;
    for (const Block& block : forest.blocks) {
      ASSERT_EQ(block.in_loop, slow.in_loop.contains(block.begin / 2))
          << "round " << round << " block " << block.begin / 2;
    }
  }
}

// Each of these takes a quadratic or recursive algorithm minutes or the stack.
TEST(FlowTest, AMillionNestedLoopsAreLinear) {
  constexpr uint32_t kDepth = 1'000'000;
  std::vector<Transfer> transfers;
  for (uint32_t i = 0; i < kDepth; ++i) {
    transfers.push_back({kDepth + i, Flow::kBranch, kDepth - 1 - i});
  }
  EXPECT_EQ(FindLoops(2 * kDepth, transfers, {}).loops, kDepth);
}

TEST(FlowTest, AMillionEntriesOfOneRegionAreLinear) {
  constexpr uint32_t kSize = 1'000'000;
  std::vector<Transfer> transfers;
  // A ladder down, and from each rung a jump back up beside it.
  for (uint32_t i = 0; i < kSize; ++i) {
    transfers.push_back({i, Flow::kBranch, (i * 7919u) % kSize});
  }
  const LoopForest forest = FindLoops(kSize, transfers, {});
  EXPECT_EQ(forest.blocks.size(), kSize);
}

}  // namespace
}  // namespace kernelfleet::isa
