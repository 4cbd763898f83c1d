// A Python file as a flat syntax tree: tree-sitter's, without its punctuation,
// stored in preorder. A subtree is therefore a contiguous range of node ids, so
// that walks are loops and depth costs nothing.
//
//   Syntax syntax = Syntax::Parse(text);
//   for (NodeId id = 0; id < syntax.size(); ++id) {
//     if (syntax.kind(id) == Kind::kCall) {
//       NodeId callee = syntax.Child(id, Field::kFunction);
//       fmt::print("{}\n", syntax.TextOf(callee));
//     }
//   }
//
// Immutable after Parse; safe to read from several threads. Byte offsets are
// those of the text given to Parse, always.
#ifndef KERNELFLEET_COMMON_KERNEL_SYNTAX_H_
#define KERNELFLEET_COMMON_KERNEL_SYNTAX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/kernel/syntax_kinds.h"

namespace kernelfleet::kernel {

using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

// 1-based line; 1-based column in bytes.
struct Position {
  int line = 0;
  int column = 0;
};

struct ByteRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct SyntaxProblem {
  uint32_t byte = 0;
  std::string text;
};

class Syntax {
 public:
  // Never fails: what is not Python becomes problems() and nodes of kind
  // kError. Bytes that are not UTF-8 are read as '?', which keeps offsets. At
  // most 1 GiB.
  static Syntax Parse(std::string_view text);

  // The text as read; same length as the one given to Parse, valid UTF-8.
  std::string_view text() const { return text_; }
  const std::vector<SyntaxProblem>& problems() const { return problems_; }
  // In order; a comment is in no node of its own.
  const std::vector<ByteRange>& comments() const { return comments_; }

  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  static constexpr NodeId root() { return 0; }

  Kind kind(NodeId id) const { return nodes_[Index(id)].kind; }
  // The role below the parent; kNone for a child without one.
  Field field(NodeId id) const { return nodes_[Index(id)].field; }
  ByteRange range(NodeId id) const {
    return {nodes_[Index(id)].begin, nodes_[Index(id)].end};
  }
  std::string_view TextOf(NodeId id) const {
    const Node& node = nodes_[Index(id)];
    return std::string_view(text_).substr(node.begin, node.end - node.begin);
  }

  NodeId parent(NodeId id) const { return nodes_[Index(id)].parent; }
  // One past the last node of the subtree: [id, subtree_end(id)).
  NodeId subtree_end(NodeId id) const { return nodes_[Index(id)].subtree_end; }
  NodeId first_child(NodeId id) const {
    return subtree_end(id) > id + 1 ? id + 1 : kNoNode;
  }
  NodeId next_sibling(NodeId id) const {
    const NodeId next = subtree_end(id);
    const NodeId up = parent(id);
    return up != kNoNode && next < subtree_end(up) ? next : kNoNode;
  }
  // The first child with this role, or kNoNode.
  NodeId Child(NodeId id, Field field) const;
  // The first child of this kind, or kNoNode.
  NodeId Child(NodeId id, Kind kind) const;

  Position At(uint32_t byte) const;
  int line(NodeId id) const { return At(nodes_[Index(id)].begin).line; }

  // for (NodeId child : syntax.Children(id))
  class ChildRange;
  ChildRange Children(NodeId id) const;

 private:
  struct Node {
    uint32_t begin;
    uint32_t end;
    NodeId parent;
    NodeId subtree_end;
    Kind kind;
    Field field;
  };
  friend class SyntaxBuilder;
  static size_t Index(NodeId id) { return static_cast<size_t>(id); }

  std::string text_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> line_starts_;
  std::vector<ByteRange> comments_;
  std::vector<SyntaxProblem> problems_;
};

class Syntax::ChildRange {
 public:
  class Iterator {
   public:
    Iterator(const Syntax& syntax, NodeId id) : syntax_(&syntax), id_(id) {}
    NodeId operator*() const { return id_; }
    Iterator& operator++() {
      id_ = syntax_->subtree_end(id_);
      return *this;
    }
    bool operator==(const Iterator& other) const { return id_ == other.id_; }

   private:
    const Syntax* syntax_;
    NodeId id_;
  };
  ChildRange(const Syntax& syntax, NodeId parent)
      : syntax_(syntax), parent_(parent) {}
  Iterator begin() const { return {syntax_, parent_ + 1}; }
  Iterator end() const { return {syntax_, syntax_.subtree_end(parent_)}; }

 private:
  const Syntax& syntax_;
  NodeId parent_;
};

inline Syntax::ChildRange Syntax::Children(NodeId id) const {
  return {*this, id};
}

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_SYNTAX_H_
