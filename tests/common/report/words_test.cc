#include "common/report/words.h"

#include <gtest/gtest.h>

#include "tests/support/probe_records.h"

namespace kernelfleet::report {
namespace {

TEST(WordsTest, DurationsReadAsPeopleSayThem) {
  EXPECT_EQ(DurationText(0.0521), "52 ms");
  EXPECT_EQ(DurationText(0.9996), "1.0 s");
  EXPECT_EQ(DurationText(1.94), "1.9 s");
  EXPECT_EQ(DurationText(59.97), "1 min 0 s");
  EXPECT_EQ(DurationText(200), "3 min 20 s");
  EXPECT_EQ(DurationText(2 * 86400 + 4 * 3600), "2 d 4 h");
}

TEST(WordsTest, BytesUseTheUnitThatIsExact) {
  EXPECT_EQ(BytesText(48), "48 B");
  EXPECT_EQ(BytesText(49152), "48 KiB");
  EXPECT_EQ(BytesText(98328), "96.0 KiB");
  EXPECT_EQ(BytesText(2 << 20), "2 MiB");
}

TEST(WordsTest, RegistersNameTheirKindOnAmd) {
  v1::Resources resources;
  EXPECT_EQ(RegistersText(resources), "");
  resources.set_registers(32);
  EXPECT_EQ(RegistersText(resources), "32");
  resources.set_sgprs(20);
  EXPECT_EQ(RegistersText(resources), "32 v, 20 s");
  resources.set_agprs(4);
  EXPECT_EQ(RegistersText(resources), "32 v, 4 a, 20 s");
}

TEST(WordsTest, MemoryIsWidestFirstWithoutSpillsAndArguments) {
  v1::IsaKernel code;
  const auto add = [&](const char* space, int bytes, int count, bool spill) {
    v1::MemoryCount& memory = *code.add_memory();
    memory.set_space(space);
    memory.set_direction("load");
    memory.set_bytes(bytes);
    memory.set_count(count);
    memory.set_spill(spill);
  };
  add("buffer", 4, 1, false);
  add("global", 4, 3, false);
  add("global", 16, 2, false);
  add("buffer", 16, 500, true);
  add("kernarg", 8, 9, false);
  EXPECT_EQ(MemoryText(code, "load"),
            "2 × global 16 B, 3 × global 4 B, 1 × buffer 4 B");
  EXPECT_EQ(MemoryText(code, "store"), "");
}

TEST(WordsTest, MatrixFamiliesAreNamedAndOthersAreNot) {
  v1::IsaKernel code;
  code.add_families()->set_family("barrier");
  code.mutable_families(0)->set_count(4);
  code.add_families()->set_family("mfma");
  code.mutable_families(1)->set_count(16);
  EXPECT_EQ(MatrixText(code), "16 × mfma");
}

}  // namespace
}  // namespace kernelfleet::report
