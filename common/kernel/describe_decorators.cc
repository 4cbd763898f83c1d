#include <string_view>

#include "common/kernel/describe.h"

namespace kernelfleet::kernel {
namespace {

// Strings of a list or tuple display.
void AddStrings(const Syntax& syntax, NodeId list,
                google::protobuf::RepeatedPtrField<std::string>* out) {
  for (NodeId child : syntax.Children(list)) {
    if (syntax.kind(child) != Kind::kString) continue;
    std::string_view text = syntax.TextOf(child);
    const size_t begin = text.find_first_of("'\"");
    if (begin == std::string_view::npos || text.size() < begin + 2) continue;
    text = text.substr(begin);
    const size_t quotes =
        text.size() >= 6 && text[1] == text[0] && text[2] == text[0] ? 3 : 1;
    out->Add(std::string(text.substr(quotes, text.size() - 2 * quotes)));
  }
}

class DecoratorReader {
 public:
  DecoratorReader(const SourceFile& source, v1::JitFunction& out)
      : syntax_(source.syntax), out_(out) {}

  void Read(const DecoratorUse& use) {
    v1::Decorator* decorator = out_.add_decorators();
    decorator->set_path(use.path);
    decorator->set_text(Quote(syntax_, use.expression));
    decorator->set_line(syntax_.line(use.node));
    SetRange(syntax_, use.node, decorator->mutable_range());
    if (use.path.ends_with(".autotune") || use.path.ends_with("libtuner")) {
      ReadAutotune(use);
    } else if (use.path.ends_with(".heuristics")) {
      ReadHeuristics(use);
    } else if (use.path.ends_with("jit")) {
      ReadJit(use);
    }
  }

 private:
  NodeId Arguments(NodeId call) const {
    return call == kNoNode ? kNoNode : syntax_.Child(call, Field::kArguments);
  }

  // f(name=value) for each keyword; positions 0 and 1 as `configs`, `key`.
  template <typename Function>
  void ForEachArgument(NodeId call, Function&& function) {
    const NodeId arguments = Arguments(call);
    if (arguments == kNoNode) return;
    int position = 0;
    for (NodeId child : syntax_.Children(arguments)) {
      if (syntax_.kind(child) == Kind::kKeywordArgument) {
        const NodeId name = syntax_.Child(child, Field::kName);
        const NodeId value = syntax_.Child(child, Field::kValue);
        if (name != kNoNode && value != kNoNode) {
          function(syntax_.TextOf(name), value);
        }
      } else {
        function(position == 0   ? std::string_view("configs")
                 : position == 1 ? std::string_view("key")
                                 : std::string_view(),
                 child);
        ++position;
      }
    }
  }

  void ReadAutotune(const DecoratorUse& use) {
    v1::Autotune& autotune = *out_.mutable_autotune();
    autotune.set_line(syntax_.line(use.node));
    SetRange(syntax_, use.call == kNoNode ? use.node : use.call,
             autotune.mutable_range());
    ForEachArgument(use.call, [&](std::string_view name, NodeId value) {
      if (name == "configs") {
        ReadConfigs(value, autotune);
      } else if (name == "key") {
        autotune.set_key_text(Quote(syntax_, value));
        AddStrings(syntax_, value, autotune.mutable_key());
      } else if (name == "reset_to_zero") {
        AddStrings(syntax_, value, autotune.mutable_reset_to_zero());
      } else if (name == "restore_value") {
        AddStrings(syntax_, value, autotune.mutable_restore_value());
      } else if (name == "pre_hook") {
        autotune.set_pre_hook(Quote(syntax_, value));
      } else if (name == "post_hook") {
        autotune.set_post_hook(Quote(syntax_, value));
      } else if (name == "prune_configs_by") {
        autotune.set_prune_configs_by(Quote(syntax_, value));
      } else if (!name.empty()) {
        (*autotune.mutable_extra())[std::string(name)] = Quote(syntax_, value);
      }
    });
  }

  void ReadConfigs(NodeId value, v1::Autotune& autotune) {
    autotune.set_configs_text(Quote(syntax_, value));
    const Kind kind = syntax_.kind(value);
    if (kind != Kind::kList && kind != Kind::kTuple) return;
    bool complete = true;
    for (NodeId child : syntax_.Children(value)) {
      complete &= ReadConfig(child, autotune);
    }
    autotune.set_complete(complete);
  }

