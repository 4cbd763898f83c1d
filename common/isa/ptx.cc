// Reads PTX statement by statement.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/strings.h"
#include "common/isa/dialects.h"
#include "common/isa/function.h"
#include "common/isa/mnemonic_cache.h"
#include "common/isa/ptx_names.h"
#include "common/isa/text_lines.h"

namespace kernelfleet::isa {
namespace {

// cp.async.cg.shared.global [to], [from], 16[, size]: also as 0x10.
uint16_t CopyBytes(std::string_view operands) {
  size_t at = operands.find("],");
  if (at != operands.npos) at = operands.find("],", at + 2);
  if (at == operands.npos) return 0;
  std::string_view number = SkipBlanks(operands.substr(at + 2));
  uint64_t bytes = 0;
  if (number.starts_with("0x")) {
    number.remove_prefix(2);
    bytes = TakeHex(number).value_or(0);
  } else {
    bytes = static_cast<uint64_t>(TakeDecimal(number).value_or(0));
  }
  return static_cast<uint16_t>(bytes <= 16 ? bytes : 0);
}

class PtxReader {
 public:
  PtxReader(std::string_view text, v1::IsaReport& report)
      : rest_(text), report_(report) {}
  void Read();

 private:
  void Directive();
  void FunctionHeader(std::string_view kind);
  void NameOrOperation();
  void Operation(std::string_view operation, bool guarded);
  std::string_view TakeStatementEnd();
  void SkipComment();
  void SkipLine();
  void CloseBrace();
  void Cases(std::string_view list);
  void FinishFunction();

