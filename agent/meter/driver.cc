#include "agent/meter/driver.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

namespace meter {
namespace {

// Layouts of the CUDA driver API (cuda.h, stable since 12.0).
struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    unsigned cluster[3];
  } value;
};
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned count;
};
constexpr int kClusterDimension = 4;  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
constexpr int kMaxDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_…
constexpr int kNonPortableCluster = 14;  // …_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
constexpr int kCudaL2Attribute = 38;     // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
constexpr int kHipL2Attribute = 18;      // hipDeviceAttributeL2CacheSize
constexpr unsigned kNonBlocking = 1;

struct Library {
  const char* file;
  bool cuda;
};
constexpr Library kLibraries[] = {
    {"libcuda.so.1", true},      {"libamdhip64.so", false},
    {"libamdhip64.so.7", false}, {"libamdhip64.so.6", false},
    {"libgalaxyhip.so", false},
};

}  // namespace

// HIP names stand beside CUDA's; a null name: that driver has no such call.
#define METER_CALLS(X)                                                         \
  X(Init, "cuInit", "hipInit", (unsigned))                                     \
  X(DeviceGet, "cuDeviceGet", "hipDeviceGet", (int*, int))                     \
  X(DeviceName, "cuDeviceGetName", "hipDeviceGetName", (char*, int, int))      \
  X(DeviceUuid, "cuDeviceGetUuid", "hipDeviceGetUuid", (char*, int))           \
  X(DeviceAttribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute",          \
    (int*, int, int))                                                          \
  X(DriverVersion, "cuDriverGetVersion", "hipDriverGetVersion", (int*))        \
  X(SetDevice, nullptr, "hipSetDevice", (int))                                 \
  X(Retain, "cuDevicePrimaryCtxRetain", nullptr, (void**, int))                \
  X(Release, "cuDevicePrimaryCtxRelease_v2", nullptr, (int))                   \
  X(SetContext, "cuCtxSetCurrent", nullptr, (void*))                           \
  X(ErrorName, "cuGetErrorName", nullptr, (int, const char**))                 \
  X(MemAlloc, "cuMemAlloc_v2", "hipMalloc", (DevicePointer*, size_t))          \
  X(MemFree, "cuMemFree_v2", "hipFree", (DevicePointer))                       \
  X(CopyHtoD, "cuMemcpyHtoD_v2", "hipMemcpyHtoD",                              \
    (DevicePointer, const void*, size_t))                                      \
  X(CopyDtoH, "cuMemcpyDtoH_v2", "hipMemcpyDtoH",                              \
    (void*, DevicePointer, size_t))                                            \
  X(CopyDtoD, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync",                    \
    (DevicePointer, DevicePointer, size_t, Stream))                            \
  X(Memset32, "cuMemsetD32Async", "hipMemsetD32Async",                         \
    (DevicePointer, unsigned, size_t, Stream))                                 \
  X(StreamCreate, "cuStreamCreate", "hipStreamCreateWithFlags",                \
    (Stream*, unsigned))                                                       \
  X(StreamSync, "cuStreamSynchronize", "hipStreamSynchronize", (Stream))       \
  X(EventCreate, "cuEventCreate", "hipEventCreateWithFlags",                   \
    (Event*, unsigned))                                                        \
  X(EventRecord, "cuEventRecord", "hipEventRecord", (Event, Stream))           \
  X(EventElapsed, "cuEventElapsedTime", "hipEventElapsedTime",                 \
    (float*, Event, Event))                                                    \
  X(ModuleLoad, "cuModuleLoadData", "hipModuleLoadData",                       \
    (Module*, const void*))                                                    \
  X(ModuleFind, "cuModuleGetFunction", "hipModuleGetFunction",                 \
    (Function*, Module, const char*))                                          \
  X(FuncSet, "cuFuncSetAttribute", nullptr, (Function, int, int))              \
  X(LaunchKernel, "cuLaunchKernel", "hipModuleLaunchKernel",                   \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void**, void**))                                        \
  X(LaunchEx, "cuLaunchKernelEx", nullptr,                                     \
    (const LaunchConfig*, Function, void**, void**))                           \
  X(EncodeTiled, "cuTensorMapEncodeTiled", nullptr,                            \
    (void*, int, unsigned, DevicePointer, const uint64_t*, const uint64_t*,    \
     const uint32_t*, const uint32_t*, int, int, int, int))                    \
  X(BeginCapture, "cuStreamBeginCapture_v2", "hipStreamBeginCapture",          \
    (Stream, int))                                                             \
  X(EndCapture, "cuStreamEndCapture", "hipStreamEndCapture", (Stream, Graph*)) \
  X(Instantiate, "cuGraphInstantiateWithFlags",                                \
    "hipGraphInstantiateWithFlags", (GraphExec*, Graph, unsigned long long))   \
  X(GraphFree, "cuGraphDestroy", "hipGraphDestroy", (Graph))                   \
  X(GraphRun, "cuGraphLaunch", "hipGraphLaunch", (GraphExec, Stream))          \
  X(GraphExecFree, "cuGraphExecDestroy", "hipGraphExecDestroy", (GraphExec))

