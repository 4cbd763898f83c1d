// Kernels that the tests of the lowering share.
#ifndef KERNELFLEET_TESTS_COMMON_TILEIR_FIXTURES_H_
#define KERNELFLEET_TESTS_COMMON_TILEIR_FIXTURES_H_

#include <string>
#include <string_view>
#include <vector>

namespace kernelfleet::tileir {

// The text of a file under tests/golden/tileir; fails the test when it cannot
// be read.
std::string Golden(const std::string& name);
// "3.9/add.ttir" …: every TTIR under the folder of one Triton version, sorted.
std::vector<std::string> GoldenKernels(const std::string& version);

// A module of one public function @k with these arguments and body; the body's
// tt.return is added.
std::string KernelText(std::string_view arguments, std::string_view body);

// How often `word` stands in `text`.
int CountOf(std::string_view text, std::string_view word);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_TESTS_COMMON_TILEIR_FIXTURES_H_
