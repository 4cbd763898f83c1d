// Everything below this process in the tree of processes, and its end.
#ifndef KERNELFLEET_AGENT_RUNNER_PROCESSES_H_
#define KERNELFLEET_AGENT_RUNNER_PROCESSES_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <vector>

namespace kernelfleet::runner {

// Makes this process the parent of every orphan below it, so that neither
// setsid nor a double fork leads out of its tree.
void AdoptOrphans();

// `root`'s children, their children and so on, without `root`. A snapshot.
std::vector<pid_t> Descendants(pid_t root);

// Called with each child that was reaped.
using Reaped = std::function<void(pid_t, int status, const rusage&)>;

// Reaps every child that has ended. False: there are no children at all.
bool ReapEnded(const Reaped& reaped);

// Kills this process's children that `spare` does not name, and all below
// them, and reaps until none is left. False: something was still there after
// `patience_s`, which takes a process stuck in the kernel.
bool KillTrees(const std::function<bool(pid_t)>& spare, double patience_s,
               const Reaped& reaped);

// Closes all descriptors above 2 but `keep` (-1: none).
void CloseDescriptors(int keep);

// Seconds on the monotonic clock.
double Now();

}  // namespace kernelfleet::runner

#endif  // KERNELFLEET_AGENT_RUNNER_PROCESSES_H_