struct Driver::Api {
#define METER_FIELD(name, cuda, hip, args) int(*name) args = nullptr;
  METER_CALLS(METER_FIELD)
#undef METER_FIELD
};

#define METER_CHECK(call, ...) Check(api_->call(__VA_ARGS__), #call)

Driver::Driver(int device) : api_(new Api), device_(device) {
  std::string tried;
  void* library = nullptr;
  bool cuda = false;
  for (const Library& candidate : kLibraries) {
    library = dlopen(candidate.file, RTLD_NOW | RTLD_LOCAL);
    cuda = candidate.cuda;
    if (library != nullptr) break;
    tried += std::string(tried.empty() ? "" : ", ") + candidate.file;
  }
  if (library == nullptr) {
    throw DriverError("no GPU driver: none of " + tried + " can be opened");
  }
  backend_ = cuda ? "cuda" : "hip";
#define METER_FIND(name, cuda_name, hip_name, args)                     \
  if (const char* symbol = cuda ? (cuda_name) : (hip_name)) {           \
    api_->name = reinterpret_cast<int(*) args>(dlsym(library, symbol)); \
    if (api_->name == nullptr) {                                        \
      throw DriverError(std::string("the GPU driver lacks ") + symbol); \
    }                                                                   \
  }
  METER_CALLS(METER_FIND)
#undef METER_FIND
  METER_CHECK(Init, 0);
  METER_CHECK(DeviceGet, &device_, device);
  if (cuda) {
    METER_CHECK(Retain, &context_, device_);
    METER_CHECK(SetContext, context_);
  } else {
    METER_CHECK(SetDevice, device_);
  }
}

Driver::~Driver() {
  // The process ends next; only the context is given back.
  if (context_ != nullptr) api_->Release(device_);
  delete api_;
}

void Driver::Check(int result, const char* call) const {
  if (result == 0) return;
  const char* name = nullptr;
  if (api_->ErrorName != nullptr) api_->ErrorName(result, &name);
  throw DriverError(std::string(call) + ": " +
                    (name != nullptr ? name : "error") + " (" +
                    std::to_string(result) + ")");
}

std::string Driver::DeviceName() const {
  char name[256] = {};
  METER_CHECK(DeviceName, name, static_cast<int>(sizeof name), device_);
  return name;
}

std::string Driver::DeviceUuid() const {
  char bytes[16] = {};
  METER_CHECK(DeviceUuid, bytes, device_);
  std::string out = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
    out += hex;
  }
  return out;
}

int Driver::DriverVersion() const {
  int version = 0;
  METER_CHECK(DriverVersion, &version);
  return version;
}

int64_t Driver::L2Bytes() const {
  int bytes = 0;
  METER_CHECK(DeviceAttribute, &bytes,
              backend_ == "cuda" ? kCudaL2Attribute : kHipL2Attribute, device_);
  return bytes;
}

DevicePointer Driver::Allocate(size_t bytes) {
  DevicePointer pointer = 0;
  METER_CHECK(MemAlloc, &pointer, bytes);
  return pointer;
}

void Driver::Free(DevicePointer pointer) { METER_CHECK(MemFree, pointer); }

void Driver::CopyIn(DevicePointer to, const void* from, size_t bytes) {
  METER_CHECK(CopyHtoD, to, from, bytes);
}

void Driver::CopyOut(void* to, DevicePointer from, size_t bytes) {
  METER_CHECK(CopyDtoH, to, from, bytes);
}

