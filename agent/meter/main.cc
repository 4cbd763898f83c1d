// kernelfleet-meter PLAN.json RESULT.json
//
// Times compiled kernels side by side through the driver, with no Python and no
// Triton. Exit status: 0 a result was written, 1 it could not be measured (the
// result's "error" says why), 2 usage.
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>

#include "agent/meter/driver.h"
#include "agent/meter/measure.h"
#include "agent/meter/plan.h"

namespace {

using Json = nlohmann::json;

Json ToJson(const meter::BlockSamples& block) {
  Json out = {{"control", block.control},
              {"order", block.order},
              {"a_us", block.a},
              {"b_us", block.b}};
  if (block.sm_mhz != 0) out["sm_mhz"] = block.sm_mhz;
  if (block.power_mw != 0) out["power_mw"] = block.power_mw;
  if (block.temperature_c != 0) out["temperature_c"] = block.temperature_c;
  if (block.throttle_bits != 0) out["throttle_bits"] = block.throttle_bits;
  return out;
}

Json ToJson(const meter::Measurement& measurement) {
  Json out = {{"a", measurement.a},
              {"b", measurement.b},
              {"timer", measurement.timer},
              {"calls_per_sample", measurement.calls_per_sample},
              {"cache", measurement.cache},
              {"estimate_us", measurement.estimate_us},
              {"seconds", measurement.seconds},
              {"stopped_by", measurement.stopped_by},
              {"blocks", Json::array()}};
  for (const meter::BlockSamples& block : measurement.blocks) {
    out["blocks"].push_back(ToJson(block));
  }
  return out;
}

Json Measure(const std::string& path) {
  const meter::Plan plan = meter::ReadPlan(path);
  meter::Driver driver(plan.device);
  Json out = {{"device",
               {{"name", driver.DeviceName()},
                {"uuid", driver.DeviceUuid()},
                {"backend", driver.backend()},
                {"driver", driver.DriverVersion()},
                {"l2_bytes", driver.L2Bytes()}}},
              {"seed", plan.seed},
              {"measurements", Json::array()}};
  meter::Meter bench(driver, plan);
  if (!plan.dump.empty()) bench.Dump(plan.dump);
  for (int repeat = 0; repeat < plan.repeats; ++repeat) {
    for (size_t arm = plan.arms.size() > 1 ? 1 : 0; arm < plan.arms.size();
         ++arm) {
      out["measurements"].push_back(ToJson(bench.Compare(arm)));
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: kernelfleet-meter PLAN.json RESULT.json\n");
    return 2;
  }
  Json result;
  int status = 0;
  try {
    result = Measure(argv[1]);
  } catch (const std::exception& error) {
    result = {{"error", error.what()}};
    std::fprintf(stderr, "kernelfleet-meter: %s\n", error.what());
    status = 1;
  }
  std::ofstream out(argv[2]);
  out << result.dump() << '\n';
  out.close();
  if (!out) {
    std::fprintf(stderr, "kernelfleet-meter: %s: cannot be written\n", argv[2]);
    return 1;
  }
  return status;
}
