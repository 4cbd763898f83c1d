// How fast machine code is read: one thread, text already in memory.
//
//   isa_bench FILE…   prints MB/s per dialect, then one JSON object
//
// The files of each dialect are repeated until they make 100 MB of one text;
// the mix holds all files. Best of three runs, in processor time of the thread:
// a core's rate, whoever else is on the machine.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/isa/scan.h"

namespace {

constexpr size_t kBytes = 100'000'000;

using kernelfleet::isa::Dialect;

const char* NameOf(Dialect dialect) {
  switch (dialect) {
    case Dialect::kPtx:
      return "ptx";
    case Dialect::kSass:
      return "sass";
    case Dialect::kAmdgcn:
      return "amdgcn";
    case Dialect::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string Repeated(const std::string& text) {
  std::string result;
  while (!text.empty() && result.size() < kBytes) result += text;
  return result;
}

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

// Seconds of the best run.
double Seconds(const std::string& text, int& kernels) {
  double best = 1e9;
  for (int run = 0; run < 3; ++run) {
    const double start = ThreadSeconds();
    const auto report = kernelfleet::isa::Scan("bench", text);
    best = std::min(best, ThreadSeconds() - start);
    kernels = report.kernels_size();
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> by_dialect;
  size_t read = 0;
  for (int i = 1; i < argc; ++i) {
    auto text = kernelfleet::ReadFile(argv[i]);
    if (!text.ok()) {
      std::fprintf(stderr, "%s\n", kernelfleet::Text(text.status()).c_str());
      return 1;
    }
    read += text->size();
    by_dialect[NameOf(kernelfleet::isa::DetectDialect(*text))] += *text;
  }
  double bytes = 0;
  double seconds = 0;
  std::string json;
  for (const auto& [dialect, text] : by_dialect) {
    if (dialect == "unknown") continue;
    const std::string big = Repeated(text);
    int kernels = 0;
    const double took = Seconds(big, kernels);
    const double mb = static_cast<double>(big.size()) / 1e6;
    std::printf("%-8s %8.1f MB  %6d kernels  %8.1f MB/s\n", dialect.c_str(), mb,
                kernels, mb / took);
    // Weighted as the dialects are among the files.
    const double share = static_cast<double>(text.size());
    bytes += share;
    seconds += share * took / (mb * 1e6);
    char part[64];
    std::snprintf(part, sizeof part, ", \"%s_mb_per_s\": %.1f", dialect.c_str(),
                  mb / took);
    json += part;
  }
  if (seconds == 0) {
    std::fprintf(stderr, "no machine code among the files\n");
    return 1;
  }
  std::printf("{\"mb_per_s\": %.1f%s, \"input_mb\": %.1f}\n",
              bytes / seconds / 1e6, json.c_str(),
              static_cast<double>(read) / 1e6);
  return 0;
}
