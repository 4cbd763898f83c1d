// The agent's folder: one agent at a time, one name for ever.
#ifndef KERNELFLEET_AGENT_DATA_DIR_H_
#define KERNELFLEET_AGENT_DATA_DIR_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/base/random.h"

namespace kernelfleet::agent {

// Makes the folder and locks it for as long as the result lives.
// FAILED_PRECONDITION: another agent uses it.
absl::StatusOr<Fd> LockDataDir(const std::string& path);

// The node id kept in the folder; made on the first call from `name` (or the
// host name) and a few random characters.
absl::StatusOr<std::string> StableNodeId(const std::string& data_dir,
                                         const std::string& name,
                                         Random& random);

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_DATA_DIR_H_
