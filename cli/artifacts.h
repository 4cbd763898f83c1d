// Names of a job's artifacts: what `artifacts` lists and `get` fetches.
#ifndef KERNELFLEET_CLI_ARTIFACTS_H_
#define KERNELFLEET_CLI_ARTIFACTS_H_

#include <string>
#include <vector>

#include "kernelfleet/v1/job.pb.h"

namespace kernelfleet::cli {

struct NamedArtifact {
  // "softmax_kernel/hip:gfx942/buffer_ops=1/kernel.amdgcn".
  std::string name;
  v1::Artifact artifact;
};

std::vector<NamedArtifact> ArtifactsOf(const v1::JobDetail& job);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_ARTIFACTS_H_
