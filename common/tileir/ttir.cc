#include "common/tileir/ttir.h"

#include <array>
#include <optional>

#include "common/base/strings.h"
#include "fmt/format.h"

namespace kernelfleet::tileir::ttir {
namespace {

struct ScalarRow {
  Scalar scalar;
  std::string_view name;
  int bits;
};

// Spelled as MLIR's builtin types.
constexpr std::array<ScalarRow, 16> kScalars = {{
    {Scalar::kNone, "none", 0},
    {Scalar::kI1, "i1", 1},
    {Scalar::kI4, "i4", 4},
    {Scalar::kI8, "i8", 8},
    {Scalar::kI16, "i16", 16},
    {Scalar::kI32, "i32", 32},
    {Scalar::kI64, "i64", 64},
    {Scalar::kF16, "f16", 16},
    {Scalar::kBF16, "bf16", 16},
    {Scalar::kF32, "f32", 32},
    {Scalar::kTF32, "tf32", 32},
    {Scalar::kF64, "f64", 64},
    {Scalar::kF8E4M3FN, "f8E4M3FN", 8},
    {Scalar::kF8E5M2, "f8E5M2", 8},
    {Scalar::kF8E8M0FNU, "f8E8M0FNU", 8},
    {Scalar::kF4E2M1FN, "f4E2M1FN", 4},
}};

const ScalarRow& Row(Scalar scalar) {
  return kScalars[static_cast<size_t>(scalar)];
}

// Frames kept while a callsite is unfolded; Triton's own inlining is shallow.
constexpr int kMaxFrames = 64;

// "path":3:1 → path and line.
std::optional<SourceLine> FileLine(std::string_view text) {
  text = Trim(text);
  if (text.empty() || text.front() != '"') return std::nullopt;
  const size_t end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(end + 1);
  if (rest.empty() || rest.front() != ':') return std::nullopt;
  rest.remove_prefix(1);
  const std::optional<int64_t> line = ParseInt(rest.substr(0, rest.find(':')));
  // A range ("f.py":3:1 to :9) fails here only when its line is no number.
  if (!line.has_value() || *line < 0 || *line > INT32_MAX) return std::nullopt;
  return SourceLine{std::string(text.substr(1, end - 1)),
                    static_cast<int>(*line)};
}

bool InTritonItself(const SourceLine& line) {
  return line.file.find("/triton/language/") != std::string::npos;
}

// Where `word` starts outside brackets and quotes; npos when nowhere.
size_t TopLevel(std::string_view text, std::string_view word) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '>') --depth;
    if (depth == 0 && text.substr(i).starts_with(word)) return i;
  }
  return std::string_view::npos;
}

class LineFinder {
 public:
  explicit LineFinder(const Module& module) : module_(module) {}

  // Appends frames, innermost first.
  void Walk(std::string_view text) {
    if (++steps_ > kMaxFrames) return;
    text = Trim(text);
    if (text.starts_with("#")) {
      const auto found = module_.locations.find(text);
      if (found != module_.locations.end()) Walk(found->second);
      return;
    }
    if (std::optional<SourceLine> line = FileLine(text)) {
      frames_.push_back(*std::move(line));
      return;
    }
    if (text.starts_with("\"")) {  // A name around another location.
      const size_t quote = text.find('"', 1);
      if (quote == std::string_view::npos) return;
      const std::string_view inner = Trim(text.substr(quote + 1));
      if (inner.size() >= 2) Walk(inner.substr(1, inner.size() - 2));
      return;
    }
    if (text.starts_with("callsite(") && text.ends_with(")")) {
      const std::string_view inner = text.substr(9, text.size() - 10);
      const size_t at = TopLevel(inner, " at ");
      if (at == std::string_view::npos) return;
      Walk(inner.substr(0, at));
      Walk(inner.substr(at + 4));
      return;
    }
    if (const size_t open = text.find('[');
        text.starts_with("fused") && open != std::string_view::npos) {
      const std::string_view inner = text.substr(open + 1);
      Walk(inner.substr(0, inner.find_first_of(",]")));
    }
  }

  SourceLine Best() const {
    for (const SourceLine& frame : frames_) {
      if (!InTritonItself(frame)) return frame;
    }
    return frames_.empty() ? SourceLine{} : frames_.front();
  }

 private:
  const Module& module_;
  std::vector<SourceLine> frames_;
  int steps_ = 0;
};

}  // namespace

std::string_view Name(Scalar scalar) { return Row(scalar).name; }

int Bits(Scalar scalar) { return Row(scalar).bits; }

bool IsInteger(Scalar scalar) {
  return scalar >= Scalar::kI1 && scalar <= Scalar::kI64;
}

bool IsFloat(Scalar scalar) { return scalar >= Scalar::kF16; }

std::string Spell(const Type& type) {
  if (type.kind == Type::Kind::kNone) return "none";
  if (type.kind == Type::Kind::kOther) return std::string(type.text);
  std::string shape;
  for (const int64_t extent : type.shape) shape += fmt::format("{}x", extent);
  if (type.kind == Type::Kind::kDescriptor) {
    return fmt::format("!tt.tensordesc<{}{}>", shape, Name(type.scalar));
  }
  std::string element(Name(type.scalar));
  if (type.pointer) element = fmt::format("!tt.ptr<{}>", element);
  if (!type.tensor) return element;
  return fmt::format("tensor<{}{}>", shape, element);
}

int64_t ElementCount(const Type& type) {
  int64_t count = 1;
  for (const int64_t extent : type.shape) count *= extent;
  return count;
}

const Attribute* Op::Find(std::string_view key) const {
  for (const auto& [name_, value] : attributes) {
    if (name_ == key) return &value;
  }
  return nullptr;
}

const Function* Module::Callee(const Op& call) const {
  const Attribute* symbol = call.Find("callee");
  if (symbol == nullptr) symbol = call.Find("");
  if (symbol == nullptr) return nullptr;
  for (const Function& function : functions) {
    if (function.name == symbol->string()) return &function;
  }
  return nullptr;
}

SourceLine Module::Resolve(std::string_view location) const {
  LineFinder finder(*this);
  finder.Walk(location);
  return finder.Best();
}

}  // namespace kernelfleet::tileir::ttir