  std::string_view rest_;
  v1::IsaReport& report_;
  MnemonicCache cache_{&ClassifyPtx};
  Function function_;
  std::string_view arch_;
  int depth_ = 0;
  bool declared_ = false;
  bool in_function_ = false;
  bool is_kernel_ = false;
  int threads_ = 0;
};

void PtxReader::Read() {
  while (true) {
    const size_t start = rest_.find_first_not_of(" \t\r\n;");
    if (start == rest_.npos) break;
    rest_.remove_prefix(start);
    switch (rest_[0]) {
      case '.':
        Directive();
        break;
      case '/':
        SkipComment();
        break;
      case '{':
        rest_.remove_prefix(1);
        if (depth_++ == 0 && declared_) {
          in_function_ = true;
          declared_ = false;
        }
        break;
      case '}':
        CloseBrace();
        break;
      default:
        NameOrOperation();
    }
  }
  if (in_function_) {
    report_.add_problems(fmt::format("the text ends inside '{}'",
                                     Printable(function_.symbol())));
    FinishFunction();
  }
}

void PtxReader::SkipLine() {
  const size_t end = rest_.find('\n');
  rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
}

void PtxReader::SkipComment() {
  if (!rest_.starts_with("/*")) {
    SkipLine();
    return;
  }
  const size_t end = rest_.find("*/", 2);
  rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 2);
}

void PtxReader::CloseBrace() {
  rest_.remove_prefix(1);
  if (depth_ > 0) --depth_;
  if (depth_ == 0 && in_function_) FinishFunction();
}

void PtxReader::FinishFunction() {
  v1::IsaKernel kernel = function_.Finish();
  kernel.set_symbol(std::string(function_.symbol()));
  kernel.set_dialect("ptx");
  kernel.set_arch(std::string(arch_));
  if (threads_ > 0) {
    kernel.mutable_resources()->set_num_warps((threads_ + 31) / 32);
  }
  *(is_kernel_ ? report_.add_kernels() : report_.add_functions()) =
      std::move(kernel);
  in_function_ = false;
}

// Most directives end with their line. ".entry NAME" opens a function; its
// parameters are directives of their own.
void PtxReader::Directive() {
  const size_t end = RunLength(rest_, kNameChar | kDotChar);
  const std::string_view name = rest_.substr(0, end);
  if (name == ".visible" || name == ".weak" || name == ".extern" ||
      name == ".common") {
    rest_.remove_prefix(end);
    return;
  }
  if (name == ".entry" || name == ".func") {
    rest_.remove_prefix(end);
    FunctionHeader(name);
    return;
  }
  if (name == ".target") {
    const std::string_view value = SkipBlanks(rest_.substr(end));
    arch_ = value.substr(0, RunLength(value, kNameChar));
  } else if (name == ".reqntid" && declared_) {
    std::string_view value = SkipBlanks(rest_.substr(end));
    threads_ = TakeDecimal(value).value_or(0);
  } else if (name == ".branchtargets" && in_function_) {
    rest_.remove_prefix(end);
    Cases(TakeStatementEnd());
    return;
  } else if (name == ".pragma" || name == ".reg" || name == ".param") {
    // May share its line with instructions: "{ .reg .pred p; setp…; }".
    const size_t stop = rest_.find_first_of(";\n");
    rest_.remove_prefix(stop == rest_.npos ? rest_.size() : stop);
    return;
  }
  SkipLine();
}

// ".entry k(…)", ".func (.param .b32 r) f(…);": up to the body or the ';' of a
// declaration.
void PtxReader::FunctionHeader(std::string_view kind) {
  if (in_function_) return;
  rest_ =
      rest_.substr(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  if (rest_.starts_with("(")) {
    const size_t end = rest_.find(')');
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    rest_ = SkipBlanks(rest_);
  }
  const std::string_view symbol =
      rest_.substr(0, RunLength(rest_, kNameChar | kDotChar));
  rest_.remove_prefix(symbol.size());
  const size_t end = rest_.find_first_of("{;");
  const std::string_view header = rest_.substr(0, end);
  declared_ = end != rest_.npos && rest_[end] == '{';
  if (!declared_) {
    rest_.remove_prefix(header.size());
    return;
  }
  function_.Start(symbol);
  is_kernel_ = kind == ".entry";
  threads_ = 0;
  depth_ = 0;
}

// A label, or an operation up to its ';'.
void PtxReader::NameOrOperation() {
  bool guarded = false;
  if (rest_[0] == '@') {
    guarded = true;
    const size_t end = rest_.find_first_of(" \t\r\n");
    rest_ = SkipBlanks(end == rest_.npos ? "" : rest_.substr(end));
  }
  size_t end = RunLength(rest_, kNameChar);
  if (end == 0) {
    if (!rest_.empty()) rest_.remove_prefix(1);
    return;
  }
  if (!guarded && end < rest_.size() && rest_[end] == ':' &&
      (end + 1 == rest_.size() || rest_[end + 1] != ':')) {
    if (in_function_ && !rest_.starts_with("$L__tmp")) {
      function_.Label(rest_.substr(0, end));
    }
    rest_.remove_prefix(end + 1);
    return;
  }
  while (end < rest_.size() &&
         (Is(rest_[end], kNameChar | kDotChar) || rest_[end] == ':')) {
    ++end;
  }
  const std::string_view operation = rest_.substr(0, end);
  rest_.remove_prefix(end);
  if (in_function_) {
    Operation(operation, guarded);
  } else {
    SkipLine();
  }
}

// The operands: everything up to the ';', which moves past.
std::string_view PtxReader::TakeStatementEnd() {
  size_t end = rest_.find(';');
  if (end == rest_.npos) end = rest_.size();
  const std::string_view operands = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  return operands;
}

void PtxReader::Cases(std::string_view list) {
  for (std::string_view label : Split(list, ',')) {
    function_.Case(Trim(label));
  }
}

void PtxReader::Operation(std::string_view operation, bool guarded) {
  const std::string_view operands = TakeStatementEnd();
  Meaning meaning = cache_.Of(operation);
  if (meaning.look == Look::kCopyBytes) meaning.bytes = CopyBytes(operands);
  const bool jumps = meaning.flow == Flow::kJump;
  if (guarded && jumps) meaning.flow = Flow::kBranch;
  // A guarded exit: the others go on.
  if (guarded && meaning.flow == Flow::kExit) meaning.flow = Flow::kNext;
  function_.Add(meaning);
  if (jumps) function_.Target(Trim(operands));
}

}  // namespace

void ReadPtx(std::string_view text, v1::IsaReport& report) {
  PtxReader(text, report).Read();
}

}  // namespace kernelfleet::isa
