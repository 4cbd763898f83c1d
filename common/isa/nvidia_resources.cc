// What ptxas and cuobjdump say about a kernel's resources.
#include "common/isa/nvidia_resources.h"

#include <optional>

#include "common/base/strings.h"
#include "common/isa/scan.h"
#include "common/isa/text_lines.h"

namespace kernelfleet::isa {
namespace {

struct Phrase {
  // Stands before the number (cuobjdump) or behind it (ptxas).
  std::string_view words;
  void (v1::Resources::*set)(int32_t);
  // Zero is what Triton's dynamic shared memory looks like, not "uses none".
  bool skip_zero = false;
};

// CUDA binary utilities manual; cuobjdump 13 on our own kernels. The list of
// constant banks varies by architecture and says nothing we keep.
constexpr Phrase kUsage[] = {
    {"REG:", &v1::Resources::set_registers},
    {"STACK:", &v1::Resources::set_stack_bytes},
    {"SHARED:", &v1::Resources::set_shared_bytes, true},
    {"LOCAL:", &v1::Resources::set_scratch_bytes},
};

// ptxas -v, 12 and 13: a line about a function's stack, and one about the
// kernel's registers.
constexpr Phrase kPtxasStack[] = {
    {" bytes stack frame", &v1::Resources::set_stack_bytes},
    {" bytes spill stores", &v1::Resources::set_spill_store_bytes},
    {" bytes spill loads", &v1::Resources::set_spill_load_bytes},
};
constexpr Phrase kPtxasUsed[] = {
    {" registers", &v1::Resources::set_registers},
    {" barriers", &v1::Resources::set_barriers},
    {" bytes smem", &v1::Resources::set_shared_bytes},
};

// The decimal number that ends where `words` begin.
std::optional<int> NumberBefore(std::string_view line, std::string_view words) {
  const size_t at = line.find(words);
  if (at == line.npos) return std::nullopt;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') {
    --begin;
  }
  std::string_view digits = line.substr(begin, at - begin);
  return TakeDecimal(digits);
}

template <size_t N>
void Apply(const Phrase (&phrases)[N], std::string_view line,
           v1::Resources& resources) {
  for (const Phrase& phrase : phrases) {
    if (const auto number = NumberBefore(line, phrase.words)) {
      (resources.*phrase.set)(*number);
    }
  }
}

// Between the first two quotes.
std::string_view Quoted(std::string_view line) {
  const size_t open = line.find('\'');
  if (open == line.npos) return {};
  line = line.substr(open + 1);
  return line.substr(0, line.find('\''));
}

}  // namespace

v1::Resources ReadUsageLine(std::string_view line) {
  v1::Resources resources;
  while (!(line = SkipBlanks(line)).empty()) {
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    for (const Phrase& phrase : kUsage) {
      if (!word.starts_with(phrase.words)) continue;
      std::string_view digits = word.substr(phrase.words.size());
      const std::optional<int> number = TakeDecimal(digits);
      if (!number || (phrase.skip_zero && *number == 0)) continue;
      (resources.*phrase.set)(*number);
    }
    line.remove_prefix(word.size());
  }
  return resources;
}

v1::Resources ReadResUsage(std::string_view text, std::string_view symbol) {
  bool ours = false;
  while (!text.empty()) {
    const std::string_view line = Trim(TakeLine(text));
    if (line.starts_with("Function ") && line.ends_with(":")) {
      const std::string_view name = line.substr(9, line.size() - 10);
      ours = symbol.empty() || name == symbol;
    } else if (ours && line.starts_with("REG:")) {
      return ReadUsageLine(line);
    }
  }
  return {};
}

// "Compiling entry function 'k' for 'sm_90a'" opens a kernel's block; in it,
// "Function properties for f" tells whose stack the next line is about: the
// kernel's, or that of a function which it calls.
v1::Resources ReadPtxasLog(std::string_view text, std::string_view symbol) {
  constexpr std::string_view kEntry = "Compiling entry function";
  constexpr std::string_view kProperties = "Function properties for ";
  v1::Resources resources;
  std::string_view kernel = symbol;
  bool our_entry = false;
  bool our_stack = false;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (line.find(kEntry) != line.npos) {
      const std::string_view name = Quoted(line);
      if (kernel.empty()) kernel = name;
      our_entry = name == kernel;
      our_stack = false;
      // Of several targets the last one counts.
      if (our_entry) resources.Clear();
    } else if (const size_t at = line.find(kProperties); at != line.npos) {
      our_stack = Trim(line.substr(at + kProperties.size())) == kernel;
    } else if (our_stack && line.find("bytes stack frame") != line.npos) {
      Apply(kPtxasStack, line, resources);
    } else if (our_entry && line.find("Used ") != line.npos) {
      Apply(kPtxasUsed, line, resources);
    }
  }
  return resources;
}

}  // namespace kernelfleet::isa