void Driver::CopyWithin(DevicePointer to, DevicePointer from, size_t bytes,
                        Stream stream) {
  METER_CHECK(CopyDtoD, to, from, bytes, stream);
}

void Driver::Fill(DevicePointer to, unsigned value, size_t words,
                  Stream stream) {
  METER_CHECK(Memset32, to, value, words, stream);
}

Stream Driver::NewStream() {
  Stream stream = nullptr;
  METER_CHECK(StreamCreate, &stream, kNonBlocking);
  return stream;
}

void Driver::Synchronize(Stream stream) { METER_CHECK(StreamSync, stream); }

Event Driver::NewEvent() {
  Event event = nullptr;
  METER_CHECK(EventCreate, &event, 0);
  return event;
}

void Driver::Record(Event event, Stream stream) {
  METER_CHECK(EventRecord, event, stream);
}

double Driver::ElapsedUs(Event start, Event stop) {
  float ms = 0;
  METER_CHECK(EventElapsed, &ms, start, stop);
  return static_cast<double>(ms) * 1000;
}

Module Driver::Load(const void* image) {
  Module module = nullptr;
  METER_CHECK(ModuleLoad, &module, image);
  return module;
}

Function Driver::Find(Module module, const std::string& name) {
  Function function = nullptr;
  METER_CHECK(ModuleFind, &function, module, name.c_str());
  return function;
}

void Driver::AllowShared(Function function, unsigned bytes) {
  // HIP needs no leave, and below 48 KiB neither does CUDA.
  if (api_->FuncSet == nullptr || bytes <= 48 * 1024) return;
  METER_CHECK(FuncSet, function, kMaxDynamicShared, static_cast<int>(bytes));
}

void Driver::Run(const Launch& launch, Stream stream) {
  const Dim3& c = launch.cluster;
  if (c.x * c.y * c.z > 1) {
    if (api_->LaunchEx == nullptr) {
      throw DriverError("this driver has no clusters");
    }
    if (c.x * c.y * c.z > 8) {
      METER_CHECK(FuncSet, launch.function, kNonPortableCluster, 1);
    }
    LaunchAttribute cluster = {};
    cluster.id = kClusterDimension;
    cluster.value.cluster[0] = c.x;
    cluster.value.cluster[1] = c.y;
    cluster.value.cluster[2] = c.z;
    const LaunchConfig config = {
        {launch.grid.x, launch.grid.y, launch.grid.z},
        {launch.block.x, launch.block.y, launch.block.z},
        launch.shared_bytes,
        stream,
        &cluster,
        1};
    METER_CHECK(LaunchEx, &config, launch.function, launch.arguments, nullptr);
    return;
  }
  METER_CHECK(LaunchKernel, launch.function, launch.grid.x, launch.grid.y,
              launch.grid.z, launch.block.x, launch.block.y, launch.block.z,
              launch.shared_bytes, stream, launch.arguments, nullptr);
}

void Driver::Encode(const TensorMap& map, void* out) {
  if (api_->EncodeTiled == nullptr) {
    throw DriverError("this driver has no tensor maps");
  }
  constexpr uint32_t kUnit[5] = {1, 1, 1, 1, 1};
  constexpr int kNoInterleave = 0;
  constexpr int kPromote128 = 2;  // CU_TENSOR_MAP_L2_PROMOTION_L2_128B
  METER_CHECK(EncodeTiled, out, map.data_type, map.rank, map.base, map.shape,
              map.strides, map.box, kUnit, kNoInterleave, map.swizzle,
              kPromote128, map.fill);
}

void Driver::BeginCapture(Stream stream) {
  constexpr int kThreadLocal = 1;
  METER_CHECK(BeginCapture, stream, kThreadLocal);
}

GraphExec Driver::EndCapture(Stream stream) {
  Graph graph = nullptr;
  METER_CHECK(EndCapture, stream, &graph);
  GraphExec exec = nullptr;
  METER_CHECK(Instantiate, &exec, graph, 0);
  METER_CHECK(GraphFree, graph);
  return exec;
}

void Driver::Run(GraphExec graph, Stream stream) {
  METER_CHECK(GraphRun, graph, stream);
}

void Driver::Free(GraphExec graph) { METER_CHECK(GraphExecFree, graph); }

}  // namespace meter
