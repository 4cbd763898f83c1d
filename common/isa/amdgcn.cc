// Reads AMD assembly: what LLVM's compiler prints, what llvm-objdump prints
// (addresses behind "//"), and listings with the address in front, which is
// how dccobjdump and GNU-like tools write.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "common/isa/amd_resources.h"
#include "common/isa/amdgcn_names.h"
#include "common/isa/dialects.h"
#include "common/isa/function.h"
#include "common/isa/mnemonic_cache.h"
#include "common/isa/scalar_origins.h"
#include "common/isa/text_lines.h"

namespace kernelfleet::isa {
namespace {

// BB0_1 (LLVM before 11) and L3 (llvm-objdump --symbolize-operands).
bool IsLocalLabel(std::string_view name) {
  if (name.starts_with(".L")) return true;
  if (name.starts_with("BB")) {
    name.remove_prefix(2);
    if (!TakeDecimal(name) || !name.starts_with("_")) return false;
    name.remove_prefix(1);
    return TakeDecimal(name) && name.empty();
  }
  if (!name.starts_with("L")) return false;
  name.remove_prefix(1);
  return TakeDecimal(name) && name.empty();
}

class AmdgcnReader {
 public:
  explicit AmdgcnReader(v1::IsaReport& report) : report_(report) {}
  void Read(std::string_view text);

 private:
  void Line(std::string_view line);
  void Dot(std::string_view body);
  void Word(std::string_view body);
  void AfterAddress(std::string_view body);
  void LabelNamed(std::string_view name);
  void StartFunction(std::string_view symbol);
  void CloseFunction();
  void FinishFunction();
  void Decide(const AmdKernel* kernel);
  void Instruction(std::string_view mnemonic, std::string_view operands);
  bool Ready(std::string_view mnemonic);
  void ReadBuffer(std::string_view operands, Meaning& meaning) const;
  uint8_t ReadOperands(std::string_view operands, Meaning& meaning);
  void ReadTarget(std::string_view operands);
  void FinishModule();
  void NoteProblems();

