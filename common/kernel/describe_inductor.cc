// TorchInductor writes what it knows about a kernel into the decorator above
// it, as Python displays that hold calls of its own (DeviceProperties(...),
// AttrsDescriptor(...)). They are read from the syntax tree: nested braces and
// unknown calls need no care.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/strings.h"
#include "common/kernel/describe.h"

namespace kernelfleet::kernel {
namespace {

class InductorReader {
 public:
  InductorReader(const SourceFile& source, const Function& function,
                 const DecoratorUse& use, v1::InductorKernel& out)
      : source_(source),
        syntax_(source.syntax),
        function_(function),
        use_(use),
        out_(out) {}

  void Read() {
    out_.set_kernel(std::string(function_.name));
    out_.set_line(syntax_.line(use_.node));
    out_.set_heuristic(use_.path.substr(use_.path.rfind('.') + 1));
    const NodeId arguments = syntax_.Child(use_.call, Field::kArguments);
    for (NodeId child : syntax_.Children(arguments)) {
      const NodeId value = syntax_.Child(child, Field::kValue);
      if (value == kNoNode) continue;
      const std::string_view name = KeywordName(child);
      if (name == "triton_meta" || name == "meta") {
        ReadTritonMeta(value);
      } else if (name == "inductor_meta") {
        ReadInductorMeta(value);
      } else if (name == "size_hints") {
        out_.set_size_hints(Quote(syntax_, value));
      }
    }
  }

 private:
  std::string_view KeywordName(NodeId argument) const {
    const NodeId name = syntax_.Child(argument, Field::kName);
    return name == kNoNode ? std::string_view() : syntax_.TextOf(name);
  }

  // The text of a string display without its quotes; other text as it is.
  std::string_view Unquote(NodeId node) const {
    std::string_view text = syntax_.TextOf(node);
    if (syntax_.kind(node) == Kind::kString && text.size() >= 2) {
      text = text.substr(1, text.size() - 2);
    }
    return text;
  }

  // f(key node, value node) for each pair of a display.
  template <typename Function>
  void ForEachPair(NodeId display, Function&& function) const {
    if (syntax_.kind(display) != Kind::kDictionary) return;
    for (NodeId pair : syntax_.Children(display)) {
      const NodeId key = syntax_.Child(pair, Field::kKey);
      const NodeId value = syntax_.Child(pair, Field::kValue);
      if (key != kNoNode && value != kNoNode) function(key, value);
    }
  }

  void ReadTritonMeta(NodeId display) {
    ForEachPair(display, [&](NodeId key, NodeId value) {
      const std::string_view name = Unquote(key);
      if (name == "signature") {
        ReadSignature(value);
      } else if (name == "configs") {
        ReadHints(value);
      }
      (*out_.mutable_triton_meta())[std::string(name)] = Quote(syntax_, value);
    });
  }

  // Keys are names, or, up to torch 2.5, positions.
  void ReadSignature(NodeId display) {
    const std::vector<FlowParam> params = ParamsOf(source_, function_.def);
    ForEachPair(display, [&](NodeId key, NodeId value) {
      v1::InductorArgument* argument = out_.add_arguments();
      std::string name(Unquote(key));
      if (const std::optional<int64_t> position = ParseInt(name)) {
        const auto index = static_cast<size_t>(*position);
        if (*position >= 0 && index < params.size()) {
          name = std::string(params[index].name);
        }
      }
      argument->set_name(std::move(name));
      argument->set_type(std::string(Unquote(value)));
    });
  }

  // Numbers of a tuple, list or set display.
  std::vector<int32_t> Numbers(NodeId display) const {
    std::vector<int32_t> out;
    for (NodeId id = display; id < syntax_.subtree_end(display); ++id) {
      if (syntax_.kind(id) != Kind::kInteger) continue;
      if (const auto number = ParseInt(syntax_.TextOf(id))) {
        out.push_back(static_cast<int32_t>(*number));
      }
    }
    return out;
  }

  void AddHint(std::string_view name, const std::vector<int32_t>& arguments) {
    google::protobuf::RepeatedField<int32_t>* list = nullptr;
    if (name == "divisible_by_16" || name == "tt.divisibility") {
      list = out_.mutable_divisible_by_16();
    } else if (name == "equal_to_1" || name == "tt.equal_to") {
      list = out_.mutable_equal_to_1();
    } else if (name == "pointer_range_32" || name == "tt.pointer_range") {
      list = out_.mutable_pointer_range_32();
    }
    if (list == nullptr) return;
    for (int32_t argument : arguments) list->Add(argument);
  }

