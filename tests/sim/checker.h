// The invariants, each judged from what clients heard and what the coordinator
// shows at the end:
//
// I1 an acknowledged job exists            I6 every named blob is there
// I2 one accepted result per task, of the  I7 (no tenants yet)
//    newest lease                          I8 every job ends after the faults
// I3 only legal transitions; fences rise   I9 events without gaps; the state
// I4 no two holders of a fence or GPU         is the fold of the events
// I5 a key names one job
#ifndef KERNELFLEET_TESTS_SIM_CHECKER_H_
#define KERNELFLEET_TESTS_SIM_CHECKER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/coordinator.h"

namespace kernelfleet::server {

struct Heard {
  // Key to job id.
  std::map<std::string, std::string> submitted;
  // Fence to task, for results that were answered "accepted".
  std::map<int64_t, int64_t> accepted;
  std::set<std::string> blobs;
};

// One line per violation; empty: all hold.
std::vector<std::string> CheckInvariants(Coordinator& coordinator,
                                         const Heard& heard);

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_TESTS_SIM_CHECKER_H_
