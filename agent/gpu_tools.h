// The GPUs of a node, from what the vendors' tools print. Columns and keys are
// found by name: their order and number differ between versions.
#ifndef KERNELFLEET_AGENT_GPU_TOOLS_H_
#define KERNELFLEET_AGENT_GPU_TOOLS_H_

#include <string>
#include <string_view>
#include <vector>

#include "kernelfleet/v1/node.pb.h"

namespace kernelfleet::agent {

// The fields of `nvidia-smi --query-gpu=… --format=csv,nounits` that we ask.
inline constexpr std::string_view kNvidiaSmiFields =
    "index,name,uuid,compute_cap,memory.total,driver_version";

// CSV with its header line. Rows that do not name a compute capability (old
// drivers print "[N/A]") come out without an arch.
std::vector<v1::Gpu> ParseNvidiaSmi(std::string_view csv);

// `rocminfo`: the agents whose device type is GPU, or HCU on Hygon's stack.
// Indexes count these alone, as HIP does.
std::vector<v1::Gpu> ParseRocminfo(std::string_view text);

// `hy-smi` or `rocm-smi` with --showproductname --showuniqueid
// --showdriverversion --showmeminfo vram: lines such as
//   HCU[0] : Card Series: BW1000
// complete the GPUs that rocminfo found.
void AddSmi(std::string_view text, std::vector<v1::Gpu>& gpus);

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_GPU_TOOLS_H_
