// What the rules of Transform share. Private to the room.
#ifndef KERNELFLEET_COMMON_KERNEL_TRANSFORM_RULES_H_
#define KERNELFLEET_COMMON_KERNEL_TRANSFORM_RULES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/kernel/edits.h"
#include "common/kernel/flow.h"
#include "common/kernel/transform.h"
#include "kernelfleet/v1/kernel.pb.h"

namespace kernelfleet::kernel {

// One jit function under rewriting.
struct Subject {
  const Function* function = nullptr;
  const v1::JitFunction* facts = nullptr;
  v1::Classification classification;
};

// The state of one Transform.
class Draft {
 public:
  Draft(const SourceFile& file, const v1::SourceFacts& file_facts,
        const TransformOptions& chosen, v1::TransformResult& out)
      : source(file), facts(file_facts), options(chosen), out_(out) {}

  v1::Change& Applied(std::string_view rule, std::string_view kernel, int line,
                      std::string reason);
  v1::Change& Declined(std::string_view rule, std::string_view kernel, int line,
                       std::string reason);
  v1::Change& Advise(std::string_view rule, std::string_view kernel, int line,
                     std::string reason);

  const SourceFile& source;
  const v1::SourceFacts& facts;
  const TransformOptions& options;
  std::vector<Subject> subjects;
  Edits edits;
  // Classes whose config rows the file needs, and whether it needs the
  // decorator that --add-autotuner writes.
  std::set<std::string> classes;
  bool needs_decorator = false;

 private:
  v1::TransformResult& out_;
};

// Rules, each over the whole file.
void ExtendConfigs(Draft& draft);
void AddAutotuners(Draft& draft);
void ExpandSigmoid(Draft& draft);
void FoldExp2(Draft& draft);
void ReportUnsupported(Draft& draft);
void ReportAccesses(Draft& draft);
void AdviseApproximation(Draft& draft);
void AdviseBackendTests(Draft& draft);

// Puts the block of helpers after the imports, or completes the one there.
// Runs last.
void PlaceConfigBlock(Draft& draft);

// Names of parameters whose contents a second run would find changed: written
// and read, or combined by atomics. `unsure` when the writes are not all seen.
struct Reruns {
  std::vector<std::string> changed;
  bool unsure = false;
};
Reruns WhatRerunsChange(const Draft& draft, const Subject& subject);

// ["a", "b"] as Python.
std::string PythonList(const std::vector<std::string>& names);

// The Python helpers that the rewritten file calls.
inline constexpr std::string_view kConfigsFunction = "_kf_tileir_configs";
inline constexpr std::string_view kAutotuneFunction = "_kf_tileir_autotune";

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_TRANSFORM_RULES_H_
