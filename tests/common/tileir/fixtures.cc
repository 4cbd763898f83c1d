#include "tests/common/tileir/fixtures.h"

#include <algorithm>
#include <filesystem>

#include "common/base/file.h"
#include "tests/support/golden.h"

namespace kernelfleet::tileir {

std::string Golden(const std::string& name) {
  return testing::ReadGolden("tileir/" + name);
}

std::vector<std::string> GoldenKernels(const std::string& version) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(
           testing::GoldenPath("tileir/" + version))) {
    if (entry.path().extension() == ".ttir") {
      names.push_back(JoinPath(version, entry.path().filename().string()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string KernelText(std::string_view arguments, std::string_view body) {
  std::string text = "module {\n  tt.func public @k(";
  text += arguments;
  text += ") attributes {noinline = false} {\n";
  text += body;
  text += "    tt.return\n  }\n}\n";
  return text;
}

int CountOf(std::string_view text, std::string_view word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    ++count;
  }
  return count;
}

}  // namespace kernelfleet::tileir
