#include "common/isa/flow.h"

#include <algorithm>
#include <utility>

namespace kernelfleet::isa {
namespace {

// Neighbours of every node in one array: those of n are
// [first[n], first[n + 1]).
struct Neighbours {
  std::vector<uint32_t> first;
  std::vector<uint32_t> to;
  std::span<const uint32_t> Of(uint32_t node) const {
    return std::span(to).subspan(first[node], first[node + 1] - first[node]);
  }
};

using Edge = std::pair<uint32_t, uint32_t>;

Neighbours Group(uint32_t nodes, const std::vector<Edge>& edges,
                 uint32_t Edge::*from, uint32_t Edge::*to) {
  Neighbours result;
  result.first.assign(nodes + 1, 0);
  result.to.resize(edges.size());
  for (const Edge& edge : edges) ++result.first[edge.*from + 1];
  for (uint32_t n = 0; n < nodes; ++n) result.first[n + 1] += result.first[n];
  std::vector<uint32_t> at(result.first.begin(), result.first.end() - 1);
  for (const Edge& edge : edges) result.to[at[edge.*from]++] = edge.*to;
  return result;
}

// Nodes: the blocks, then one that stands for every indirect jump, then the
// root, which leads to the entry and to every called routine.
class Graph {
 public:
  Graph(uint32_t instructions, std::span<const Transfer> transfers,
        std::span<const uint32_t> cases);

  LoopForest Loops();

 private:
  uint32_t BlockAt(uint32_t instruction) const;
  void AddEdges(uint32_t block, const Transfer* last);
  void NumberNodes();
  uint32_t Evaluate(uint32_t node);
  void FindDominators();
  bool Dominates(uint32_t head, uint32_t tail) const;
  void NumberDominatorTree();
  void FindHeads();
  uint32_t Outermost(uint32_t node);
  void CollapseLoops();
  void MarkCalledRoutines();

  LoopForest forest_;
  uint32_t instructions_;
  uint32_t cases_node_;
  uint32_t root_;
  std::vector<Edge> edges_;
  std::vector<Edge> calls_;
  Neighbours next_;
  Neighbours previous_;

