// Reads SASS: nvdisasm's sections with labels, and cuobjdump's listings with
// addresses and encodings, of one or several architectures.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "common/isa/dialects.h"
#include "common/isa/function.h"
#include "common/isa/mnemonic_cache.h"
#include "common/isa/nvidia_resources.h"
#include "common/isa/sass_names.h"
#include "common/isa/text_lines.h"

namespace kernelfleet::isa {
namespace {

class SassReader {
 public:
  explicit SassReader(v1::IsaReport& report) : report_(report) {}
  void Read(std::string_view text);

 private:
  void Line(std::string_view line);
  void Dot(std::string_view body);
  void Section(std::string_view name);
  void ReadHeaderFlags(std::string_view flags);
  void Name(std::string_view body);
  void Addressed(std::string_view body);
  void Instruction(std::string_view mnemonic, std::string_view operands,
                   bool guarded);
  void ReadTarget(std::string_view operands);
  void ReadCases(std::string_view operands);
  void StartFunction(std::string_view symbol);
  void FinishFunction();
  void SortKernelsFromFunctions();

  v1::IsaReport& report_;
  MnemonicCache cache_{&ClassifySass};
  Function function_;
  std::string arch_;
  bool open_ = false;
  bool exits_ = false;
  bool cut_line_ = false;
  bool nameless_ = false;
  // Lines of `cuobjdump -res-usage`, which may share the text.
  std::string_view usage_of_;
  std::map<std::string_view, v1::Resources> usage_;
  // nvdisasm says which functions are kernels; cuobjdump does not.
  std::vector<std::string_view> entries_;
};

void SassReader::Read(std::string_view text) {
  while (!text.empty()) Line(TakeLine(text));
  if (open_ && (cut_line_ || !exits_)) {
    report_.add_problems(fmt::format("the text ends inside '{}'",
                                     Printable(function_.symbol())));
  }
  FinishFunction();
  SortKernelsFromFunctions();
  if (nameless_) {
    report_.add_problems(
        "instructions stand before any symbol: counted under an empty name");
  }
}

void SassReader::Line(std::string_view line) {
  const std::string_view body = SkipBlanks(line);
  if (body.empty()) return;
  switch (body[0]) {
    case '/':
      // "/*0010*/ …"; a blank behind the star is an encoding.
      if (body.size() > 4 && body[1] == '*' && Is(body[2], kHexChar)) {
        Addressed(body.substr(2));
      }
      break;
    case '.':
      Dot(body);
      break;
    default:
      Name(body);
  }
}

void SassReader::Dot(std::string_view body) {
  const size_t end = RunLength(body, kNameChar | kDotChar);
  const std::string_view name = body.substr(0, end);
  if (end < body.size() && body[end] == ':') {
    if (open_) function_.Label(name);
    return;
  }
  const std::string_view value = SkipBlanks(body.substr(end));
  if (name == ".section") {
    Section(value);
  } else if (name == ".target") {
    arch_ = value.substr(0, RunLength(value, kNameChar));
  } else if (name == ".headerflags" && arch_.empty()) {
    // Before CUDA 12 the flags alone name it: EF_CUDA_SM80.
    ReadHeaderFlags(value);
  } else if (name == ".other" && value.find("STO_CUDA_ENTRY") != value.npos) {
    entries_.push_back(Trim(value.substr(0, value.find(','))));
  }
}

void SassReader::ReadHeaderFlags(std::string_view flags) {
  constexpr std::string_view kFlag = "EF_CUDA_SM";
  const size_t at = flags.find(kFlag);
  if (at == flags.npos) return;
  flags.remove_prefix(at + kFlag.size());
  const size_t digits = RunLength(flags, kHexChar);
  arch_ = fmt::format("sm_{}", flags.substr(0, digits));
}

// .section .text.NAME,"ax",@progbits
void SassReader::Section(std::string_view name) {
  FinishFunction();
  name = name.substr(0, name.find(','));
  if (name.size() >= 2 && name[0] == '"')
    name = name.substr(1, name.size() - 2);
  constexpr std::string_view kText = ".text.";
  if (name.starts_with(kText)) StartFunction(name.substr(kText.size()));
}

// Labels of nvdisasm without a dot: the kernel and the routines inside its
// section. Headings of cuobjdump.
void SassReader::Name(std::string_view body) {
  if (body.ends_with(":")) {
    if (open_) function_.Label(body.substr(0, body.size() - 1));
    if (body.starts_with("Function ")) {
      usage_of_ = Trim(body.substr(9, body.size() - 10));
    }
    return;
  }
  constexpr std::string_view kFunction = "Function : ";
  constexpr std::string_view kCode = "code for ";
  if (body.starts_with(kFunction)) {
    FinishFunction();
    StartFunction(Trim(body.substr(kFunction.size())));
  } else if (body.starts_with(kCode)) {
    FinishFunction();
    const std::string_view arch = body.substr(kCode.size());
    arch_ = arch.substr(0, RunLength(arch, kNameChar));
  } else if (body.starts_with("REG:") && !usage_of_.empty()) {
    usage_[usage_of_] = ReadUsageLine(body);
  }
}

void SassReader::Addressed(std::string_view body) {
  const std::optional<uint64_t> address = TakeHex(body);
  if (!address || !body.starts_with("*/")) return;
  body = SkipBlanks(body.substr(2));
  // Maxwell brackets instructions that issue together.
  if (body.starts_with("{")) body = SkipBlanks(body.substr(1));
  const bool guarded = body.starts_with("@");
  if (guarded) {
    const size_t end = body.find_first_of(" \t");
    body = end == body.npos ? "" : SkipBlanks(body.substr(end));
  }
  const size_t end = RunLength(body, kNameChar | kDotChar);
  if (end == 0 || body[0] < 'A' || body[0] > 'Z') return;
  const size_t stop = body.find(';', end);
  cut_line_ = stop == body.npos;
  if (!open_) {
    if (nameless_) return;
    nameless_ = true;
    StartFunction("");
  }
  function_.Address(*address);
  Instruction(body.substr(0, end),
              SkipBlanks(body.substr(end, cut_line_ ? stop : stop - end)),
              guarded);
}

void SassReader::Instruction(std::string_view mnemonic,
                             std::string_view operands, bool guarded) {
  Meaning meaning = cache_.Of(mnemonic);
  // Bank 0 holds the arguments of the launch.
  if (meaning.look == Look::kConstantBank &&
      operands.find("c[0x0]") != operands.npos) {
    meaning.space = Space::kKernarg;
  }
  if (meaning.flow == Flow::kExit && guarded) meaning.flow = Flow::kNext;
  if (meaning.flow == Flow::kExit) exits_ = true;
  if (meaning.flow == Flow::kJump) {
    // BRA.U UP0, `(.L_x_1): a predicate among the operands.
    const bool bare =
        !operands.empty() && (operands[0] == '`' || operands[0] == '(' ||
                              operands[0] == '.' || operands.starts_with("0x"));
    if (guarded || !bare) meaning.flow = Flow::kBranch;
  }
  // WARPSYNC.COLLECTIVE R2, `(.L_x_3): lanes go on there together.
  const bool rendezvous = meaning.look == Look::kTarget &&
                          meaning.flow == Flow::kNext &&
                          operands.find("`(") != operands.npos;
  if (rendezvous) meaning.flow = Flow::kBranch;
  function_.Add(meaning);
  if (meaning.flow == Flow::kIndirect) {
    ReadCases(operands);
  } else if (meaning.look == Look::kTarget && meaning.flow != Flow::kNext) {
    ReadTarget(operands);
  }
}

// "`(.L_x_1)" in nvdisasm, "0x380" in cuobjdump, behind the last comma.
void SassReader::ReadTarget(std::string_view operands) {
  const size_t comma = operands.rfind(',');
  std::string_view target =
      Trim(comma == operands.npos ? operands : operands.substr(comma + 1));
  const size_t open = target.find('(');
  if (open != target.npos) {
    target = target.substr(open + 1);
    function_.Target(target.substr(0, target.find(')')));
    return;
  }
  if (target.starts_with("0x")) {
    target.remove_prefix(2);
    if (const auto address = TakeHex(target)) function_.Target(*address);
  } else if (!target.empty()) {
    function_.Target(target);
  }
}

// BRX R4 -0x10 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)
void SassReader::ReadCases(std::string_view operands) {
  constexpr std::string_view kTargets = "BRANCH_TARGETS ";
  const size_t at = operands.find(kTargets);
  if (at == operands.npos) return;
  operands.remove_prefix(at + kTargets.size());
  operands = operands.substr(0, operands.find('"'));
  for (std::string_view label : Split(operands, ',')) {
    function_.Case(Trim(label));
  }
}

void SassReader::StartFunction(std::string_view symbol) {
  function_.Start(symbol);
  open_ = true;
  exits_ = cut_line_ = false;
}

void SassReader::FinishFunction() {
  if (open_ && function_.instructions() > 0) {
    v1::IsaKernel& kernel = *report_.add_kernels();
    kernel = function_.Finish();
    kernel.set_symbol(std::string(function_.symbol()));
    kernel.set_dialect("sass");
    kernel.set_arch(arch_);
  }
  open_ = false;
}

void SassReader::SortKernelsFromFunctions() {
  std::sort(entries_.begin(), entries_.end());
  google::protobuf::RepeatedPtrField<v1::IsaKernel> all;
  all.Swap(report_.mutable_kernels());
  for (v1::IsaKernel& kernel : all) {
    const std::string_view symbol = kernel.symbol();
    if (const auto found = usage_.find(symbol); found != usage_.end()) {
      *kernel.mutable_resources() = found->second;
    }
    const bool entry =
        entries_.empty() ||
        std::binary_search(entries_.begin(), entries_.end(), symbol);
    *(entry ? report_.add_kernels() : report_.add_functions()) =
        std::move(kernel);
  }
}

}  // namespace

void ReadSass(std::string_view text, v1::IsaReport& report) {
  SassReader(report).Read(text);
}

}  // namespace kernelfleet::isa
