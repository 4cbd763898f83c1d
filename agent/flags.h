// The command line of kernelfleet-agent.
#ifndef KERNELFLEET_AGENT_FLAGS_H_
#define KERNELFLEET_AGENT_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/node_facts.h"
#include "agent/process_runner.h"
#include "agent/worker.h"
#include "common/rpc/address.h"
#include "common/rpc/credentials.h"

namespace kernelfleet::agent {

struct Flags {
  rpc::Address server;
  rpc::Plaintext plaintext = rpc::Plaintext::kLoopbackOnly;
  std::string data_dir;
  // For the node's id, where the folder holds none yet.
  std::string name;
  // `node_id` and `data_dir` are filled in later.
  FactsOptions facts;
  RunnerOptions runner;
  absl::Duration drain_limit = absl::Seconds(30);
  std::string log_level = "info";
  // Gather the facts, print them as JSON and exit.
  bool print_facts = false;
  // Not empty for --help and --version: print it and exit.
  std::string say;
};

// INVALID_ARGUMENT with one sentence.
absl::StatusOr<Flags> ParseFlags(int argc, const char* const* argv);

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_FLAGS_H_
