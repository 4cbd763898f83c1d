#include <gtest/gtest.h>

#include "common/isa/scan.h"

namespace kernelfleet::isa {
namespace {

v1::IsaKernel With(std::string_view space, int loads, int registers) {
  v1::IsaKernel kernel;
  kernel.set_dialect("amdgcn");
  kernel.set_arch("gfx942");
  v1::MemoryCount& memory = *kernel.add_memory();
  memory.set_space(std::string(space));
  memory.set_direction("load");
  memory.set_bytes(16);
  memory.set_count(loads);
  kernel.mutable_resources()->set_registers(registers);
  return kernel;
}

TEST(DifferenceTest, TrafficThatMovedIsOneChange) {
  const v1::IsaDifference difference =
      Compare(With("global", 16, 24), With("buffer", 16, 20));
  EXPECT_EQ(difference.sentence(),
            "global_load_dwordx4 16 → buffer_load_dwordx4 16; registers 24 → "
            "20");
  ASSERT_EQ(difference.changes_size(), 2);
  EXPECT_EQ(difference.changes(0).before_name(), "global_load_dwordx4");
  EXPECT_EQ(difference.changes(0).after(), 16);
}

TEST(DifferenceTest, EqualKernelsHaveNoChange) {
  const v1::IsaDifference difference =
      Compare(With("buffer", 2, 9), With("buffer", 2, 9));
  EXPECT_EQ(difference.sentence(), "no change");
  EXPECT_EQ(difference.changes_size(), 0);
}

TEST(DifferenceTest, AmbiguousTrafficIsNotPaired) {
  v1::IsaKernel before = With("global", 4, 9);
  v1::IsaKernel after = With("buffer", 3, 9);
  *after.add_memory() = after.memory(0);
  after.mutable_memory(1)->set_space("flat");
  EXPECT_EQ(Compare(before, after).sentence(),
            "4 global_load_dwordx4 vanished; 3 buffer_load_dwordx4 appeared; "
            "3 flat_load_dwordx4 appeared");
}

TEST(DifferenceTest, FamiliesAndOnlyResourcesThatBothState) {
  v1::IsaKernel before = With("global", 4, 9);
  v1::IsaKernel after = With("global", 4, 9);
  v1::FamilyCount& family = *after.add_families();
  family.set_family("mfma");
  family.set_count(8);
  after.mutable_resources()->set_agprs(16);
  EXPECT_EQ(Compare(before, after).sentence(), "mfma 0 → 8");
}

}  // namespace
}  // namespace kernelfleet::isa
