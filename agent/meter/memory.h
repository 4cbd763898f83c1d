// The buffers of a measurement: one arena in which every block draws new
// places, and a master copy of each buffer's contents.
//
// Where buffers lie changes short kernels by up to 4 % for as long as a process
// lives, so a comparison shares the buffers between its arms and redraws their
// places for each block.
#ifndef KERNELFLEET_AGENT_METER_MEMORY_H_
#define KERNELFLEET_AGENT_METER_MEMORY_H_

#include <cstdint>
#include <random>
#include <vector>

#include "agent/meter/driver.h"
#include "agent/meter/plan.h"

namespace meter {

// A place for each buffer, by index into Plan::buffers.
using Placement = std::vector<DevicePointer>;

class Memory {
 public:
  // Allocates the arena (the buffers twice over and 512 MiB) and the masters,
  // filled from `seed`.
  Memory(Driver& driver, const std::vector<Buffer>& buffers, uint64_t seed);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // `count` sets of new random places, 256-byte aligned, none overlapping
  // another, contents put there. Fewer when the arena cannot hold so many.
  std::vector<Placement> Draw(std::mt19937_64& generator, Stream stream,
                              size_t count);
  // Puts the first contents of the buffers that need it back.
  void Restore(const Placement& placement, Stream stream);
  void RestoreAll(const Placement& placement, Stream stream);
  bool restores() const { return restores_; }

 private:
  Placement DrawIn(DevicePointer start, size_t bytes,
                   std::mt19937_64& generator, Stream stream);

  Driver& driver_;
  const std::vector<Buffer>& buffers_;
  std::vector<DevicePointer> masters_;
  DevicePointer arena_ = 0;
  size_t arena_bytes_ = 0;
  size_t total_bytes_ = 0;
  bool restores_ = false;
};

// `bytes` of data as `fill` says. Throws std::runtime_error for an unknown
// kind or type.
std::vector<std::byte> MakeContents(const Fill& fill, size_t bytes,
                                    uint64_t seed);

}  // namespace meter

#endif  // KERNELFLEET_AGENT_METER_MEMORY_H_
