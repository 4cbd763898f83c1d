#include "agent/meter/measure.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace meter {
namespace {

using SteadyClock = std::chrono::steady_clock;

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double Median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Half the width of a 95 % interval of the mean log-ratio, by the normal
// approximation: good enough to stop by. The verdict is not made here.
double HalfWidth(const std::vector<BlockSamples>& blocks) {
  std::vector<double> ratios;
  for (const BlockSamples& block : blocks) {
    if (!block.control) {
      ratios.push_back(std::log(Median(block.b) / Median(block.a)));
    }
  }
  if (ratios.size() < 2) return INFINITY;
  const auto n = static_cast<double>(ratios.size());
  double mean = 0;
  for (const double x : ratios) mean += x / n;
  double squares = 0;
  for (const double x : ratios) squares += (x - mean) * (x - mean);
  return 2.1 * std::sqrt(squares / (n - 1) / n);
}

constexpr double kGraphSampleUs = 500;
// Long enough for a full turn's launches to be queued behind it.
constexpr size_t kLeastFlushBytes = size_t{256} << 20;
constexpr size_t kGraphPlacements = 4;

}  // namespace

LoadedArm::LoadedArm(Driver& driver, const Arm& arm)
    : driver_(driver), arm_(arm) {
  for (const LaunchRecord& launch : arm.launches) {
    const std::string image = ReadBytes(launch.binary);
    Loaded loaded;
    loaded.function = driver_.Find(driver_.Load(image.data()), launch.entry);
    driver_.AllowShared(loaded.function, launch.shared_bytes);
    for (const Argument& argument : launch.arguments) {
      const auto* scratch = std::get_if<ScratchArgument>(&argument);
      const size_t bytes = scratch != nullptr ? scratch->bytes : 0;
      loaded.scratch.push_back(bytes > 0 ? driver_.Allocate(bytes) : 0);
    }
    loaded_.push_back(std::move(loaded));
  }
}

void LoadedArm::Call(const Placement& placement, Stream stream) {
  for (size_t i = 0; i < loaded_.size(); ++i) LaunchOne(i, placement, stream);
}

void LoadedArm::LaunchOne(size_t index, const Placement& placement,
                          Stream stream) {
  const LaunchRecord& record = arm_.launches[index];
  struct alignas(64) MapBytes {
    std::byte bytes[kTensorMapBytes];
  };
  std::vector<DevicePointer> pointers(record.arguments.size());
  std::vector<MapBytes> maps(record.arguments.size());
  std::vector<void*> addresses(record.arguments.size());
  for (size_t i = 0; i < record.arguments.size(); ++i) {
    const Argument& argument = record.arguments[i];
    if (const auto* scalar = std::get_if<ScalarArgument>(&argument)) {
      addresses[i] = const_cast<std::byte*>(scalar->bytes.data());
      continue;
    }
    addresses[i] = &pointers[i];
    if (const auto* buffer = std::get_if<BufferArgument>(&argument)) {
      pointers[i] = placement[buffer->buffer] + buffer->offset;
    } else if (std::holds_alternative<ScratchArgument>(argument)) {
      pointers[i] = loaded_[index].scratch[i];
    } else {
      const auto& tensor = std::get<TensorMapArgument>(argument);
      TensorMap map = tensor.map;
      map.base = placement[tensor.buffer] + tensor.offset;
      driver_.Encode(map, maps[i].bytes);
      addresses[i] = maps[i].bytes;
    }
  }
  Launch launch;
  launch.function = loaded_[index].function;
  launch.grid = record.grid;
  launch.block = record.block;
  launch.cluster = record.cluster;
  launch.shared_bytes = record.shared_bytes;
  launch.arguments = addresses.data();
  driver_.Run(launch, stream);
}

// NVIDIA's management library, opened at run time; silent where absent.
class Meter::Telemetry {
 public:
  explicit Telemetry(const std::string& uuid) {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    const auto init = Find<int (*)()>("nvmlInit_v2");
    const auto by_uuid =
        Find<int (*)(const char*, void**)>("nvmlDeviceGetHandleByUUID");
    clock_ = Find<decltype(clock_)>("nvmlDeviceGetClockInfo");
    power_ = Find<decltype(power_)>("nvmlDeviceGetPowerUsage");
    temperature_ = Find<decltype(temperature_)>("nvmlDeviceGetTemperature");
    throttle_ =
        Find<decltype(throttle_)>("nvmlDeviceGetCurrentClocksThrottleReasons");
    if (init == nullptr || by_uuid == nullptr || init() != 0 ||
        by_uuid(uuid.c_str(), &handle_) != 0) {
      handle_ = nullptr;
    }
  }

