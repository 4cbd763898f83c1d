#include "agent/meter/plan.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace meter {
namespace {

using Json = nlohmann::json;

[[noreturn]] void Fail(const std::string& what) {
  throw std::runtime_error(what);
}

template <typename T>
std::vector<std::byte> BytesOf(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

ScalarArgument ReadScalar(const std::string& type, const Json& value) {
  if (type == "fp64") return {BytesOf(value.get<double>())};
  if (type == "fp32") return {BytesOf(value.get<float>())};
  if (type == "i64") return {BytesOf(value.get<int64_t>())};
  if (type == "u64") return {BytesOf(value.get<uint64_t>())};
  if (type == "i32") return {BytesOf(value.get<int32_t>())};
  if (type == "u32") return {BytesOf(value.get<uint32_t>())};
  if (type == "i16") return {BytesOf(value.get<int16_t>())};
  if (type == "i8" || type == "i1") return {BytesOf(value.get<int8_t>())};
  Fail("unknown scalar type " + type);
}

Dim3 ReadDim3(const Json& json, const char* key) {
  Dim3 out;
  if (!json.contains(key)) return out;
  const Json& list = json.at(key);
  unsigned* fields[] = {&out.x, &out.y, &out.z};
  for (size_t i = 0; i < list.size() && i < 3; ++i) {
    *fields[i] = list[i].get<unsigned>();
  }
  return out;
}

template <typename T, size_t n>
void ReadList(const Json& json, const char* key, T (&out)[n]) {
  const Json& list = json.at(key);
  if (list.size() > n) Fail(std::string(key) + " is longer than 5");
  for (size_t i = 0; i < list.size(); ++i) out[i] = list[i].get<T>();
}

size_t BufferIndex(const Plan& plan, const Json& name) {
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].name == name.get<std::string>()) return i;
  }
  Fail("no buffer is called " + name.dump());
}

size_t CheckedOffset(const Plan& plan, size_t buffer, const Json& json) {
  const size_t offset = json.value("offset", size_t{0});
  if (offset > plan.buffers[buffer].bytes) {
    Fail("offset past the end of buffer " + plan.buffers[buffer].name);
  }
  return offset;
}

Argument ReadArgument(const Plan& plan, const Json& json) {
  if (json.contains("scratch")) {
    return ScratchArgument{json.at("scratch").get<size_t>()};
  }
  if (json.contains("type")) {
    return ReadScalar(json.at("type").get<std::string>(), json.at("value"));
  }
  if (!json.contains("buffer"))
    Fail("an argument needs buffer, type or scratch");
  const size_t buffer = BufferIndex(plan, json.at("buffer"));
  const size_t offset = CheckedOffset(plan, buffer, json);
  if (!json.contains("tensor_map")) return BufferArgument{buffer, offset};
  const Json& map = json.at("tensor_map");
  TensorMapArgument out;
  out.buffer = buffer;
  out.offset = offset;
  out.map.data_type = map.at("data_type").get<int>();
  out.map.swizzle = map.value("swizzle", 0);
  out.map.fill = map.value("fill", 0);
  out.map.rank = static_cast<unsigned>(map.at("shape").size());
  ReadList(map, "shape", out.map.shape);
  ReadList(map, "strides", out.map.strides);
  ReadList(map, "box", out.map.box);
  return out;
}

LaunchRecord ReadLaunch(const Plan& plan, const Json& json) {
  LaunchRecord out;
  out.binary = json.at("binary").get<std::string>();
  out.entry = json.at("entry").get<std::string>();
  out.grid = ReadDim3(json, "grid");
  out.block = ReadDim3(json, "block");
  out.cluster = ReadDim3(json, "cluster");
  out.shared_bytes = json.value("shared_bytes", 0u);
  for (const Json& argument : json.at("arguments")) {
    out.arguments.push_back(ReadArgument(plan, argument));
  }
  return out;
}

Buffer ReadBuffer(const Json& json) {
  Buffer out;
  out.name = json.at("name").get<std::string>();
  out.bytes = json.at("bytes").get<size_t>();
  out.restore = json.value("restore", false);
  out.output = json.value("output", false);
  if (json.contains("fill")) {
    const Json& fill = json.at("fill");
    out.fill.kind = fill.value("kind", out.fill.kind);
    out.fill.dtype = fill.value("dtype", out.fill.dtype);
    out.fill.low = fill.value("low", out.fill.low);
    out.fill.high = fill.value("high", out.fill.high);
    out.fill.file = fill.value("file", out.fill.file);
  }
  if (out.bytes == 0) Fail("buffer " + out.name + " is empty");
  return out;
}

Protocol ReadProtocol(const Json& json) {
  Protocol out;
  const std::string cache = json.value("cache", std::string("cold"));
  if (cache != "cold" && cache != "warm") Fail("cache is cold or warm");
  out.cold_cache = cache == "cold";
  out.min_blocks = json.value("min_blocks", out.min_blocks);
  out.max_blocks = json.value("max_blocks", out.max_blocks);
  out.calls_per_turn = json.value("calls_per_turn", out.calls_per_turn);
  out.control_every = json.value("control_every", out.control_every);
  out.max_seconds = json.value("max_seconds", out.max_seconds);
  out.half_width = json.value("half_width", out.half_width);
  out.warmup_ms = json.value("warmup_ms", out.warmup_ms);
  out.graph_below_us = json.value("graph_below_us", out.graph_below_us);
  out.flush_bytes = json.value("flush_bytes", out.flush_bytes);
  if (out.calls_per_turn < 1 || out.min_blocks < 1 ||
      out.max_blocks < out.min_blocks) {
    Fail("calls_per_turn and min_blocks are at least 1, max_blocks not less");
  }
  return out;
}

}  // namespace

std::string ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) Fail(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Plan ReadPlan(const std::string& path) {
  try {
    const Json json = Json::parse(ReadBytes(path));
    Plan plan;
    plan.device = json.value("device", 0);
    plan.seed = json.value("seed", plan.seed);
    plan.dump = json.value("dump", std::string());
    plan.repeats = json.value("repeats", 1);
    for (const Json& buffer : json.at("buffers")) {
      plan.buffers.push_back(ReadBuffer(buffer));
    }
    for (const Json& arm : json.at("arms")) {
      Arm out;
      out.name = arm.at("name").get<std::string>();
      for (const Json& launch : arm.at("launches")) {
        out.launches.push_back(ReadLaunch(plan, launch));
      }
      plan.arms.push_back(std::move(out));
    }
    if (plan.arms.empty()) Fail("there are no arms");
    if (json.contains("protocol")) {
      plan.protocol = ReadProtocol(json.at("protocol"));
    }
    return plan;
  } catch (const Json::exception& error) {
    Fail(path + ": " + error.what());
  }
}

}  // namespace meter
