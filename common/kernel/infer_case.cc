#include "common/kernel/infer_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/strings.h"

namespace kernelfleet::kernel {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool ContainsAny(std::string_view text,
                 std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

// "*fp16", "fp32", "i64" in an annotation, as text or as a type of ours.
std::string AnnotatedType(std::string_view annotation) {
  if (annotation.size() >= 3 &&
      (annotation.front() == '"' || annotation.front() == '\'')) {
    const std::string_view inner = annotation.substr(1, annotation.size() - 2);
    for (std::string_view type :
         {"fp16", "bf16", "fp32", "fp64", "i1", "i8", "i16", "i32", "i64", "u8",
          "u16", "u32", "u64"}) {
      if (inner == type ||
          (inner.starts_with('*') && inner.substr(1) == type)) {
        return std::string(inner);
      }
    }
  }
  if (annotation == "tl.int32" || annotation == "int" ||
      annotation == "tl.uint32") {
    return "i32";
  }
  if (annotation == "tl.int64" || annotation == "tl.uint64") return "i64";
  if (annotation == "float" || annotation == "tl.float32") return "fp32";
  if (annotation == "bool") return "i1";
  return {};
}

class Maker {
 public:
  Maker(const Evidence& evidence, const Assumptions& assume)
      : evidence_(evidence),
        kernel_(*evidence.request->kernel),
        assume_(assume) {}

  v1::CompileCase Make() {
    for (size_t i = 0; i < evidence_.flow->params.size(); ++i) {
      v1::KernelArg arg = ArgOf(i);
      arg.set_name(std::string(evidence_.flow->params[i].name));
      *out_.add_args() = std::move(arg);
    }
    Options();
    return std::move(out_);
  }

 private:
  const v1::Parameter* ParamOf(size_t index) const {
    const std::string_view name = evidence_.flow->params[index].name;
    for (const v1::Parameter& param : kernel_.params()) {
      if (param.name() == name) return &param;
    }
    return nullptr;
  }

  std::string_view NameOf(size_t index) const {
    return evidence_.flow->params[index].name;
  }

  static v1::KernelArg Constant(v1::Constant value, std::string from) {
    v1::KernelArg out;
    *out.mutable_constant() = std::move(value);
    out.set_guessed_from(std::move(from));
    return out;
  }

  static v1::KernelArg Typed(std::string type, std::string from) {
    v1::KernelArg out;
    if (type.starts_with('*')) out.set_divisibility(16);
    out.set_type(std::move(type));
    out.set_guessed_from(std::move(from));
    return out;
  }

  v1::KernelArg ArgOf(size_t index) {
    const v1::Parameter* param = ParamOf(index);
    if (param == nullptr) return Typed("i32", "nothing is known of it");
    if (param->is_constexpr()) return ConstexprOf(index, *param);
    if (const std::string type = AnnotatedType(param->annotation());
        !type.empty()) {
      return Typed(type, fmt::format("annotation in line {}", param->line()));
    }
    const ParamTypes& types = evidence_.types[index];
    if (types.descriptor && !types.pointer) return DescriptorOf(index);
    if (types.pointer || LooksLikePointer(index)) return PointerOf(index);
    return ScalarOf(index, *param);
  }

  // No access says so, but something else does.
  bool LooksLikePointer(size_t index) const {
    const ParamUses& uses = evidence_.uses.params[index];
    if (uses.element_type > 0) return true;
    const Wants& wants = evidence_.types[index].wants;
    if (wants.integer > 0 || wants.real > 0 || uses.integer > 0) return false;
    if (ContainsAny(Lower(NameOf(index)), {"ptr", "pointer"})) return true;
    for (const Passed& passed : PassedFor(*evidence_.request, index)) {
      if (passed.text.find('(') != std::string::npos ||
          passed.text.find('[') != std::string::npos) {
        return false;
      }
    }
    return uses.none > 0;
  }

  v1::KernelArg PointerOf(size_t index) {
    const ParamUses& uses = evidence_.uses.params[index];
    if (assume_.none && uses.none > 0) {
      return Constant(NoneConstant(), fmt::format("compared with None"));
    }
    std::string from;
    const std::string element = ElementOf(index, from);
    return Typed("*" + element, std::move(from));
  }

  std::string ElementOf(size_t index, std::string& from) const {
    const ParamTypes& types = evidence_.types[index];
    const Wants& wants = types.wants;
    const int real = std::max({wants.real, wants.fp32, wants.dot});
    if (wants.address > 0) {
      from = "what is loaded becomes an address";
      return "i64";
    }
    if (wants.integer >= 8 || wants.integer > real) {
      from = wants.integer >= 8 ? "what is loaded is used as an index"
                                : "used with whole numbers";
      return std::string(assume_.whole);
    }
    if (wants.boolean > real) {
      from = "used as a condition";
      return "i1";
    }
    if (real == 0 && types.stored == Number::kInt) {
      from = "whole numbers are stored";
      return std::string(assume_.whole);
    }
    if (real == 0 && types.stored == Number::kBool) {
      from = "the result of a comparison is stored";
      return "i1";
    }
    return RealElement(index, from);
  }

  std::string RealElement(size_t index, std::string& from) const {
    const ParamTypes& types = evidence_.types[index];
    const Wants& wants = types.wants;
    if (!assume_.real.empty()) {
      from = "used with real numbers";
      return std::string(assume_.real);
    }
    if (wants.fp32 > 0) {
      from = "goes into a function of fp32 as it is loaded";
      return "fp32";
    }
    if (wants.atomic > 0) {
      from = "accumulated by atomics";
      return "fp32";
    }
    if (wants.dot > 0) {
      from = wants.dot > 5 ? "operand of a dot with bf16" : "operand of a dot";
      return wants.dot > 5 ? "bf16" : "fp16";
    }
    if (wants.cast > 1) {
      from = "widened when it is loaded";
      return "fp16";
    }
    if (types.stored == Number::kFp16) {
      from = "fp16 is stored";
      return "fp16";
    }
    if (types.stored == Number::kBf16) {
      from = "bf16 is stored";
      return "bf16";
    }
    from = wants.real > 0 || types.stored != Number::kUnknown
               ? "used with real numbers"
               : "no use says more than that it is a pointer";
    return "fp32";
  }

  v1::KernelArg DescriptorOf(size_t index) {
    const int rank = std::max(evidence_.types[index].descriptor_rank, 1);
    std::string from;
    std::string element = ElementOf(index, from);
    std::string shape;
    for (int axis = 0; axis < rank; ++axis) {
      // Outer axes of a batch are of length 1.
      const int length = rank > 2 && axis < rank - 2 ? 1 : Tile();
      if (axis > 0) shape += ",";
      shape += std::to_string(length);
    }
    if (element == "fp32") element = "fp16";
    return Typed(fmt::format("tensordesc<{}[{}]>", element, shape),
                 "loaded through its own methods");
  }

  v1::KernelArg ScalarOf(size_t index, const v1::Parameter& param) {
    const ParamUses& uses = evidence_.uses.params[index];
    const Wants& wants = evidence_.types[index].wants;
    const int real = std::max({wants.real, wants.fp32, wants.dot});
    int whole = std::max(wants.integer, uses.integer > 0 ? 6 : 0);
    if (whole > real && whole >= 5)
      return Typed("i32", "used as an index or size");
    if (real > whole && real >= 5) return Typed("fp32", "used with reals");
    for (const Passed& passed : PassedFor(*evidence_.request, index)) {
      const std::string from =
          fmt::format("passed as `{}` in line {}", passed.text, passed.line);
      if (const auto literal = ReadLiteral(passed.text)) {
        if (literal->has_float_value()) return Typed("fp32", from);
        if (literal->has_int_value()) return Typed("i32", from);
        if (literal->has_bool_value()) return Typed("i1", from);
      }
      if (ContainsAny(passed.text, {".stride(", ".shape", ".numel(", ".size(",
                                    "len(", ".element_size("})) {
        return Typed("i32", from);
      }
      if (passed.text.starts_with("float(")) return Typed("fp32", from);
    }
    if (const auto value = ReadLiteral(param.default_text())) {
      const std::string from = fmt::format("default in line {}", param.line());
      if (value->has_none()) {
        return Constant(NoneConstant(), from);
      }
      if (value->has_float_value()) return Typed("fp32", from);
      if (value->has_bool_value()) return Typed("i1", from);
    }
    if (real != whole) {
      const bool is_real = (real > whole) != assume_.flip;
      return Typed(is_real ? "fp32" : "i32",
                   is_real ? "used with reals" : "used with whole numbers");
    }
    const std::string name = Lower(NameOf(index));
    if (wants.boolean > 0 || uses.truth > 0) {
      return Typed("i32", "used as a condition");
    }
    return Typed(RealName(name) != assume_.flip ? "fp32" : "i32",
                 "its name; no use tells");
  }

  // Weak evidence, for when there is no other.
  static bool RealName(std::string_view name) {
    return name == "p" ||
           ContainsAny(name, {"eps", "scale", "alpha", "beta", "gamma", "theta",
                              "prob", "temperature", "lambda", "softcap",
                              "decay", "coef", "factor", "slope"});
  }

  int Tile() const {
    if (assume_.tile > 0) return assume_.tile;
    if (evidence_.uses.has_dot) return 64;
    if (evidence_.uses.max_rank >= 3) return 16;
    if (evidence_.uses.max_rank == 2) return 64;
    return 1024;
  }

  std::optional<Said> SaidOf(size_t index, const v1::Parameter& param) const {
    if (!assume_.said) return {};
    if (auto said = FromAutotune(kernel_, param.name())) return said;
    const bool lanes = evidence_.uses.params[index].arange > 0;
    const auto fits = [&](const v1::Constant& value) {
      const int64_t number = value.int_value();
      return !lanes || (number > 0 && (number & (number - 1)) == 0);
    };
    for (const Passed& passed : PassedFor(*evidence_.request, index)) {
      const auto literal = ReadLiteral(passed.text);
      if (literal && fits(*literal)) {
        return Said{*literal, fmt::format("passed as `{}` in line {}",
                                          passed.text, passed.line)};
      }
    }
    const auto literal = ReadLiteral(param.default_text());
    if (literal && fits(*literal)) {
      return Said{*literal, fmt::format("default in line {}", param.line())};
    }
    return {};
  }

  v1::KernelArg ConstexprOf(size_t index, const v1::Parameter& param) {
    const ParamUses& uses = evidence_.uses.params[index];
    if (auto said = SaidOf(index, param)) {
      // A flag that is off by default may be what an alternative is about.
      const bool flag = said->value.has_bool_value();
      if (!flag || !assume_.flags) return Constant(said->value, said->from);
    }
    if (!uses.strings.empty()) {
      const size_t at = assume_.choice % uses.strings.size();
      return Constant(StringConstant(uses.strings[at]),
                      fmt::format("compared with \"{}\"", uses.strings[at]));
    }
    if (!uses.word.empty()) return WordOf(uses);
    if (uses.dtype > 0 || !uses.dtypes.empty()) return DtypeOf(uses);
    if (uses.call > 0) {
      return Constant(NoneConstant(), "called; no function is known");
    }
    if (uses.unrolled > 0) {
      // The least that a dot takes, else few.
      const bool dotted =
          evidence_.uses.has_dot && (uses.arange > 0 || uses.shape > 0);
      return Constant(IntConstant(dotted ? 16 : 4),
                      "bound of an unrolled loop");
    }
    if (uses.arange > 0 || uses.shape > 0) return TileOf(index);
    // The product of two tiles would be no tile that a GPU holds.
    if (uses.factor > 0) {
      return Constant(IntConstant(std::min(Tile(), 16)),
                      "factor of the length of a tile");
    }
    if (const auto heuristic = kernel_.heuristics().find(param.name());
        heuristic != kernel_.heuristics().end() &&
        (heuristic->second.find("is not None") != std::string::npos ||
         heuristic->second.find("==") != std::string::npos)) {
      return Constant(BoolConstant(assume_.flags),
                      fmt::format("computed by `{}`", heuristic->second));
    }
    if (!uses.numbers.empty()) {
      const size_t at = assume_.choice % uses.numbers.size();
      return Constant(IntConstant(uses.numbers[at]),
                      fmt::format("compared with {}", uses.numbers[at]));
    }
    if (uses.stages > 0 && uses.integer == 0) {
      return Constant(IntConstant(2), "number of stages of a loop");
    }
    if (uses.truth > 0 && uses.arithmetic == 0) {
      return Constant(BoolConstant(assume_.flags), "used as a condition");
    }
    return SizeOf(index);
  }

  v1::KernelArg WordOf(const ParamUses& uses) const {
    const std::string from = fmt::format("passed as {}", uses.word);
    if (uses.word == "allow_tf32" || uses.word == "volatile" ||
        uses.word == "bitcast") {
      return Constant(BoolConstant(false), from);
    }
    if (uses.word == "input_precision") {
      return Constant(StringConstant("tf32"), from);
    }
    if (uses.word == "sem") return Constant(StringConstant("relaxed"), from);
    if (uses.word == "scope") return Constant(StringConstant("gpu"), from);
    if (uses.word == "fp_downcast_rounding") {
      return Constant(StringConstant("rtne"), from);
    }
    return Constant(StringConstant(""), from);
  }

  v1::KernelArg DtypeOf(const ParamUses& uses) const {
    if (!uses.dtypes.empty()) {
      const std::string& name =
          uses.dtypes[assume_.choice % uses.dtypes.size()];
      if (const auto value = ReadLiteral("tl." + name)) {
        return Constant(*value, fmt::format("compared with tl.{}", name));
      }
    }
    const std::string_view type =
        assume_.real.empty() ? (evidence_.uses.has_dot ? "fp16" : "fp32")
                             : assume_.real;
    return Constant(DtypeConstant(type), "used as an element type");
  }

  v1::KernelArg TileOf(size_t index) const {
    const ParamUses& uses = evidence_.uses.params[index];
    return Constant(IntConstant(Tile()), uses.arange > 0 ? "bound of tl.arange"
                                                         : "length of a tile");
  }

  v1::KernelArg SizeOf(size_t index) const {
    const ParamUses& uses = evidence_.uses.params[index];
    const std::string name = Lower(NameOf(index));
    if (uses.integer == 0 && uses.arithmetic == 0) {
      if (uses.none > 0) return Constant(NoneConstant(), "compared with None");
      if (ContainsAny(name, {"is_", "has_", "use_", "with_", "enable"})) {
        return Constant(BoolConstant(assume_.flags), "its name; no use tells");
      }
    }
    if (RealName(name) ||
        (evidence_.types[index].wants.fp32 > 0 && uses.integer == 0)) {
      v1::Constant one;
      one.set_float_value(1.0);
      return Constant(one, "used with reals");
    }
    return Constant(IntConstant(assume_.size * Tile()),
                    "a whole number; no use tells which");
  }

  void Options() {
    if (kernel_.autotune().configs().empty() || !assume_.said) return;
    const auto& options = kernel_.autotune().configs(0).options();
    const auto number = [&](const std::string& name) {
      const auto at = options.find(name);
      const auto value =
          at == options.end() ? std::nullopt : ParseInt(at->second);
      return value && *value > 0 && *value <= 32 ? static_cast<int32_t>(*value)
                                                 : 0;
    };
    out_.mutable_options()->set_num_warps(number("num_warps"));
    out_.mutable_options()->set_num_stages(number("num_stages"));
  }

  const Evidence& evidence_;
  const v1::JitFunction& kernel_;
  const Assumptions& assume_;
  v1::CompileCase out_;
};

}  // namespace

v1::CompileCase MakeCase(const Evidence& evidence, const Assumptions& assume) {
  return Maker(evidence, assume).Make();
}

}  // namespace kernelfleet::kernel
