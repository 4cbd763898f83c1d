// Any bytes as a Python file: no crash, no endless work, and facts that agree
// with the text they describe. Seeds: any folder of kernels.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/base/strings.h"
#include "common/kernel/analyze.h"
#include "common/kernel/syntax.h"

namespace {

using kernelfleet::kernel::NodeId;
using kernelfleet::kernel::Syntax;

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckTree(const Syntax& syntax, size_t size) {
  Require(syntax.text().size() == size);
  Require(kernelfleet::IsValidUtf8(syntax.text()));
  for (NodeId id = 0; id < syntax.size(); ++id) {
    Require(syntax.subtree_end(id) > id);
    Require(syntax.range(id).end <= size);
    const NodeId parent = syntax.parent(id);
    if (id == 0) continue;
    Require(parent >= 0 && parent < id);
    Require(syntax.subtree_end(id) <= syntax.subtree_end(parent));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Syntax syntax = Syntax::Parse(text);
  CheckTree(syntax, size);
  const auto facts = kernelfleet::kernel::Analyze("fuzz.py", syntax);
  for (const auto& kernel : facts.kernels()) {
    Require(kernel.range().end() <= static_cast<int64_t>(size));
    Require(kernel.first_line() <= kernel.line() &&
            kernel.line() <= kernel.end_line());
  }
  const auto classes = kernelfleet::kernel::ClassifyAll(facts);
  Require(classes.kernels_size() == facts.kernels_size());
  for (const auto& kernel : classes.kernels()) {
    Require(!kernel.classification().empty());
    Require(kernel.confidence() >= 0.3 && kernel.confidence() <= 1);
  }
  // Invalid UTF-8 in a message would fail here.
  std::string bytes;
  Require(facts.SerializeToString(&bytes));
  return 0;
}
