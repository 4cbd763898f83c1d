#include <algorithm>
#include <cmath>
#include <string>

#include "common/kernel/analyze.h"
#include "common/kernel/tileir_support.h"
#include "fmt/format.h"

namespace kernelfleet::kernel {
namespace {

// Heaviest first.
enum class Class { kDot, kNorm, kReduction, kElementwise };

std::string_view NameOf(Class kind) {
  switch (kind) {
    case Class::kDot:
      return "dot-related";
    case Class::kNorm:
      return "norm-like";
    case Class::kReduction:
      return "reduction";
    case Class::kElementwise:
      return "element-wise";
  }
  return "";
}

bool Reduces(const v1::Evidence& evidence) {
  return evidence.reductions_size() + evidence.scans_size() +
             evidence.accumulations_size() + evidence.atomics_size() +
             evidence.deciders_size() >
         0;
}

Class ClassOf(const v1::Evidence& evidence) {
  if (evidence.dots_size() > 0) return Class::kDot;
  if (evidence.norms_size() > 0) return Class::kNorm;
  if (Reduces(evidence)) return Class::kReduction;
  return Class::kElementwise;
}

using Items = google::protobuf::RepeatedPtrField<v1::Evidence::Item>;

void Indicate(const Items& items, std::string_view what,
              v1::Classification& out) {
  constexpr int kShown = 4;
  for (int i = 0; i < std::min(items.size(), kShown); ++i) {
    out.add_indicators(
        fmt::format("{}: line {}: {}", what, items[i].line(), items[i].text()));
  }
  if (items.size() > kShown) {
    out.add_indicators(fmt::format("{}: {} more", what, items.size() - kShown));
  }
}

void AddIndicators(const v1::JitFunction& kernel, v1::Classification& out) {
  const v1::Evidence& evidence = kernel.evidence();
  Indicate(evidence.dots(), "dot", out);
  Indicate(evidence.norms(), "reduction meets its own row", out);
  Indicate(evidence.scans(), "scan", out);
  Indicate(evidence.reductions(), "reduction", out);
  Indicate(evidence.accumulations(), "accumulated over a loop", out);
  Indicate(evidence.atomics(), "combined in memory", out);
  Indicate(evidence.deciders(), "scan or arg-reduction decides", out);
  if (out.indicators_size() == 0) {
    out.add_indicators(fmt::format(
        "lane by lane: {} loads, {} stores, {} operations, nothing combined",
        evidence.loads(), evidence.stores(), evidence.elementwise()));
  }
}

// What each class gains from under Tile IR; the tables of configs are the
// rewriter's.
void AddRecommendations(Class kind, v1::Classification& out) {
  switch (kind) {
    case Class::kDot:
      out.add_recommendations("load and store tiles through descriptors");
      out.add_recommendations("add large tiles: 256x256, 256x128");
      out.add_recommendations("try num_ctas=2 where the hardware pairs CTAs");
      out.add_recommendations("try occupancy 1, 2, 4 and num_stages 4, 6");
      return;
    case Class::kNorm:
    case Class::kReduction:
      out.add_recommendations("try occupancy 2 and 4");
      out.add_recommendations("try num_warps 4 and 8");
      return;
    case Class::kElementwise:
      out.add_recommendations("try occupancy 1, 2, 4 and 16");
      out.add_recommendations("try num_stages 2, 3, 4");
      return;
  }
}

// Starts from how directly the class was seen and takes off for what was not.
void SetConfidence(const v1::Evidence& evidence, Class kind,
                   v1::Classification& out) {
  double value = 0;
  std::string reason;
  const auto start = [&](double from, std::string_view why) {
    value = from;
    reason = fmt::format("{:.2f} {}", from, why);
  };
  const auto take = [&](double off, std::string_view why) {
    value -= off;
    reason += fmt::format(", -{:.2f} {}", off, why);
  };
  const bool direct = evidence.reductions_size() + evidence.scans_size() > 0;
  switch (kind) {
    case Class::kDot:
      start(0.99, "a matrix product is called");
      break;
    case Class::kNorm:
      start(0.96, "a reduction flows into its own row before a store");
      break;
    case Class::kReduction:
      if (direct) {
        start(0.96, "a reduction or scan flows into what is stored");
      } else if (evidence.accumulations_size() > 0) {
        start(0.88, "loaded data accumulate over a loop");
      } else if (evidence.atomics_size() > 0) {
        start(0.82, "atomics combine data in memory");
      } else {
        start(0.7, "a scan or arg-reduction decides what is stored");
      }
      break;
    case Class::kElementwise:
      start(evidence.loads() > 0 ? 0.95 : 0.85,
            "no stored value combines lanes");
      break;
  }
  if (kind != Class::kDot && evidence.unseen_calls() > 0) {
    take(std::min(0.25, 0.05 * evidence.unseen_calls()),
         fmt::format("for {} calls whose body is elsewhere",
                     evidence.unseen_calls()));
  }
  if (evidence.truncated()) take(0.2, "for a body read in part");
  out.set_confidence(std::round(std::max(0.3, value) * 100) / 100);
  out.set_confidence_reason(std::move(reason));
}

}  // namespace

v1::Classification Classify(const v1::JitFunction& kernel) {
  v1::Classification out;
  const Class kind = ClassOf(kernel.evidence());
  out.set_kernel(kernel.name());
  out.set_line(kernel.line());
  out.set_classification(std::string(NameOf(kind)));
  SetConfidence(kernel.evidence(), kind, out);
  AddIndicators(kernel, out);
  AddRecommendations(kind, out);
  AddUnsupported(kernel, out);
  // Compatible: the newest toolchain takes every operation.
  out.set_tileir_compatible(std::all_of(
      out.unsupported().begin(), out.unsupported().end(),
      [](const auto& operation) { return !operation.until().empty(); }));
  return out;
}

v1::FileClassification ClassifyAll(const v1::SourceFacts& facts) {
  v1::FileClassification out;
  out.set_file(facts.file());
  int leading = -1;
  const auto weight = [&](int i) {
    const v1::JitFunction& kernel = facts.kernels(i);
    // Any entry before any helper; then by class, heaviest first.
    return (kernel.is_entry() ? 0 : 10) +
           static_cast<int>(ClassOf(kernel.evidence()));
  };
  for (int i = 0; i < facts.kernels_size(); ++i) {
    *out.add_kernels() = Classify(facts.kernels(i));
    if (leading < 0 || weight(i) < weight(leading)) leading = i;
  }
  *out.mutable_problems() = facts.problems();
  if (leading < 0) return out;
  const v1::Classification& kernel = out.kernels(leading);
  out.set_kernel(kernel.kernel());
  out.set_classification(kernel.classification());
  out.set_confidence(kernel.confidence());
  *out.mutable_indicators() = kernel.indicators();
  *out.mutable_recommendations() = kernel.recommendations();
  out.set_tileir_compatible(kernel.tileir_compatible());
  *out.mutable_unsupported() = kernel.unsupported();
  return out;
}

}  // namespace kernelfleet::kernel
