// What the rules of the probe workflow share. Private to this folder.
#ifndef KERNELFLEET_COMMON_WORKFLOW_PROBE_RULES_H_
#define KERNELFLEET_COMMON_WORKFLOW_PROBE_RULES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/workflow/probe.h"

namespace kernelfleet::workflow {

// The finished builds of one kernel for one target.
struct Subject {
  const v1::KernelSpec& kernel;
  int index;
  const ProbeArms& arms;
  std::string target;
};

// What a rule has to say.
struct Said {
  std::string text;
  std::map<std::string, std::string> inputs;
};

v1::Decision Decide(const Subject& s, std::string_view rule,
                    std::string_view verdict, Said said);

// " (buffer_ops=1)", or nothing for an arm without a variant.
std::string VariantOf(const v1::TaskRecord& record);

// One decision per distinct failure; arms that fail alike are named together.
std::vector<v1::Decision> DecideFailures(const Subject& s);

}  // namespace kernelfleet::workflow

#endif  // KERNELFLEET_COMMON_WORKFLOW_PROBE_RULES_H_
