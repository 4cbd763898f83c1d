// Golden files: real inputs and the answers expected for them, both under
// tests/golden/<room>/. KERNELFLEET_UPDATE_GOLDEN=1 rewrites the answers; read
// the diff before committing it.
//
//   const std::string text = ReadGolden("isa/inputs/add.sm_90.ptx");
//   ExpectGolden(Json(Scan(…, text)), "isa/expected/add.sm_90.ptx.json");
#ifndef KERNELFLEET_TESTS_SUPPORT_GOLDEN_H_
#define KERNELFLEET_TESTS_SUPPORT_GOLDEN_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelfleet::testing {

// Absolute path of a file under tests/golden/.
inline std::string GoldenPath(const std::string& name) {
  const char* root = std::getenv("KERNELFLEET_SOURCE_DIR");
  return JoinPath(root != nullptr ? root : ".", "tests/golden/" + name);
}

// The file's text; the test fails when it cannot be read.
inline std::string ReadGolden(const std::string& name) {
  auto text = ReadFile(GoldenPath(name));
  EXPECT_TRUE(text.ok()) << Text(text.status());
  return text.ok() ? *std::move(text) : std::string();
}

// The first line where the texts part, for the failure message.
inline std::string FirstDifference(const std::string& actual,
                                   const std::string& expected) {
  std::istringstream a(actual), e(expected);
  std::string actual_line, expected_line;
  for (int line = 1;; ++line) {
    const bool more_actual = static_cast<bool>(std::getline(a, actual_line));
    const bool more_expected =
        static_cast<bool>(std::getline(e, expected_line));
    if (!more_actual && !more_expected) return "the line ends differ";
    if (more_actual == more_expected && actual_line == expected_line) continue;
    return "line " + std::to_string(line) +
           "\n  expected: " + (more_expected ? expected_line : "(end)") +
           "\n  actual:   " + (more_actual ? actual_line : "(end)");
  }
}

inline void ExpectGolden(const std::string& actual, const std::string& name) {
  const std::string path = GoldenPath(name);
  const char* update = std::getenv("KERNELFLEET_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    const absl::Status made =
        MakeDirectories(path.substr(0, path.find_last_of('/')));
    EXPECT_TRUE(made.ok()) << Text(made);
    const absl::Status written = WriteFileAtomic(path, actual);
    EXPECT_TRUE(written.ok()) << Text(written);
    return;
  }
  const auto expected = ReadFile(path);
  ASSERT_TRUE(expected.ok()) << Text(expected.status());
  EXPECT_TRUE(actual == *expected)
      << name << " differs at " << FirstDifference(actual, *expected)
      << "\n  KERNELFLEET_UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace kernelfleet::testing

#endif  // KERNELFLEET_TESTS_SUPPORT_GOLDEN_H_
