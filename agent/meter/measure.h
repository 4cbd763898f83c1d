// The measurement itself: blocks of ABBA or BAAB on shared, redrawn buffers.
#ifndef KERNELFLEET_AGENT_METER_MEASURE_H_
#define KERNELFLEET_AGENT_METER_MEASURE_H_

#include <memory>
#include <string>
#include <vector>

#include "agent/meter/driver.h"
#include "agent/meter/memory.h"
#include "agent/meter/plan.h"

namespace meter {

// An arm with its modules loaded. `copy` tells the second load of the same
// binaries (the control arm) from the first.
class LoadedArm {
 public:
  LoadedArm(Driver& driver, const Arm& arm);

  // Enqueues the arm's launches on these buffers.
  void Call(const Placement& placement, Stream stream);
  const std::string& name() const { return arm_.name; }

 private:
  struct Loaded {
    Function function = nullptr;
    std::vector<DevicePointer> scratch;
  };
  void LaunchOne(size_t index, const Placement& placement, Stream stream);

  Driver& driver_;
  const Arm& arm_;
  std::vector<Loaded> loaded_;
};

struct BlockSamples {
  bool control = false;
  // "ABBA" or "BAAB".
  std::string order;
  // Microseconds a call.
  std::vector<double> a;
  std::vector<double> b;
  // At the end of the block; 0: not known.
  unsigned sm_mhz = 0;
  unsigned power_mw = 0;
  unsigned temperature_c = 0;
  unsigned long long throttle_bits = 0;
};

struct Measurement {
  std::string a;
  std::string b;
  // "events" or "graph"; graphs are of `calls_per_sample` calls.
  std::string timer;
  int calls_per_sample = 1;
  std::string cache;
  std::vector<BlockSamples> blocks;
  double estimate_us = 0;
  double seconds = 0;
  std::string stopped_by;
};

class Meter {
 public:
  Meter(Driver& driver, const Plan& plan);
  ~Meter();

  // Arm 0 against arm `candidate`; candidate 0 is an A/A run.
  Measurement Compare(size_t candidate);
  // Runs each arm once on fresh buffers and writes its outputs.
  void Dump(const std::string& folder);

 private:
  class Telemetry;
  double EstimateUs(LoadedArm& arm);
  void WarmUp(LoadedArm& a, LoadedArm& b);
  std::vector<double> Turn(LoadedArm& arm, const Placement& placement);
  std::vector<double> GraphTurn(LoadedArm& arm,
                                const std::vector<Placement>& placements);
  BlockSamples Block(LoadedArm& a, LoadedArm& b);
  void Flush();

  Driver& driver_;
  const Plan& plan_;
  Memory memory_;
  Stream stream_;
  std::mt19937_64 generator_;
  std::vector<std::unique_ptr<LoadedArm>> arms_;
  std::unique_ptr<LoadedArm> control_;
  std::unique_ptr<Telemetry> telemetry_;
  DevicePointer flush_ = 0;
  size_t flush_bytes_ = 0;
  std::vector<Event> events_;
  int calls_per_turn_ = 0;
  int graph_calls_ = 0;
};

}  // namespace meter

#endif  // KERNELFLEET_AGENT_METER_MEASURE_H_