  bool ReadConfig(NodeId node, v1::Autotune& autotune) {
    if (syntax_.kind(node) != Kind::kCall) return false;
    const NodeId callee = syntax_.Child(node, Field::kFunction);
    if (callee == kNoNode || !syntax_.TextOf(callee).ends_with("Config")) {
      return false;
    }
    v1::AutotuneConfig& config = *autotune.add_configs();
    config.set_line(syntax_.line(node));
    SetRange(syntax_, node, config.mutable_range());
    const NodeId arguments = Arguments(node);
    if (arguments == kNoNode) return true;
    bool complete = true;
    // After the dictionary: num_warps, num_stages, num_ctas by position.
    constexpr std::string_view kPositions[] = {"kwargs", "num_warps",
                                               "num_stages", "num_ctas"};
    size_t position = 0;
    for (NodeId child : syntax_.Children(arguments)) {
      std::string_view name;
      NodeId value = child;
      if (syntax_.kind(child) == Kind::kKeywordArgument) {
        const NodeId key = syntax_.Child(child, Field::kName);
        value = syntax_.Child(child, Field::kValue);
        if (key == kNoNode || value == kNoNode) continue;
        name = syntax_.TextOf(key);
      } else if (position < std::size(kPositions)) {
        name = kPositions[position++];
      }
      if (name == "kwargs") {
        complete &= ReadKwargs(value, config);
      } else if (!name.empty()) {
        (*config.mutable_options())[std::string(name)] = Quote(syntax_, value);
      }
    }
    return complete;
  }

  bool ReadKwargs(NodeId value, v1::AutotuneConfig& config) {
    if (syntax_.kind(value) != Kind::kDictionary) return false;
    bool complete = true;
    for (NodeId pair : syntax_.Children(value)) {
      const NodeId key = syntax_.Child(pair, Field::kKey);
      const NodeId item = syntax_.Child(pair, Field::kValue);
      if (key == kNoNode || item == kNoNode ||
          syntax_.kind(key) != Kind::kString) {
        complete = false;
        continue;
      }
      std::string_view name = syntax_.TextOf(key);
      if (name.size() >= 2) name = name.substr(1, name.size() - 2);
      (*config.mutable_kwargs())[std::string(name)] = Quote(syntax_, item);
    }
    return complete;
  }

  void ReadHeuristics(const DecoratorUse& use) {
    ForEachArgument(use.call, [&](std::string_view, NodeId value) {
      if (syntax_.kind(value) != Kind::kDictionary) return;
      for (NodeId pair : syntax_.Children(value)) {
        const NodeId key = syntax_.Child(pair, Field::kKey);
        const NodeId item = syntax_.Child(pair, Field::kValue);
        if (key == kNoNode || item == kNoNode) continue;
        std::string_view name = syntax_.TextOf(key);
        if (name.size() >= 2 && syntax_.kind(key) == Kind::kString) {
          name = name.substr(1, name.size() - 2);
        }
        (*out_.mutable_heuristics())[std::string(name)] = Quote(syntax_, item);
      }
    });
  }

  void ReadJit(const DecoratorUse& use) {
    ForEachArgument(use.call, [&](std::string_view name, NodeId value) {
      if (!name.starts_with("do_not_specialize")) return;
      google::protobuf::RepeatedPtrField<std::string> names;
      AddStrings(syntax_, value, &names);
      for (int i = 0; i < out_.params_size(); ++i) {
        v1::Parameter& param = *out_.mutable_params(i);
        bool listed = false;
        for (const std::string& text : names) listed |= text == param.name();
        // Parameters may also be given by position.
        for (NodeId child : syntax_.Children(value)) {
          listed |= syntax_.kind(child) == Kind::kInteger &&
                    syntax_.TextOf(child) == std::to_string(i);
        }
        if (!listed) continue;
        if (name == "do_not_specialize") {
          param.set_do_not_specialize(true);
        } else {
          param.set_do_not_specialize_on_alignment(true);
        }
      }
    });
  }

  const Syntax& syntax_;
  v1::JitFunction& out_;
};

}  // namespace

void DescribeDecorators(const SourceFile& source, const Function& function,
                        v1::JitFunction& out) {
  DecoratorReader reader(source, out);
  for (const DecoratorUse& use : function.decorators) reader.Read(use);
}

}  // namespace kernelfleet::kernel