  void Read(BlockSamples& block) const {
    if (handle_ == nullptr) return;
    constexpr int kSmClock = 1;
    if (clock_ != nullptr) clock_(handle_, kSmClock, &block.sm_mhz);
    if (power_ != nullptr) power_(handle_, &block.power_mw);
    if (temperature_ != nullptr) {
      temperature_(handle_, 0, &block.temperature_c);
    }
    if (throttle_ != nullptr) throttle_(handle_, &block.throttle_bits);
  }

 private:
  template <typename Call>
  Call Find(const char* name) {
    return reinterpret_cast<Call>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  void* handle_ = nullptr;
  int (*clock_)(void*, int, unsigned*) = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
  int (*temperature_)(void*, int, unsigned*) = nullptr;
  int (*throttle_)(void*, unsigned long long*) = nullptr;
};

Meter::Meter(Driver& driver, const Plan& plan)
    : driver_(driver),
      plan_(plan),
      memory_(driver, plan.buffers, plan.seed),
      stream_(driver.NewStream()),
      generator_(plan.seed) {
  for (const Arm& arm : plan.arms) {
    arms_.push_back(std::make_unique<LoadedArm>(driver, arm));
  }
  control_ = std::make_unique<LoadedArm>(driver, plan.arms[0]);
  telemetry_ = std::make_unique<Telemetry>(driver.DeviceUuid());
  flush_bytes_ = plan.protocol.flush_bytes;
  if (flush_bytes_ == 0) {
    flush_bytes_ =
        std::max(kLeastFlushBytes, static_cast<size_t>(4 * driver.L2Bytes()));
  }
  flush_ = driver.Allocate(flush_bytes_);
  for (int i = 0; i < 2 * plan.protocol.calls_per_turn; ++i) {
    events_.push_back(driver.NewEvent());
  }
}

Meter::~Meter() = default;

void Meter::Flush() {
  driver_.Fill(flush_, static_cast<unsigned>(generator_()), flush_bytes_ / 4,
               stream_);
}

std::vector<double> Meter::Turn(LoadedArm& arm, const Placement& placement) {
  // The first flush also fills the queue, so that no launch of the turn waits
  // for the host.
  Flush();
  for (int i = 0; i < calls_per_turn_; ++i) {
    memory_.Restore(placement, stream_);
    if (plan_.protocol.cold_cache && i > 0) Flush();
    driver_.Record(events_[static_cast<size_t>(2 * i)], stream_);
    arm.Call(placement, stream_);
    driver_.Record(events_[static_cast<size_t>(2 * i + 1)], stream_);
  }
  driver_.Synchronize(stream_);
  std::vector<double> samples;
  // Without flushes between, the first call alone met a cold cache.
  for (int i = plan_.protocol.cold_cache || calls_per_turn_ == 1 ? 0 : 1;
       i < calls_per_turn_; ++i) {
    samples.push_back(
        driver_.ElapsedUs(events_[static_cast<size_t>(2 * i)],
                          events_[static_cast<size_t>(2 * i + 1)]));
  }
  return samples;
}

std::vector<double> Meter::GraphTurn(LoadedArm& arm,
                                     const std::vector<Placement>& placements) {
  driver_.BeginCapture(stream_);
  for (int i = 0; i < graph_calls_; ++i) {
    arm.Call(placements[static_cast<size_t>(i) % placements.size()], stream_);
  }
  const GraphExec graph = driver_.EndCapture(stream_);
  driver_.Run(graph, stream_);
  std::vector<double> samples;
  for (int i = 0; i < calls_per_turn_; ++i) {
    driver_.Record(events_[static_cast<size_t>(2 * i)], stream_);
    driver_.Run(graph, stream_);
    driver_.Record(events_[static_cast<size_t>(2 * i + 1)], stream_);
  }
  driver_.Synchronize(stream_);
  for (int i = 0; i < calls_per_turn_; ++i) {
    samples.push_back(
        driver_.ElapsedUs(events_[static_cast<size_t>(2 * i)],
                          events_[static_cast<size_t>(2 * i + 1)]) /
        graph_calls_);
  }
  driver_.Free(graph);
  return samples;
}

double Meter::EstimateUs(LoadedArm& arm) {
  calls_per_turn_ = plan_.protocol.calls_per_turn;
  const Placement placement = memory_.Draw(generator_, stream_, 1).front();
  Turn(arm, placement);
  return Median(Turn(arm, placement));
}

BlockSamples Meter::Block(LoadedArm& a, LoadedArm& b) {
  BlockSamples block;
  // A graph rotates its calls over several sets.
  const std::vector<Placement> placements = memory_.Draw(
      generator_, stream_, graph_calls_ > 0 ? kGraphPlacements : 1);
  const auto turn = [&](LoadedArm& arm) {
    return graph_calls_ > 0 ? GraphTurn(arm, placements)
                            : Turn(arm, placements[0]);
  };
  const bool a_first = (generator_() & 1) == 0;
  block.order = a_first ? "ABBA" : "BAAB";
  for (const char arm : block.order) {
    std::vector<double>& samples = arm == 'A' ? block.a : block.b;
    for (const double x : turn(arm == 'A' ? a : b)) samples.push_back(x);
  }
  telemetry_->Read(block);
  return block;
}

void Meter::WarmUp(LoadedArm& a, LoadedArm& b) {
  const SteadyClock::time_point start = SteadyClock::now();
  const double wanted = plan_.protocol.warmup_ms / 1000;
  do {
    Block(a, b);
  } while (SecondsSince(start) < wanted);
}

Measurement Meter::Compare(size_t candidate) {
  const Protocol& protocol = plan_.protocol;
  LoadedArm& a = *arms_[0];
  LoadedArm& b = candidate == 0 ? *control_ : *arms_.at(candidate);
  Measurement out;
  out.a = a.name();
  out.b = b.name();
  const SteadyClock::time_point start = SteadyClock::now();
  graph_calls_ = 0;
  out.estimate_us = std::max(EstimateUs(a), EstimateUs(b));
  const bool graph =
      out.estimate_us < protocol.graph_below_us && !memory_.restores();
  if (graph) {
    // Events cost about 2 µs each, so the estimate of a short call is high;
    // the floor keeps the graph long enough.
    graph_calls_ =
        static_cast<int>(std::ceil(kGraphSampleUs / out.estimate_us));
    out.calls_per_sample = graph_calls_;
  } else {
    // A turn of long calls needs fewer of them: 20 ms a turn is plenty.
    calls_per_turn_ = std::clamp(static_cast<int>(20'000 / out.estimate_us), 1,
                                 protocol.calls_per_turn);
  }
  out.timer = graph ? "graph" : "events";
  out.cache = graph || !protocol.cold_cache ? "warm" : "cold";
  WarmUp(a, b);
  int compared = 0;
  out.stopped_by = "max_blocks";
  for (int n = 1; compared < protocol.max_blocks; ++n) {
    const bool control = protocol.control_every > 0 && candidate != 0 &&
                         n % protocol.control_every == 0;
    out.blocks.push_back(Block(a, control ? *control_ : b));
    out.blocks.back().control = control;
    compared += control ? 0 : 1;
    if (compared < protocol.min_blocks) continue;
    if (HalfWidth(out.blocks) < protocol.half_width) {
      out.stopped_by = "half_width";
      break;
    }
    if (SecondsSince(start) > protocol.max_seconds) {
      out.stopped_by = "max_seconds";
      break;
    }
  }
  out.seconds = SecondsSince(start);
  return out;
}

void Meter::Dump(const std::string& folder) {
  for (const std::unique_ptr<LoadedArm>& arm : arms_) {
    const Placement placement = memory_.Draw(generator_, stream_, 1).front();
    arm->Call(placement, stream_);
    driver_.Synchronize(stream_);
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer& buffer = plan_.buffers[i];
      if (!buffer.output) continue;
      std::vector<char> bytes(buffer.bytes);
      driver_.CopyOut(bytes.data(), placement[i], bytes.size());
      const std::string path = folder + "/" + arm->name() + "." + buffer.name;
      std::ofstream out(path, std::ios::binary);
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      if (!out) throw std::runtime_error(path + ": cannot be written");
    }
  }
}

}  // namespace meter
