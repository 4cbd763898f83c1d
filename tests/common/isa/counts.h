// Looking into a report.
#ifndef KERNELFLEET_TESTS_COMMON_ISA_COUNTS_H_
#define KERNELFLEET_TESTS_COMMON_ISA_COUNTS_H_

#include <gtest/gtest.h>

#include <string_view>

#include "common/isa/scan.h"

namespace kernelfleet::isa {

// The only kernel of a text that reads without a problem.
inline v1::IsaKernel Only(std::string_view text) {
  const v1::IsaReport report = Scan("test", text);
  EXPECT_EQ(report.kernels_size(), 1) << report.ShortDebugString();
  EXPECT_EQ(report.problems_size(), 0) << report.ShortDebugString();
  return report.kernels_size() == 1 ? report.kernels(0) : v1::IsaKernel();
}

struct Counted {
  int all = 0;
  int in_loops = 0;
  friend bool operator==(const Counted&, const Counted&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const Counted& c) {
  return out << c.all << " (" << c.in_loops << " in loops)";
}

// Of any width when `bytes` is negative.
inline Counted Memory(const v1::IsaKernel& kernel, std::string_view space,
                      std::string_view direction, int bytes = -1) {
  Counted sum;
  for (const v1::MemoryCount& row : kernel.memory()) {
    if (row.space() != space || row.direction() != direction) continue;
    if (bytes >= 0 && row.bytes() != bytes) continue;
    sum.all += row.count();
    sum.in_loops += row.in_loops();
  }
  return sum;
}

inline Counted Family(const v1::IsaKernel& kernel, std::string_view name) {
  for (const v1::FamilyCount& family : kernel.families()) {
    if (family.family() == name) return {family.count(), family.in_loops()};
  }
  return {};
}

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_TESTS_COMMON_ISA_COUNTS_H_
