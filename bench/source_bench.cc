// Times reading and classifying whole packages against a bare parse of the same
// text. With --print, one line per kernel instead.
//
// usage: source_bench [--print] FILE_WITH_PATHS
#include <time.h>
#include <tree_sitter/api.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/kernel/analyze.h"
#include "fmt/format.h"

extern "C" const TSLanguage* tree_sitter_python();

namespace {

using kernelfleet::kernel::Analyze;
using kernelfleet::kernel::ClassifyAll;

struct SourceText {
  std::string path;
  std::string text;
};

constexpr int kRounds = 5;

// Processor time: both arms are one thread, and a busy machine does not count.
double ProcessSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

template <typename Function>
double SecondsOf(Function&& function) {
  const double start = ProcessSeconds();
  function();
  return ProcessSeconds() - start;
}

void Print(const std::vector<SourceText>& files) {
  for (const SourceText& file : files) {
    const auto facts = Analyze(file.path, file.text);
    const auto classes = ClassifyAll(facts);
    for (int i = 0; i < classes.kernels_size(); ++i) {
      const auto& kernel = classes.kernels(i);
      fmt::print("{}:{}\t{}\t{}\t{:.2f}\t{}\t{}\n", file.path, kernel.line(),
                 kernel.kernel(), kernel.classification(), kernel.confidence(),
                 facts.kernels(i).is_entry() ? "entry" : "helper",
                 kernel.indicators().empty() ? "" : kernel.indicators(0));
    }
  }
}

void BareParse(const std::vector<SourceText>& files) {
  TSParser* parser = ts_parser_new();
  ts_parser_set_language(parser, tree_sitter_python());
  for (const SourceText& file : files) {
    ts_tree_delete(
        ts_parser_parse_string(parser, nullptr, file.text.data(),
                               static_cast<uint32_t>(file.text.size())));
  }
  ts_parser_delete(parser);
}

// The number of kernels.
int ReadAll(const std::vector<SourceText>& files) {
  int kernels = 0;
  for (const SourceText& file : files) {
    kernels += ClassifyAll(Analyze(file.path, file.text)).kernels_size();
  }
  return kernels;
}

int Measure(const std::vector<SourceText>& files) {
  size_t bytes = 0;
  for (const SourceText& file : files) bytes += file.text.size();
  int kernels = 0;
  double bare = 1e30;
  double whole = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    bare = std::min(bare, SecondsOf([&] { BareParse(files); }));
    whole = std::min(whole, SecondsOf([&] { kernels = ReadAll(files); }));
  }
  const double megabytes = static_cast<double>(bytes) / 1e6;
  fmt::print(
      "{{\"mb_per_s\": {:.2f}, \"vs_bare_parse\": {:.3f}, "
      "\"bare_mb_per_s\": {:.2f}, \"files\": {}, \"kernels\": {}}}\n",
      megabytes / whole, whole / bare, megabytes / bare, files.size(), kernels);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool print = argc == 3 && std::string_view(argv[1]) == "--print";
  if (argc != 2 && !print) {
    fmt::print(stderr, "usage: source_bench [--print] FILE_WITH_PATHS\n");
    return 2;
  }
  const auto list = kernelfleet::ReadFile(argv[argc - 1]);
  if (!list.ok()) {
    fmt::print(stderr, "{}\n", kernelfleet::Text(list.status()));
    return 1;
  }
  std::vector<SourceText> files;
  for (std::string_view path : kernelfleet::Split(*list, '\n')) {
    if (path.empty()) continue;
    auto text = kernelfleet::ReadFile(std::string(path));
    if (!text.ok()) {
      fmt::print(stderr, "{}\n", kernelfleet::Text(text.status()));
      return 1;
    }
    files.push_back({std::string(path), *std::move(text)});
  }
  if (!print) return Measure(files);
  Print(files);
  return 0;
}
