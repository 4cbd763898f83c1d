// The few driver calls that timing needs, from whichever driver the node has:
// libcuda (NVIDIA), libamdhip64 (AMD) or libgalaxyhip (Hygon), opened at run
// time. HIP mirrors these calls of CUDA's driver API down to the order of their
// arguments, so one table of pointers serves both.
//
// Not thread-safe: one measuring thread owns the device.
#ifndef KERNELFLEET_AGENT_METER_DRIVER_H_
#define KERNELFLEET_AGENT_METER_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace meter {

// What the driver said, with the call that said it.
class DriverError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using DevicePointer = uint64_t;
using Stream = void*;
using Event = void*;
using Module = void*;
using Function = void*;
using Graph = void*;
using GraphExec = void*;

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

struct Launch {
  Function function = nullptr;
  Dim3 grid;
  Dim3 block;
  // Blocks of a cluster; 1, 1, 1: no cluster.
  Dim3 cluster;
  unsigned shared_bytes = 0;
  // One pointer for each parameter, to the parameter's bytes.
  void** arguments = nullptr;
};

// A host-made TMA descriptor, as cuTensorMapEncodeTiled takes it. Dimensions
// and strides are innermost first; strides in bytes, without the innermost.
struct TensorMap {
  int data_type = 0;
  unsigned rank = 0;
  DevicePointer base = 0;
  uint64_t shape[5] = {};
  uint64_t strides[5] = {};
  uint32_t box[5] = {};
  int swizzle = 0;
  int fill = 0;
};
inline constexpr size_t kTensorMapBytes = 128;

class Driver {
 public:
  // Opens the first driver found and the device's primary context. Throws
  // DriverError when there is none: "no GPU driver: …".
  explicit Driver(int device);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // "cuda" or "hip".
  const std::string& backend() const { return backend_; }
  std::string DeviceName() const;
  std::string DeviceUuid() const;
  int DriverVersion() const;
  int64_t L2Bytes() const;

  DevicePointer Allocate(size_t bytes);
  void Free(DevicePointer pointer);
  void CopyIn(DevicePointer to, const void* from, size_t bytes);
  void CopyOut(void* to, DevicePointer from, size_t bytes);
  void CopyWithin(DevicePointer to, DevicePointer from, size_t bytes,
                  Stream stream);
  void Fill(DevicePointer to, unsigned value, size_t words, Stream stream);

  Stream NewStream();
  void Synchronize(Stream stream);
  Event NewEvent();
  void Record(Event event, Stream stream);
  double ElapsedUs(Event start, Event stop);

  Module Load(const void* image);
  Function Find(Module module, const std::string& name);
  // Lets a function use more dynamic shared memory than the default 48 KiB.
  void AllowShared(Function function, unsigned bytes);
  void Run(const Launch& launch, Stream stream);
  // Writes kTensorMapBytes; the destination must be 64-byte aligned.
  void Encode(const TensorMap& map, void* out);

  void BeginCapture(Stream stream);
  GraphExec EndCapture(Stream stream);
  void Run(GraphExec graph, Stream stream);
  void Free(GraphExec graph);

 private:
  struct Api;
  void Check(int result, const char* call) const;

  std::string backend_;
  Api* api_;
  int device_;
  void* context_ = nullptr;
};

}  // namespace meter

#endif  // KERNELFLEET_AGENT_METER_DRIVER_H_