  v1::IsaReport& report_;
  MnemonicCache cache_{&ClassifyAmdgcn};
  AmdResources resources_;
  std::vector<v1::IsaKernel> module_;
  Function function_;
  ScalarOrigins origins_;
  std::string_view arch_;
  bool compiler_text_ = false;
  bool in_metadata_ = false;
  // A function is being read; or was, and waits for its directives.
  bool open_ = false;
  bool pending_ = false;
  bool ended_ = false;
  std::optional<uint64_t> address_;
  int nameless_ = 0;
  int unknown_ = 0;
  std::string_view unknown_example_;
};

void AmdgcnReader::Read(std::string_view text) {
  while (!text.empty()) Line(TakeLine(text));
  const bool cut = open_ && (compiler_text_ || !ended_);
  if (cut) {
    report_.add_problems(fmt::format("the text ends inside '{}'",
                                     Printable(function_.symbol())));
  } else if (in_metadata_) {
    report_.add_problems("the text ends inside the metadata");
  }
  FinishModule();
  NoteProblems();
}

void AmdgcnReader::Line(std::string_view line) {
  const std::string_view body = SkipBlanks(line);
  if (body.empty()) return;
  if (in_metadata_) {
    resources_.Line(line);
    if (body.starts_with(".end_amdgpu_metadata")) in_metadata_ = false;
    return;
  }
  const char c = body[0];
  if (c == '.') {
    Dot(body);
  } else if (c == ';') {
    // "; NumVgprs: 9"; most comments are block names and source lines.
    if (body.size() > 2 && body[2] >= 'A' && body[2] <= 'Z') {
      resources_.Line(body);
    }
  } else if (c == '/' || (c >= '0' && c <= '9')) {
    AfterAddress(body);
  } else {
    Word(body);
  }
}

void AmdgcnReader::Dot(std::string_view body) {
  if (body.starts_with(".L")) {
    // Every source line has a .Ltmp; nothing branches there.
    if (body.starts_with(".Ltmp")) return;
    const size_t end = RunLength(body, kNameChar | kDotChar);
    if (end < body.size() && body[end] == ':') LabelNamed(body.substr(0, end));
    return;
  }
  if (body.starts_with(".amd")) {
    compiler_text_ = true;
    if (body.starts_with(".amdgcn_target")) {
      FinishModule();
      arch_ = GfxNameIn(body);
    }
    in_metadata_ = body.starts_with(".amdgpu_metadata");
    resources_.Line(body);
  } else if (body.starts_with(".size") || body.starts_with(".section")) {
    CloseFunction();
  }
}

// "0000000000001900 <add>:", "1900: bf810000  s_endpgm", "/*1900*/ s_endpgm".
void AmdgcnReader::AfterAddress(std::string_view body) {
  const bool comment = body.starts_with("/*");
  if (comment) body.remove_prefix(2);
  const std::optional<uint64_t> address = TakeHex(body);
  if (!address) return;
  if (body.starts_with(" <")) {
    const size_t end = body.rfind(">:");
    if (end != body.npos && end > 2) LabelNamed(body.substr(2, end - 2));
    return;
  }
  if (!body.starts_with(comment ? "*/" : ":")) return;
  body = SkipBlanks(body.substr(comment ? 2 : 1));
  // Words of the encoding, then the instruction.
  while (true) {
    const size_t hex = RunLength(body, kHexChar);
    if (hex == 0 || hex % 2 != 0) break;
    if (hex < body.size() && body[hex] != ' ' && body[hex] != '\t') break;
    body = SkipBlanks(body.substr(hex));
  }
  if (body.empty()) return;
  address_ = address;
  Word(body);
  address_.reset();
}

void AmdgcnReader::Word(std::string_view body) {
  if (body[0] == '"') {
    const size_t end = body.find("\":", 1);
    if (end != body.npos) LabelNamed(body.substr(1, end - 1));
    return;
  }
  const size_t end = RunLength(body, kNameChar | kDotChar);
  if (end == 0) return;
  if (end < body.size() && body[end] == ':') {
    const std::string_view rest = SkipBlanks(body.substr(end + 1));
    const bool label = rest.empty() || rest[0] == ';' || rest[0] == '/';
    if (label) {
      LabelNamed(body.substr(0, end));
    } else {
      AfterAddress(body);
    }
    return;
  }
  const std::string_view operands = SkipBlanks(body.substr(end));
  // llvm-objdump: "… // 000000001700: C0060182".
  if (!compiler_text_ && !address_) {
    const size_t comment = operands.find("// ");
    if (comment != operands.npos) {
      std::string_view hex = operands.substr(comment + 3);
      address_ = TakeHex(hex);
    }
  }
  Instruction(body.substr(0, end), operands);
  address_.reset();
}

void AmdgcnReader::LabelNamed(std::string_view name) {
  if (name.starts_with(".Lfunc_end")) {
    CloseFunction();
  } else if (!IsLocalLabel(name)) {
    StartFunction(name);
  } else if (open_) {
    function_.Label(name);
  }
}

void AmdgcnReader::StartFunction(std::string_view symbol) {
  FinishFunction();
  function_.Start(symbol);
  origins_.Reset();
  open_ = pending_ = true;
  ended_ = false;
}

void AmdgcnReader::CloseFunction() { open_ = false; }

// Called when the next function starts: the directives of the last one stand
// behind it.
void AmdgcnReader::FinishFunction() {
  if (pending_ && function_.instructions() > 0) {
    Decide(resources_.Find(function_.symbol()));
    v1::IsaKernel& kernel = module_.emplace_back(function_.Finish());
    kernel.set_symbol(std::string(function_.symbol()));
    kernel.set_dialect("amdgcn");
    kernel.set_arch(std::string(arch_));
  }
  open_ = pending_ = false;
}

// Scalar loads are of kernel arguments when their base is the register that
// the directives name, or, without directives, any that the launch filled.
void AmdgcnReader::Decide(const AmdKernel* kernel) {
  const int kernarg = kernel == nullptr ? -1 : kernel->kernarg_sgpr;
  for (Event& event : function_.events()) {
    if (event.meaning.look != Look::kScalarLoad) continue;
    const bool live_in = event.mark != ScalarOrigins::kNone;
    if (live_in && (kernarg < 0 || event.mark == kernarg)) {
      event.meaning.space = Space::kKernarg;
    }
  }
}

// Is there a function for this instruction?
bool AmdgcnReader::Ready(std::string_view mnemonic) {
  if (open_) return true;
  // Padding behind a function.
  if (pending_) return false;
  if (mnemonic == "s_code_end" || mnemonic == "s_nop") return false;
  ++nameless_;
  StartFunction("");
  return true;
}

void AmdgcnReader::Instruction(std::string_view mnemonic,
                               std::string_view operands) {
  Meaning meaning = cache_.Of(mnemonic);
  if (!meaning.known) {
    if (open_ && unknown_++ == 0) unknown_example_ = mnemonic;
    return;
  }
  if (!Ready(mnemonic)) return;
  if (address_) function_.Address(*address_);
  if (meaning.flow == Flow::kExit) ended_ = true;
  const uint8_t mark = ReadOperands(operands, meaning);
  function_.Add(meaning, mark);
  if (meaning.flow == Flow::kJump || meaning.flow == Flow::kBranch ||
      meaning.flow == Flow::kCall) {
    ReadTarget(operands);
  }
}

// Follows the scalar registers; returns the origin of a scalar load's base.
uint8_t AmdgcnReader::ReadOperands(std::string_view operands,
                                   Meaning& meaning) {
  if (meaning.look == Look::kNothing) return ScalarOrigins::kNone;
  if (meaning.look == Look::kBufferOperands) {
    ReadBuffer(operands, meaning);
    return ScalarOrigins::kNone;
  }
  const auto to = TakeScalar(operands);
  const auto from = TakeScalar(Operand(operands, 1));
  const uint8_t base = from ? origins_.Of(from->first) : ScalarOrigins::kNone;
  if (to) {
    const bool copies = meaning.look == Look::kScalarCopy && from;
    origins_.Write(to->first, to->last, copies ? from->first : -1);
  }
  return base;
}

// Before gfx94x a spill is a buffer access too. The compiler marks it
// ("Folded Spill"); without its comments the descriptor tells: the launch
// passes the scratch descriptor in s[0:3], and its upper half is never
// changed, while a tensor's descriptor is made in the kernel.
void AmdgcnReader::ReadBuffer(std::string_view operands,
                              Meaning& meaning) const {
  const size_t comment = std::min(operands.find(';'), operands.find("//"));
  const bool folded = comment != operands.npos &&
                      operands.find("Folded", comment) != operands.npos;
  operands = operands.substr(0, comment);
  if (operands.find(" lds") != operands.npos) meaning.to_lds = true;
  bool scratch = folded;
  const size_t at = operands.find("s[");
  if (!scratch && at != operands.npos) {
    const auto resource = TakeScalar(operands.substr(at));
    scratch = resource && origins_.Of(resource->first + 2) == 2 &&
              origins_.Of(resource->first + 3) == 3;
  }
  if (scratch) {
    meaning.space = Space::kScratch;
    meaning.spill = true;
  }
}

// A label, or the distance in words that llvm-objdump prints for it.
void AmdgcnReader::ReadTarget(std::string_view operands) {
  operands =
      operands.substr(0, std::min(operands.find(';'), operands.find("//")));
  const size_t comma = operands.rfind(',');
  if (comma != operands.npos) operands = operands.substr(comma + 1);
  std::string_view target = Trim(operands);
  if (target.starts_with("<") && target.ends_with(">")) {
    target = target.substr(1, target.size() - 2);
  }
  if (target.empty()) return;
  const bool negative = target[0] == '-';
  std::string_view digits = target.substr(negative ? 1 : 0);
  const std::optional<int> distance = TakeDecimal(digits);
  if (!distance) {
    function_.Target(target);
    return;
  }
  const int signed16 = static_cast<int16_t>(
      static_cast<uint16_t>(negative ? -*distance : *distance));
  function_.Target(function_.last_address() + 4 +
                   static_cast<uint64_t>(int64_t{4} * signed16));
}

// Directives and metadata name the kernels; what they leave out is called.
// They hold for one module: a text may have several, for several targets.
void AmdgcnReader::FinishModule() {
  FinishFunction();
  resources_.Finish();
  const bool named = !resources_.kernels().empty();
  for (v1::IsaKernel& kernel : module_) {
    const AmdKernel* said = resources_.Find(kernel.symbol());
    if (said != nullptr) *kernel.mutable_resources() = said->resources;
    v1::IsaKernel& place = named && said == nullptr ? *report_.add_functions()
                                                    : *report_.add_kernels();
    place = std::move(kernel);
  }
  module_.clear();
  resources_ = AmdResources();
}

void AmdgcnReader::NoteProblems() {
  if (nameless_ > 0) {
    report_.add_problems(
        "instructions stand before any symbol: counted under an empty name");
  }
  if (unknown_ > 0) {
    report_.add_problems(
        fmt::format("{} lines are no instruction that this build knows, first "
                    "'{}': not counted",
                    unknown_, Printable(Shorten(unknown_example_, 40))));
  }
}

}  // namespace

void ReadAmdgcn(std::string_view text, v1::IsaReport& report) {
  AmdgcnReader(report).Read(text);
}

}  // namespace kernelfleet::isa