  void ReadHints(NodeId configs) {
    const NodeId first = syntax_.first_child(configs);
    if (first == kNoNode) return;
    if (syntax_.kind(first) == Kind::kDictionary) {
      out_.set_era(v1::InductorKernel::attribute_lists);
      ReadAttributeLists(first);
    } else if (syntax_.kind(first) == Kind::kCall) {
      ReadDescriptor(first);
    }
  }

  // {(0,): [['tt.divisibility', 16], ['tt.pointer_range', 32]]}
  void ReadAttributeLists(NodeId display) {
    ForEachPair(display, [&](NodeId key, NodeId value) {
      const std::vector<int32_t> argument = Numbers(key);
      for (NodeId attribute : syntax_.Children(value)) {
        const NodeId name = syntax_.first_child(attribute);
        if (name != kNoNode) AddHint(Unquote(name), argument);
      }
    });
  }

  // instance_descriptor(divisible_by_16=(0, 1), equal_to_1=())
  // AttrsDescriptor(divisible_by_16=(0, 1), equal_to_1=())
  // AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': (0,)}})
  void ReadDescriptor(NodeId call) {
    const NodeId callee = syntax_.Child(call, Field::kFunction);
    const NodeId arguments = syntax_.Child(call, Field::kArguments);
    if (callee == kNoNode || arguments == kNoNode) return;
    const std::string_view name = syntax_.TextOf(callee);
    if (name.ends_with("from_dict")) {
      out_.set_era(v1::InductorKernel::attrs_from_dict);
    } else if (name.ends_with("instance_descriptor")) {
      out_.set_era(v1::InductorKernel::instance_descriptor);
    } else {
      out_.set_era(v1::InductorKernel::attrs_descriptor);
    }
    int position = 0;
    for (NodeId child : syntax_.Children(arguments)) {
      if (syntax_.kind(child) == Kind::kDictionary) {
        ReadProperties(child);
      } else if (syntax_.kind(child) == Kind::kKeywordArgument) {
        const NodeId value = syntax_.Child(child, Field::kValue);
        if (value == kNoNode) continue;
        if (KeywordName(child) == "arg_properties") {
          ReadPropertyLists(value);
        } else {
          AddHint(KeywordName(child), Numbers(value));
        }
      } else {
        // The first two positions of the older classes.
        AddHint(position == 0 ? "divisible_by_16" : "equal_to_1",
                position < 2 ? Numbers(child) : std::vector<int32_t>());
        ++position;
      }
    }
  }

  void ReadProperties(NodeId display) {
    ForEachPair(display, [&](NodeId key, NodeId value) {
      if (Unquote(key) == "arg_properties") ReadPropertyLists(value);
    });
  }

  void ReadPropertyLists(NodeId display) {
    ForEachPair(display, [&](NodeId key, NodeId value) {
      AddHint(Unquote(key), Numbers(value));
    });
  }

  void ReadInductorMeta(NodeId display) {
    ForEachPair(display, [&](NodeId key, NodeId value) {
      const std::string_view name = Unquote(key);
      (*out_.mutable_inductor_meta())[std::string(name)] =
          Quote(syntax_, value);
      if (name != "mutated_arg_names") return;
      for (NodeId item : syntax_.Children(value)) {
        out_.add_mutated_arg_names(std::string(Unquote(item)));
      }
    });
  }

  const SourceFile& source_;
  const Syntax& syntax_;
  const Function& function_;
  const DecoratorUse& use_;
  v1::InductorKernel& out_;
};

bool HasMeta(const Syntax& syntax, NodeId call) {
  if (call == kNoNode) return false;
  const NodeId arguments = syntax.Child(call, Field::kArguments);
  if (arguments == kNoNode) return false;
  for (NodeId child : syntax.Children(arguments)) {
    const NodeId name = syntax.Child(child, Field::kName);
    if (name != kNoNode && (syntax.TextOf(name) == "triton_meta" ||
                            syntax.TextOf(name) == "inductor_meta")) {
      return true;
    }
  }
  return false;
}

}  // namespace

void DescribeInductor(const SourceFile& source, v1::SourceFacts& out) {
  for (const Function& function : source.functions.all()) {
    for (const DecoratorUse& use : function.decorators) {
      if (!HasMeta(source.syntax, use.call)) continue;
      InductorReader(source, function, use, *out.add_inductor()).Read();
    }
  }
}

}  // namespace kernelfleet::kernel
