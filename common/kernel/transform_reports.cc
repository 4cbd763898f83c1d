// Rules that change nothing: what TileIR lacks, why accesses stay as they are,
// and advice.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "common/kernel/describe.h"
#include "common/kernel/transform_rules.h"

namespace kernelfleet::kernel {
namespace {

constexpr int kMaxDescriptorRank = 5;

std::string StrideOfLastAxis(const v1::Access& access) {
  for (const v1::AddressTerm& term : access.terms()) {
    if (term.axis() == access.rank() - 1 && !term.stride().empty()) {
      return term.stride();
    }
  }
  return "a stride";
}

// The first rule of descriptors that a pointer access breaks, as a sentence.
std::string WhyNoDescriptor(const v1::Access& access) {
  if (access.argument().empty()) {
    return "its address does not start from one parameter";
  }
  if (access.rank() > kMaxDescriptorRank) {
    return fmt::format("the tile has {} axes; a descriptor has at most {}",
                       access.rank(), kMaxDescriptorRank);
  }
  switch (access.last_axis()) {
    case v1::Access::gathered:
      return "its offsets come from memory";
    case v1::Access::strided:
      return fmt::format(
          "its last axis has the stride {}, and a descriptor's last stride is "
          "the constant 1",
          StrideOfLastAxis(access));
    case v1::Access::contiguous:
      break;
    default:
      return "that its last axis is contiguous does not follow from the source";
  }
  if (access.kind() == v1::Access::load && !access.mask().empty()) {
    if (access.other().empty()) {
      return "masked lanes have no value (no other=), a descriptor gives 0";
    }
    if (access.other() != "0" && access.other() != "0.0") {
      return fmt::format("masked lanes read {}, a descriptor gives 0",
                         access.other());
    }
  }
  return fmt::format(
      "its shape fits a descriptor, but a 16-byte aligned base of {}, row "
      "strides of whole 16 bytes and offsets that are multiples of the block "
      "are known only where it is launched",
      access.argument());
}

void ReportAccess(Draft& draft, const Subject& subject,
                  const v1::Access& access) {
  if (access.form() != v1::Access::pointer || access.rank() < 2) return;
  draft.Declined("descriptor", subject.facts->name(), access.line(),
                 access.kind() == v1::Access::atomic
                     ? "atomics through descriptors are not on every toolchain"
                     : WhyNoDescriptor(access));
}

NodeId CallAt(const Syntax& syntax, const v1::SourceRange& range) {
  for (NodeId id = 0; id < syntax.size(); ++id) {
    const ByteRange bytes = syntax.range(id);
    if (syntax.kind(id) == Kind::kCall && bytes.begin == range.begin() &&
        bytes.end == range.end()) {
      return id;
    }
  }
  return kNoNode;
}

// make_block_ptr(base, shape, strides, …): the last stride as text.
std::string LastStride(const Syntax& syntax, NodeId call) {
  const NodeId list =
      call == kNoNode ? kNoNode : syntax.Child(call, Field::kArguments);
  if (list == kNoNode) return {};
  NodeId strides = kNoNode;
  int position = 0;
  for (NodeId child : syntax.Children(list)) {
    if (syntax.kind(child) == Kind::kKeywordArgument) {
      const NodeId name = syntax.Child(child, Field::kName);
      if (name != kNoNode && syntax.TextOf(name) == "strides") {
        strides = syntax.Child(child, Field::kValue);
      }
    } else if (position++ == 2) {
      strides = child;
    }
  }
  std::string last;
  if (strides == kNoNode) return last;
  for (NodeId child : syntax.Children(strides)) {
    last = Quote(syntax, child);
  }
  return last;
}

void ReportBlockPointer(Draft& draft, const Subject& subject,
                        const v1::Operation& operation) {
  const std::string stride = LastStride(
      draft.source.syntax, CallAt(draft.source.syntax, operation.range()));
  const std::string why =
      stride == "1"
          ? "a descriptor would fit if the base and the other strides are "
            "multiples of 16 bytes, which only the launch knows"
          : fmt::format(
                "its last stride is {}, not the constant 1 that a "
                "descriptor needs",
                stride.empty() ? "computed" : stride);
  draft.Declined(
      "block-pointer", subject.facts->name(), operation.line(),
      fmt::format("TileIR and Triton 3.9 have no block pointers, and {}; plain "
                  "pointers would change the code that stock Triton makes",
                  why));
}

}  // namespace

void ReportUnsupported(Draft& draft) {
  for (const Subject& subject : draft.subjects) {
    for (const v1::UnsupportedOperation& gap :
         subject.classification.unsupported()) {
      if (gap.operation() == "make_block_ptr") continue;
      const std::string until = gap.until().empty()
                                    ? std::string()
                                    : fmt::format(" before {}", gap.until());
      draft.Declined("unsupported-operation", subject.facts->name(), gap.line(),
                     fmt::format("CUDA Tile IR{} has no {}; instead: {}", until,
                                 gap.operation(), gap.instead()));
    }
  }
}

void ReportAccesses(Draft& draft) {
  for (const Subject& subject : draft.subjects) {
    for (const v1::Operation& operation : subject.facts->operations()) {
      if (operation.kind() == v1::Operation::make_block_pointer &&
          operation.name() == "make_block_ptr") {
        ReportBlockPointer(draft, subject, operation);
      }
    }
    if (subject.classification.classification() != "dot-related") continue;
    for (const v1::Access& access : subject.facts->accesses()) {
      ReportAccess(draft, subject, access);
    }
  }
}

void AdviseApproximation(Draft& draft) {
  constexpr std::array<std::string_view, 6> kCostly = {
      "triton.language.exp",     "triton.language.exp2",
      "triton.language.log",     "triton.language.log2",
      "triton.language.sigmoid", "triton.language.softmax"};
  const Syntax& syntax = draft.source.syntax;
  for (const Subject& subject : draft.subjects) {
    if (!subject.facts->is_entry()) continue;
    const NodeId def = subject.function->def;
    for (NodeId id = def; id < syntax.subtree_end(def); ++id) {
      if (syntax.kind(id) != Kind::kCall) continue;
      const NodeId callee = syntax.Child(id, Field::kFunction);
      if (callee == kNoNode) continue;
      const std::string path = draft.source.names.Path(callee);
      if (std::find(kCostly.begin(), kCostly.end(), path) == kCostly.end()) {
        continue;
      }
      draft.Advise("approximation", subject.facts->name(), syntax.line(id),
                   "PTX approximates exp and log and flushes denormals by "
                   "default, TileIR does not: compare with "
                   "TILEIR_ENABLE_APPROX=1 and TILEIR_ENABLE_FTZ=1, or state "
                   "the difference");
      break;
    }
  }
}

void AdviseBackendTests(Draft& draft) {
  const Syntax& syntax = draft.source.syntax;
  for (NodeId id = 0; id < syntax.size(); ++id) {
    if (syntax.kind(id) != Kind::kComparisonOperator) continue;
    const std::string_view text = syntax.TextOf(id);
    if (text.find(".backend") == std::string_view::npos) continue;
    if (text.find("\"cuda\"") == std::string_view::npos &&
        text.find("'cuda'") == std::string_view::npos) {
      continue;
    }
    draft.Advise("backend-test", "", syntax.line(id),
                 "under TileIR the backend is \"tileir\": this test turns "
                 "false there");
  }
}

}  // namespace kernelfleet::kernel
