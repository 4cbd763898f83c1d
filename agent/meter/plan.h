// What to measure, read from a JSON file. The format is docs/meter.md.
#ifndef KERNELFLEET_AGENT_METER_PLAN_H_
#define KERNELFLEET_AGENT_METER_PLAN_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "agent/meter/driver.h"

namespace meter {

// How a buffer is filled before each block.
struct Fill {
  // "normal", "uniform" (floats in [low, high)), "integers" (in [low, high)),
  // "zeros", "file".
  std::string kind = "normal";
  // fp64 fp32 bf16 fp16 fp8e4nv fp8e5 i64 i32 i16 i8 i1
  std::string dtype = "fp32";
  double low = 0;
  double high = 1;
  std::string file;
};

struct Buffer {
  std::string name;
  size_t bytes = 0;
  Fill fill;
  // Written by the kernel and read again by the next call: put back to its
  // first contents before each call.
  bool restore = false;
  // Where a run of each arm leaves its contents, when asked (see Plan::dump).
  bool output = false;
};

struct BufferArgument {
  size_t buffer = 0;
  size_t offset = 0;
};
struct ScalarArgument {
  std::vector<std::byte> bytes;
};
// Memory that the launcher provides: Triton's global and profile scratch.
// 0 bytes: a null pointer.
struct ScratchArgument {
  size_t bytes = 0;
};
struct TensorMapArgument {
  TensorMap map;
  size_t buffer = 0;
  size_t offset = 0;
};
using Argument = std::variant<BufferArgument, ScalarArgument, ScratchArgument,
                              TensorMapArgument>;

struct LaunchRecord {
  std::string binary;
  std::string entry;
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;
  unsigned shared_bytes = 0;
  std::vector<Argument> arguments;
};

// One way to compute the result: its launches in order.
struct Arm {
  std::string name;
  std::vector<LaunchRecord> launches;
};

struct Protocol {
  bool cold_cache = true;
  int min_blocks = 24;
  int max_blocks = 400;
  int calls_per_turn = 8;
  // Every n-th block is A against a second copy of A; 0: none.
  int control_every = 4;
  double max_seconds = 60;
  // Stop when the 95 % interval of the mean log-ratio is this narrow to each
  // side.
  double half_width = 0.005;
  double warmup_ms = 200;
  // Calls shorter than this are timed as graphs of many calls.
  double graph_below_us = 20;
  size_t flush_bytes = 0;
};

struct Plan {
  int device = 0;
  uint64_t seed = 1;
  std::vector<Buffer> buffers;
  std::vector<Arm> arms;
  Protocol protocol;
  // Folder for the outputs of one run of each arm: ARM.BUFFER; empty: none.
  std::string dump;
  // Repeat the whole comparison this often, each with fresh draws.
  int repeats = 1;
};

// Throws std::runtime_error with one sentence that names the place.
Plan ReadPlan(const std::string& path);

// The whole file. Throws std::runtime_error.
std::string ReadBytes(const std::string& path);

}  // namespace meter

#endif  // KERNELFLEET_AGENT_METER_PLAN_H_