  // Depth-first search: nodes in preorder, and each node's number in it.
  std::vector<uint32_t> preorder_;
  std::vector<uint32_t> number_;
  std::vector<uint32_t> parent_;
  // Lengauer-Tarjan, all indexed and valued by preorder number.
  std::vector<uint32_t> semi_;
  std::vector<uint32_t> ancestor_;
  std::vector<uint32_t> label_;
  std::vector<uint32_t> dominator_;
  std::vector<uint32_t> path_;
  // Interval of the dominator tree's own preorder, by node.
  std::vector<uint32_t> tree_in_;
  std::vector<uint32_t> tree_out_;
  // Heads of loops in preorder, with the tails of their back edges.
  std::vector<Edge> back_edges_;
  std::vector<uint32_t> inside_;
  std::vector<uint32_t> loop_;
};

std::vector<Block> CutBlocks(uint32_t instructions,
                             std::span<const Transfer> transfers,
                             std::span<const uint32_t> cases) {
  std::vector<uint32_t> begins = {0};
  for (const Transfer& transfer : transfers) {
    begins.push_back(transfer.at + 1);
    begins.push_back(transfer.target);
  }
  begins.insert(begins.end(), cases.begin(), cases.end());
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  std::vector<Block> blocks;
  for (uint32_t begin : begins) {
    if (begin < instructions) blocks.push_back({.begin = begin});
  }
  return blocks;
}

Graph::Graph(uint32_t instructions, std::span<const Transfer> transfers,
             std::span<const uint32_t> cases)
    : instructions_(instructions) {
  forest_.blocks = CutBlocks(instructions, transfers, cases);
  cases_node_ = static_cast<uint32_t>(forest_.blocks.size());
  root_ = cases_node_ + 1;
  edges_.emplace_back(root_, 0);
  auto transfer = transfers.begin();
  for (uint32_t b = 0; b < cases_node_; ++b) {
    const uint32_t end =
        b + 1 < cases_node_ ? forest_.blocks[b + 1].begin : instructions;
    const bool ends_here =
        transfer != transfers.end() && transfer->at == end - 1;
    AddEdges(b, ends_here ? &*transfer++ : nullptr);
  }
  for (uint32_t target : cases) {
    if (target < instructions)
      edges_.emplace_back(cases_node_, BlockAt(target));
  }
  next_ = Group(root_ + 1, edges_, &Edge::first, &Edge::second);
  previous_ = Group(root_ + 1, edges_, &Edge::second, &Edge::first);
}

uint32_t Graph::BlockAt(uint32_t instruction) const {
  const auto after = std::upper_bound(
      forest_.blocks.begin(), forest_.blocks.end(), instruction,
      [](uint32_t at, const Block& block) { return at < block.begin; });
  return static_cast<uint32_t>(after - forest_.blocks.begin()) - 1;
}

void Graph::AddEdges(uint32_t block, const Transfer* last) {
  const Flow flow = last == nullptr ? Flow::kNext : last->flow;
  const bool falls =
      flow == Flow::kNext || flow == Flow::kBranch || flow == Flow::kCall;
  if (falls && block + 1 < cases_node_) edges_.emplace_back(block, block + 1);
  if (flow == Flow::kIndirect) edges_.emplace_back(block, cases_node_);
  if (last == nullptr || last->target >= instructions_) return;
  const uint32_t target = BlockAt(last->target);
  if (flow == Flow::kCall) {
    edges_.emplace_back(root_, target);
    calls_.emplace_back(block, target);
  } else {
    edges_.emplace_back(block, target);
  }
}

void Graph::NumberNodes() {
  number_.assign(root_ + 1, kNowhere);
  // A node waits here with the one that it was seen from.
  std::vector<Edge> waiting = {{root_, 0}};
  while (!waiting.empty()) {
    const auto [node, from] = waiting.back();
    waiting.pop_back();
    if (number_[node] != kNowhere) continue;
    number_[node] = static_cast<uint32_t>(preorder_.size());
    preorder_.push_back(node);
    parent_.push_back(from);
    for (uint32_t to : next_.Of(node)) {
      if (number_[to] == kNowhere) waiting.emplace_back(to, number_[node]);
    }
  }
}

// The node of least semidominator on the path above `node` in the forest
// linked so far; the path is compressed on the way.
uint32_t Graph::Evaluate(uint32_t node) {
  if (ancestor_[node] == kNowhere) return node;
  path_.clear();
  while (ancestor_[ancestor_[node]] != kNowhere) {
    path_.push_back(node);
    node = ancestor_[node];
  }
  uint32_t best = label_[node];
  for (; !path_.empty(); path_.pop_back()) {
    const uint32_t below = path_.back();
    if (semi_[best] < semi_[label_[below]]) label_[below] = best;
    best = label_[below];
    ancestor_[below] = ancestor_[node];
  }
  return best;
}

void Graph::FindDominators() {
  const uint32_t count = static_cast<uint32_t>(preorder_.size());
  semi_.resize(count);
  for (uint32_t v = 0; v < count; ++v) semi_[v] = v;
  label_ = semi_;
  ancestor_.assign(count, kNowhere);
  dominator_.assign(count, 0);
  // Nodes of equal semidominator, as linked lists.
  std::vector<uint32_t> bucket(count, kNowhere), in_bucket(count, kNowhere);
  for (uint32_t w = count; w-- > 1;) {
    for (uint32_t from : previous_.Of(preorder_[w])) {
      if (number_[from] == kNowhere) continue;
      semi_[w] = std::min(semi_[w], semi_[Evaluate(number_[from])]);
    }
    in_bucket[w] = std::exchange(bucket[semi_[w]], w);
    const uint32_t above = parent_[w];
    ancestor_[w] = above;
    for (uint32_t v = std::exchange(bucket[above], kNowhere); v != kNowhere;
         v = in_bucket[v]) {
      const uint32_t u = Evaluate(v);
      dominator_[v] = semi_[u] < semi_[v] ? u : above;
    }
  }
  for (uint32_t w = 1; w < count; ++w) {
    if (dominator_[w] != semi_[w]) dominator_[w] = dominator_[dominator_[w]];
  }
}

// A node dominates another when its interval in the dominator tree holds the
// other's. Dominators have lower numbers, so that two sweeps give the sizes
// and then the starts of the intervals.
void Graph::NumberDominatorTree() {
  const uint32_t count = static_cast<uint32_t>(preorder_.size());
  std::vector<uint32_t> size(count, 1);
  for (uint32_t v = count; v-- > 1;) size[dominator_[v]] += size[v];
  tree_in_.assign(count, 0);
  tree_out_.assign(count, count);
  std::vector<uint32_t> used(count, 1);
  for (uint32_t v = 1; v < count; ++v) {
    const uint32_t above = dominator_[v];
    tree_in_[v] = tree_in_[above] + used[above];
    tree_out_[v] = tree_in_[v] + size[v];
    used[above] += size[v];
  }
}

bool Graph::Dominates(uint32_t head, uint32_t tail) const {
  return tree_in_[head] <= tree_in_[tail] && tree_in_[tail] < tree_out_[head];
}

void Graph::FindHeads() {
  // Ends of the subtrees of the depth-first search, to tell edges that go
  // round from those that go on.
  const uint32_t count = static_cast<uint32_t>(preorder_.size());
  std::vector<uint32_t> end(count);
  for (uint32_t v = count; v-- > 0;) {
    end[v] = std::max(end[v], v + 1);
    if (v > 0) end[parent_[v]] = std::max(end[parent_[v]], end[v]);
  }
  for (uint32_t tail = 1; tail < count; ++tail) {
    for (uint32_t to : next_.Of(preorder_[tail])) {
      const uint32_t head = number_[to];
      if (Dominates(head, tail)) {
        back_edges_.emplace_back(head, tail);
      } else if (head <= tail && tail < end[head]) {
        ++forest_.irreducible_edges;
      }
    }
  }
  std::sort(back_edges_.begin(), back_edges_.end());
}

uint32_t Graph::Outermost(uint32_t node) {
  while (inside_[node] != node) {
    inside_[node] = inside_[inside_[node]];
    node = inside_[node];
  }
  return node;
}

// Innermost heads have the highest numbers. What belongs to a loop becomes
// one node with its head, so every node is walked once.
void Graph::CollapseLoops() {
  const uint32_t count = static_cast<uint32_t>(preorder_.size());
  inside_.resize(count);
  for (uint32_t v = 0; v < count; ++v) inside_[v] = v;
  loop_.assign(count, kNowhere);
  std::vector<uint32_t> waiting;
  for (size_t i = back_edges_.size(); i-- > 0;) {
    const uint32_t head = back_edges_[i].first;
    const uint32_t loop = forest_.loops++;
    if (loop_[head] == kNowhere) loop_[head] = loop;
    const auto take = [&](uint32_t node) {
      node = Outermost(node);
      if (node == head) return;
      inside_[node] = head;
      if (loop_[node] == kNowhere) loop_[node] = loop;
      waiting.push_back(node);
    };
    take(back_edges_[i].second);
    for (; i > 0 && back_edges_[i - 1].first == head; --i) {
      take(back_edges_[i - 1].second);
    }
    while (!waiting.empty()) {
      const uint32_t node = waiting.back();
      waiting.pop_back();
      for (uint32_t from : previous_.Of(preorder_[node])) {
        if (number_[from] != kNowhere) take(number_[from]);
      }
    }
  }
}

void Graph::MarkCalledRoutines() {
  std::vector<uint32_t> waiting;
  const auto mark = [&](uint32_t node) {
    if (node < cases_node_) {
      if (forest_.blocks[node].in_loop) return;
      forest_.blocks[node].in_loop = true;
    }
    waiting.push_back(node);
  };
  // Calls of each block, for routines that call routines.
  const Neighbours called =
      Group(root_ + 1, calls_, &Edge::first, &Edge::second);
  std::vector<uint32_t> callers;
  for (const Edge& call : calls_) {
    if (forest_.blocks[call.first].in_loop) callers.push_back(call.second);
  }
  for (uint32_t routine : callers) mark(routine);
  while (!waiting.empty()) {
    const uint32_t node = waiting.back();
    waiting.pop_back();
    for (uint32_t to : next_.Of(node)) {
      if (to < cases_node_) mark(to);
    }
    for (uint32_t to : called.Of(node)) mark(to);
  }
}

LoopForest Graph::Loops() {
  NumberNodes();
  FindDominators();
  NumberDominatorTree();
  FindHeads();
  CollapseLoops();
  for (uint32_t b = 0; b < cases_node_; ++b) {
    Block& block = forest_.blocks[b];
    block.reachable = number_[b] != kNowhere;
    if (!block.reachable) continue;
    block.loop = loop_[number_[b]];
    block.in_loop = block.loop != kNowhere;
  }
  if (!calls_.empty()) MarkCalledRoutines();
  return std::move(forest_);
}

}  // namespace

LoopForest FindLoops(uint32_t instructions, std::span<const Transfer> transfers,
                     std::span<const uint32_t> cases) {
  if (instructions == 0) return {};
  return Graph(instructions, transfers, cases).Loops();
}

}  // namespace kernelfleet::isa
