// What this node is and what it can do, for the coordinator.
#ifndef KERNELFLEET_AGENT_NODE_FACTS_H_
#define KERNELFLEET_AGENT_NODE_FACTS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/process_runner.h"
#include "kernelfleet/v1/node.pb.h"

namespace kernelfleet::agent {

struct EnvironmentSource {
  std::string name;
  // The interpreter.
  std::string python;
};

struct FactsOptions {
  std::string node_id;
  std::string data_dir;
  // kernelfleet-meter, which launches what proves a GPU.
  std::string meter;
  std::vector<EnvironmentSource> environments;
  // 0: the number of cores.
  int compile_slots = 0;
  std::map<std::string, std::string> labels;
};

// Asks the machine, the vendors' tools and, through `runner`, each Python
// environment. What is missing becomes a warning in the facts. Blocking: each
// environment takes seconds, because it proves its targets by compiling.
v1::NodeFacts GatherFacts(const FactsOptions& options, ProcessRunner& runner);

// What env_probe found in one environment, completed by name and hash.
absl::StatusOr<v1::Environment> ProbeEnvironment(
    const EnvironmentSource& source, const std::string& directory,
    ProcessRunner& runner);

// SHA-256 over everything that a result of this environment depends on, and
// nothing that differs between machines without meaning (paths, host names).
std::string EnvironmentHash(const v1::Environment& environment,
                            const std::map<std::string, std::string>& process);

// The version that a tool prints: after the first marker found, up to a blank;
// without one the first line.
std::string VersionIn(std::string_view output);

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_NODE_FACTS_H_
