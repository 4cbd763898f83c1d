// How long the lowering of TTIR to Tile IR takes, one thread, text in memory.
//
//   lower_bench NAME=FILE.ttir…   one JSON object: {"NAME_ms": median}
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/tileir/lower.h"

namespace {

constexpr int kRuns = 301;

// Milliseconds, the median run.
double Median(const std::string& text) {
  std::vector<double> samples;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const auto kernel = kernelfleet::tileir::Lower(text, {});
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    if (!kernel.ok() || kernel->bytecode().empty()) return -1;
    samples.push_back(took.count());
  }
  std::nth_element(samples.begin(), samples.begin() + kRuns / 2, samples.end());
  return samples[kRuns / 2];
}

}  // namespace

int main(int argc, char** argv) {
  std::string json;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    if (equals == std::string::npos) return 2;
    const auto text = kernelfleet::ReadFile(argument.substr(equals + 1));
    if (!text.ok()) {
      std::fprintf(stderr, "%s\n", kernelfleet::Text(text.status()).c_str());
      return 1;
    }
    const double ms = Median(*text);
    if (ms < 0) {
      std::fprintf(stderr, "%s does not lower\n", argument.c_str());
      return 1;
    }
    char part[128];
    std::snprintf(part, sizeof(part), "%s\"%s_ms\": %.3f",
                  json.empty() ? "" : ", ", argument.substr(0, equals).c_str(),
                  ms);
    json += part;
  }
  std::printf("{%s}\n", json.c_str());
  return 0;
}
