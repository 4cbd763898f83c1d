#include "common/kernel/infer_uses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "common/base/strings.h"

namespace kernelfleet::kernel {
namespace {

using Roots = std::map<std::string, size_t, std::less<>>;

std::string_view LastPart(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

bool IsOneOf(std::string_view name,
             std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Unquoted(std::string_view text) {
  while (!text.empty() && text.front() != '"' && text.front() != '\'') {
    text.remove_prefix(1);
  }
  if (text.size() < 2) return {};
  return std::string(text.substr(1, text.size() - 2));
}

class Finder {
 public:
  explicit Finder(const SourceFile& source)
      : source_(source), syntax_(source.syntax) {}

  Uses Find(int index) {
    const auto params = ParamsOf(source_, source_.functions.at(index).def);
    uses_.params.resize(params.size());
    Roots roots;
    for (size_t i = 0; i < params.size(); ++i) {
      roots[std::string(params[i].name)] = i;
    }
    Scan(index, roots, 0);
    return std::move(uses_);
  }

 private:
  static constexpr int kMaxDepth = 8;

  // The function's body, with its variables that stand for parameters of the
  // kernel.
  void Scan(int index, Roots roots, int depth) {
    if (depth > kMaxDepth || ++scans_ > 400) return;
    const Function& function = source_.functions.at(index);
    const NodeId body = syntax_.Child(function.def, Field::kBody);
    if (body == kNoNode) return;
    for (NodeId id = body; id < syntax_.subtree_end(body); ++id) {
      const Kind kind = syntax_.kind(id);
      if (kind == Kind::kCall) {
        Call(id, index, roots, depth);
      } else if (kind == Kind::kSubscript) {
        Rank(id);
      } else if (kind == Kind::kAssignment) {
        Alias(id, roots);
      } else if (kind == Kind::kBinaryOperator) {
        const NodeId token = syntax_.Child(id, Field::kOperator);
        if (token != kNoNode && syntax_.TextOf(token) == "@") {
          uses_.has_dot = true;
        }
      } else if (kind == Kind::kIdentifier) {
        const auto root = roots.find(syntax_.TextOf(id));
        if (root == roots.end()) continue;
        Look(id, root->second, roots);
      }
    }
  }

  // NAME: tl.constexpr = PARAM
  void Alias(NodeId assignment, Roots& roots) {
    const NodeId left = syntax_.Child(assignment, Field::kLeft);
    const NodeId right = syntax_.Child(assignment, Field::kRight);
    if (left == kNoNode || right == kNoNode) return;
    if (syntax_.kind(left) != Kind::kIdentifier) return;
    if (syntax_.kind(right) != Kind::kIdentifier) return;
    const auto root = roots.find(syntax_.TextOf(right));
    if (root == roots.end()) return;
    const size_t index = root->second;
    roots.try_emplace(std::string(syntax_.TextOf(left)), index);
  }

  void Rank(NodeId subscript) {
    int rank = 0;
    bool expands = false;
    for (NodeId child : syntax_.Children(subscript)) {
      if (syntax_.field(child) != Field::kSubscript) continue;
      ++rank;
      expands |= syntax_.kind(child) == Kind::kNone ||
                 syntax_.kind(child) == Kind::kSlice;
      if (syntax_.kind(child) == Kind::kTuple) {
        rank = 0;
        for (NodeId part : syntax_.Children(child)) {
          ++rank;
          expands |= syntax_.kind(part) == Kind::kNone;
        }
      }
    }
    if (expands) uses_.max_rank = std::max(uses_.max_rank, rank);
  }

  std::string CalleeOf(NodeId call) const {
    const NodeId callee = syntax_.Child(call, Field::kFunction);
    if (callee == kNoNode) return {};
    const std::string path = source_.names.Path(callee);
    return std::string(LastPart(path.empty() ? syntax_.TextOf(callee) : path));
  }

  void Call(NodeId call, int from, const Roots& roots, int depth) {
    const NodeId callee = syntax_.Child(call, Field::kFunction);
    const NodeId list = syntax_.Child(call, Field::kArguments);
    if (callee == kNoNode || list == kNoNode) return;
    const std::string name = CalleeOf(call);
    if (name == "dot" || name == "dot_scaled") uses_.has_dot = true;
    if (syntax_.kind(callee) != Kind::kIdentifier) return;
    const int function =
        source_.functions.FindJit(syntax_.TextOf(callee), from);
    if (function < 0) return;
    const auto params = ParamsOf(source_, source_.functions.at(function).def);
    Roots inner;
    size_t position = 0;
    for (NodeId child : syntax_.Children(list)) {
      std::string_view param;
      NodeId value = child;
      if (syntax_.kind(child) == Kind::kKeywordArgument) {
        const NodeId key = syntax_.Child(child, Field::kName);
        value = syntax_.Child(child, Field::kValue);
        if (key != kNoNode) param = syntax_.TextOf(key);
      } else if (position < params.size()) {
        param = params[position++].name;
      }
      if (value == kNoNode || syntax_.kind(value) != Kind::kIdentifier) {
        continue;
      }
      const auto root = roots.find(syntax_.TextOf(value));
      if (root != roots.end()) inner[std::string(param)] = root->second;
    }
    if (!inner.empty()) Scan(function, std::move(inner), depth + 1);
  }

  void Look(NodeId id, size_t index, const Roots& roots) {
    ParamUses& use = uses_.params[index];
    const int line = syntax_.line(id);
    NodeId at = id;
    NodeId parent = syntax_.parent(at);
    while (syntax_.kind(parent) == Kind::kParenthesizedExpression) {
      at = parent;
      parent = syntax_.parent(at);
    }
    const Field field = syntax_.field(at);
    switch (syntax_.kind(parent)) {
      case Kind::kIfStatement:
      case Kind::kElifClause:
      case Kind::kWhileStatement:
        if (field == Field::kCondition) use.truth = line;
        break;
      case Kind::kConditionalExpression: {
        // then if condition else otherwise
        int i = 0;
        for (NodeId child : syntax_.Children(parent)) {
          if (child == at && i == 1) use.truth = line;
          ++i;
        }
        break;
      }
      case Kind::kBooleanOperator:
      case Kind::kNotOperator:
        use.truth = line;
        break;
      case Kind::kComparisonOperator:
        Compared(parent, at, use, line);
        break;
      case Kind::kBinaryOperator:
        Arithmetic(parent, at, use, line, roots);
        break;
      case Kind::kUnaryOperator:
        use.arithmetic = line;
        break;
      case Kind::kAttribute:
        if (field == Field::kObject) Attribute(parent, use, line);
        break;
      case Kind::kSubscript:
        if (field == Field::kValue) Subscripted(parent, use, line);
        break;
      case Kind::kForStatement:
        if (field == Field::kRight) use.tuple = line;
        break;
      case Kind::kCall:
        if (field == Field::kFunction) use.call = line;
        break;
      default:
        break;
    }
    InCall(id, use, line);
  }

  void Attribute(NodeId attribute, ParamUses& use, int line) {
    const NodeId name = syntax_.Child(attribute, Field::kAttribute);
    if (name == kNoNode) return;
    const NodeId parent = syntax_.parent(attribute);
    if (syntax_.TextOf(name) == "dtype" &&
        syntax_.kind(parent) == Kind::kAttribute) {
      const NodeId next = syntax_.Child(parent, Field::kAttribute);
      if (next != kNoNode && syntax_.TextOf(next) == "element_ty") {
        use.element_type = line;
      }
    }
  }

  void Subscripted(NodeId subscript, ParamUses& use, int line) {
    for (NodeId child : syntax_.Children(subscript)) {
      if (syntax_.field(child) == Field::kSubscript &&
          syntax_.kind(child) == Kind::kInteger) {
        use.tuple = line;
      }
    }
  }

  void Compared(NodeId comparison, NodeId self, ParamUses& use, int line) {
    for (NodeId other : syntax_.Children(comparison)) {
      if (other == self || syntax_.kind(other) == Kind::kToken) continue;
      Literal(other, use, line, 0);
    }
  }

  void Literal(NodeId node, ParamUses& use, int line, int depth) {
    switch (syntax_.kind(node)) {
      case Kind::kNone:
        use.none = line;
        break;
      case Kind::kTrue:
      case Kind::kFalse:
        use.truth = line;
        break;
      case Kind::kString:
        use.strings.push_back(Unquoted(syntax_.TextOf(node)));
        break;
      case Kind::kInteger:
        if (const auto value = ParseInt(syntax_.TextOf(node))) {
          use.numbers.push_back(static_cast<long>(*value));
        }
        break;
      case Kind::kTuple:
      case Kind::kList:
      case Kind::kParenthesizedExpression:
        if (depth < 3) {
          for (NodeId child : syntax_.Children(node)) {
            Literal(child, use, line, depth + 1);
          }
        }
        break;
      case Kind::kIdentifier:
        if (const auto value = ConstantOf(node)) use.numbers.push_back(*value);
        break;
      case Kind::kAttribute: {
        if (const auto value = ConstantOf(node)) use.numbers.push_back(*value);
        const std::string path = source_.names.Path(node);
        if (path.starts_with("triton.language.")) {
          use.dtypes.emplace_back(LastPart(path));
        }
        break;
      }
      default:
        break;
    }
  }

  // The number behind a constant of the module: X = 1, X = constexpr(1), or a
  // member of an enumeration.
  std::optional<long> ConstantOf(NodeId node) const {
    for (int step = 0; step < 6; ++step) {
      if (node == kNoNode) return {};
      switch (syntax_.kind(node)) {
        case Kind::kInteger: {
          const auto value = ParseInt(syntax_.TextOf(node));
          return value ? std::optional<long>(*value) : std::nullopt;
        }
        case Kind::kCall: {
          const NodeId list = syntax_.Child(node, Field::kArguments);
          node = list == kNoNode ? kNoNode : syntax_.first_child(list);
          break;
        }
        case Kind::kAttribute: {
          // Class.MEMBER.value
          const NodeId object = syntax_.Child(node, Field::kObject);
          const NodeId name = syntax_.Child(node, Field::kAttribute);
          if (object == kNoNode || name == kNoNode) return {};
          if (syntax_.TextOf(name) == "value") {
            node = object;
            break;
          }
          return MemberOf(syntax_.TextOf(object), syntax_.TextOf(name));
        }
        case Kind::kIdentifier:
          node = AssignedTo(syntax_.TextOf(node), Syntax::root());
          break;
        default:
          return {};
      }
    }
    return {};
  }

  // The value that a block assigns to a name; module level and classes only.
  NodeId AssignedTo(std::string_view name, NodeId block) const {
    for (NodeId statement : syntax_.Children(block)) {
      if (syntax_.kind(statement) != Kind::kExpressionStatement) continue;
      const NodeId assignment = syntax_.first_child(statement);
      if (assignment == kNoNode) continue;
      const NodeId left = syntax_.Child(assignment, Field::kLeft);
      if (left != kNoNode && syntax_.TextOf(left) == name) {
        return syntax_.Child(assignment, Field::kRight);
      }
    }
    return kNoNode;
  }

  std::optional<long> MemberOf(std::string_view type,
                               std::string_view member) const {
    for (NodeId unit : syntax_.Children(Syntax::root())) {
      if (syntax_.kind(unit) != Kind::kClassDefinition) continue;
      const NodeId name = syntax_.Child(unit, Field::kName);
      const NodeId body = syntax_.Child(unit, Field::kBody);
      if (name == kNoNode || body == kNoNode) continue;
      if (syntax_.TextOf(name) != type) continue;
      const NodeId value = AssignedTo(member, body);
      if (value == kNoNode) return {};
      const auto number = ParseInt(syntax_.TextOf(value));
      return number ? std::optional<long>(*number) : std::nullopt;
    }
    return {};
  }

  void Arithmetic(NodeId binary, NodeId self, ParamUses& use, int line,
                  const Roots& roots) {
    use.arithmetic = line;
    const NodeId token = syntax_.Child(binary, Field::kOperator);
    const NodeId right = syntax_.Child(binary, Field::kRight);
    if (token == kNoNode || right == kNoNode) return;
    const std::string_view text = syntax_.TextOf(token);
    if (text == "//" || text == "%" || text == "<<" || text == ">>") {
      use.integer = line;
      if (right == self) return;
      const auto divisor = roots.find(syntax_.TextOf(right));
      if (divisor != roots.end()) use.divided_by.insert(divisor->second);
    }
  }

  // The nearest call that the name is in the arguments of.
  void InCall(NodeId id, ParamUses& use, int line) {
    NodeId at = id;
    bool direct = true;
    bool listed = false;
    std::string keyword;
    for (int step = 0; step < 12; ++step) {
      const NodeId parent = syntax_.parent(at);
      if (parent == kNoNode) return;
      switch (syntax_.kind(parent)) {
        case Kind::kTuple:
        case Kind::kList:
          listed = true;
          break;
        case Kind::kParenthesizedExpression:
          break;
        case Kind::kBinaryOperator:
        case Kind::kUnaryOperator:
          direct = false;
          break;
        case Kind::kKeywordArgument: {
          const NodeId name = syntax_.Child(parent, Field::kName);
          if (name == kNoNode || name == at) return;
          keyword = std::string(syntax_.TextOf(name));
          break;
        }
        case Kind::kArgumentList: {
          const NodeId call = syntax_.parent(parent);
          if (syntax_.kind(call) != Kind::kCall) return;
          Argument(call, parent, at, keyword, direct, listed, use, line);
          return;
        }
        default:
          return;
      }
      at = parent;
    }
  }

  void Argument(NodeId call, NodeId list, NodeId argument,
                const std::string& keyword, bool direct, bool listed,
                ParamUses& use, int line) {
    const std::string name = CalleeOf(call);
    int position = 0;
    for (NodeId child : syntax_.Children(list)) {
      if (child == argument) break;
      ++position;
    }
    if (IsOneOf(keyword, {"dtype", "out_dtype", "acc_dtype"})) {
      if (direct) use.dtype = line;
      return;
    }
    if (IsOneOf(keyword, {"input_precision", "allow_tf32", "eviction_policy",
                          "cache_modifier", "padding_option", "sem", "scope",
                          "fp_downcast_rounding", "volatile", "bitcast"})) {
      if (direct) use.word = keyword;
      return;
    }
    if (keyword == "num_stages" || keyword == "loop_unroll_factor") {
      use.stages = line;
      return;
    }
    if (name == "arange") {
      use.integer = line;
      if (direct) {
        use.arange = line;
      } else {
        use.factor = line;
      }
    } else if (IsOneOf(name, {"range", "cdiv", "next_power_of_2"})) {
      use.integer = line;
    } else if (name == "static_range") {
      use.unrolled = line;
      use.integer = line;
    } else if (IsOneOf(name,
                       {"zeros", "full", "reshape", "view", "broadcast_to"})) {
      if (listed || (name != "zeros" && name != "full")) {
        (direct ? use.shape : use.factor) = line;
        use.integer = line;
      } else if (direct && position == (name == "full" ? 2 : 1)) {
        use.dtype = line;
      }
    } else if (IsOneOf(name, {"to", "cast"})) {
      if (direct && position == (name == "cast" ? 1 : 0)) use.dtype = line;
    } else if (IsOneOf(name, {"make_block_ptr", "make_tensor_descriptor",
                              "_experimental_make_tensor_descriptor"})) {
      if (position == 0 && keyword.empty()) return;
      if (keyword == "base") return;
      use.integer = line;
      const bool block =
          keyword == "block_shape" ||
          (keyword.empty() && position == (name == "make_block_ptr" ? 4 : 3));
      if (block) use.shape = line;
    } else if (IsOneOf(name, {"rand", "randn", "randint", "rand4x", "randint4x",
                              "randn4x", "philox"})) {
      use.integer = line;
    } else if (name == "len") {
      use.tuple = line;
    }
  }

  const SourceFile& source_;
  const Syntax& syntax_;
  Uses uses_;
  int scans_ = 0;
};

}  // namespace

Uses FindUses(const SourceFile& source, int index) {
  return Finder(source).Find(index);
}

}  // namespace kernelfleet::kernel
