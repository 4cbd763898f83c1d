#include "common/tileir/lower.h"

#include <set>
#include <string>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/tileir/rules.h"
#include "common/tileir/ttir_reader.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/tileir/fixtures.h"
#include "tests/support/golden.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::tileir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string Refusals(const v1::TileIrKernel& kernel) {
  std::string out;
  for (const auto& finding : kernel.unsupported()) {
    out += fmt::format("{} at {}:{}: {}\n", finding.op(), finding.file(),
                       finding.line(), finding.reason());
  }
  return out;
}

v1::TileIrKernel Lowered(const std::string& text,
                         const LowerOptions& options = {}) {
  const auto kernel = Lower(text, options);
  EXPECT_TRUE(kernel.ok()) << Text(kernel.status()) << "\n" << text;
  return kernel.ok() ? *kernel : v1::TileIrKernel();
}

TEST(Lower, VectorAddBecomesTwoLoadsAndAStoreWithoutTokens) {
  const v1::TileIrKernel kernel = Lowered(Golden("3.9/add.ttir"));
  EXPECT_EQ(Refusals(kernel), "");
  EXPECT_EQ(kernel.entry(), "add");
  EXPECT_EQ(kernel.accesses(), 3);
  EXPECT_EQ(kernel.ordered_accesses(), 0);
  EXPECT_THAT(kernel.bytecode(), StartsWith(std::string("\x7FTileIR\0", 8)));
  EXPECT_THAT(kernel.text(), HasSubstr("assume %0 div_by<16>"));
}

TEST(Lower, VectorAddSaysWhichBuffersMustBeDistinct) {
  const v1::TileIrKernel kernel = Lowered(Golden("3.9/add.ttir"));
  ASSERT_EQ(kernel.arguments_size(), 4);
  EXPECT_TRUE(kernel.arguments(0).read());
  EXPECT_FALSE(kernel.arguments(0).written());
  EXPECT_TRUE(kernel.arguments(2).written());
  EXPECT_EQ(kernel.arguments(3).type(), "i32");
  ASSERT_EQ(kernel.distinct_size(), 1);
  EXPECT_THAT(kernel.distinct(0).written(), ElementsAre(2));
  EXPECT_THAT(kernel.distinct(0).others(), ElementsAre(0, 1));
}

TEST(Lower, BuffersThatMayOverlapAreOrderedAndNeedNoCheck) {
  LowerOptions options;
  options.order = BufferOrder::kMayOverlap;
  const v1::TileIrKernel kernel = Lowered(Golden("3.9/add.ttir"), options);
  EXPECT_EQ(kernel.ordered_accesses(), 1);
  EXPECT_EQ(kernel.distinct_size(), 0);
}

TEST(Lower, AHostDescriptorIsABasePointerWithWhatItPromises) {
  const v1::TileIrKernel kernel =
      Lowered(Golden("3.9/matmul_host_descriptors.ttir"));
  EXPECT_EQ(Refusals(kernel), "");
  ASSERT_EQ(kernel.arguments_size(), 18);
  EXPECT_EQ(kernel.arguments(0).kind(), v1::TileIrArgument::descriptor_base);
  EXPECT_EQ(kernel.arguments(0).divisor(), 16);
  EXPECT_EQ(kernel.arguments(2).kind(), v1::TileIrArgument::descriptor_shape);
  EXPECT_EQ(kernel.arguments(2).dimension(), 1);
  EXPECT_EQ(kernel.arguments(3).kind(), v1::TileIrArgument::descriptor_stride);
  EXPECT_EQ(kernel.arguments(3).divisor(), 8);
  EXPECT_EQ(kernel.arguments(3).maximum(), INT32_MAX);
  EXPECT_EQ(kernel.arguments(4).equals(), 1);
  EXPECT_TRUE(kernel.arguments(10).written());
}

TEST(Lower, DescriptorsOfHostAndKernelBecomeTheSameViews) {
  for (const char* name :
       {"3.9/matmul_host_descriptors.ttir", "3.9/matmul_descriptors.ttir"}) {
    const std::string text = Lowered(Golden(name)).text();
    EXPECT_EQ(CountOf(text, "make_tensor_view"), 3) << name;
    EXPECT_EQ(CountOf(text, "strides=[?,1]>\n"), 3) << name;
    EXPECT_EQ(CountOf(text, " load_view_tko"), 2) << name;
    EXPECT_EQ(CountOf(text, " store_view_tko"), 1) << name;
  }
}

TEST(Lower, DescriptorsAreRefusedWhereViewsWouldRoundTheOffset) {
  LowerOptions options;
  options.version_minor = 2;
  const v1::TileIrKernel kernel =
      Lowered(Golden("3.9/matmul_descriptors.ttir"), options);
  EXPECT_THAT(Refusals(kernel),
              HasSubstr("tt.descriptor_load at kernels.py:60: descriptors at "
                        "any offset need bytecode 13.3"));
  EXPECT_THAT(kernel.bytecode(), IsEmpty());
}

TEST(Lower, EveryGoldenKernelOfTheOldestAndTheNewestTritonIsCovered) {
  for (const char* version : {"3.4", "3.9"}) {
    for (const std::string& name : GoldenKernels(version)) {
      for (const BufferOrder order :
           {BufferOrder::kDistinct, BufferOrder::kMayOverlap}) {
        LowerOptions options;
        options.order = order;
        const v1::TileIrKernel kernel = Lowered(Golden(name), options);
        EXPECT_EQ(Refusals(kernel), "") << name;
        EXPECT_FALSE(kernel.bytecode().empty()) << name;
      }
    }
  }
}

TEST(Lower, TheTextOfEveryGoldenKernelIsTheStoredOne) {
  for (const std::string& name : GoldenKernels("3.9")) {
    const std::string stem = name.substr(4, name.size() - 9);
    kernelfleet::testing::ExpectGolden(Lowered(Golden(name)).text(),
                                       "tileir/expected/" + stem + ".txt");
  }
}

TEST(Lower, TheGenericFormLowersToTheSameBytes) {
  for (const std::string& name : GoldenKernels("generic")) {
    const std::string file = name.substr(name.rfind('/') + 1);
    v1::TileIrKernel pretty = Lowered(Golden("3.9/" + file));
    v1::TileIrKernel generic = Lowered(Golden(name));
    EXPECT_EQ(Refusals(generic), "") << name;
    const auto body = [](const std::string& text) {
      return text.substr(text.find('\n'));
    };
    EXPECT_EQ(body(pretty.text()), body(generic.text())) << name;
  }
}

void CollectNames(const ttir::Region& region, std::set<std::string>* names) {
  for (const ttir::Block& block : region.blocks) {
    for (const ttir::Op& op : block.ops) {
      names->insert(std::string(op.name));
      for (const ttir::Region& inner : op.regions) CollectNames(inner, names);
    }
  }
}

// Operations that Triton's own front end never prints after its TTIR passes,
// or only in versions between the oldest and the newest; their rules are
// tested below on text of our own.
const std::set<std::string> kNotFromTriton = {
    "arith.bitcast",    "arith.negf",     "arith.ceildivsi", "arith.ceildivui",
    "arith.floordivsi", "arith.remf",     "math.absi",       "math.atan2",
    "math.cosh",        "math.powf",      "math.sinh",       "math.tan",
    "math.tanh",        "tt.expand_dims", "tt.unsplat",      "ub.poison"};

TEST(Lower, TheGoldenKernelsUseEveryOperationOfTheTable) {
  std::set<std::string> names;
  for (const char* version : {"3.4", "3.9"}) {
    for (const std::string& name : GoldenKernels(version)) {
      const std::string text = Golden(name);
      ASSERT_OK_AND_ASSIGN(const ttir::Module module, ttir::Read(text));
      for (const ttir::Function& function : module.functions) {
        CollectNames(function.body, &names);
      }
    }
  }
  for (const Rule* rule : AllRules()) {
    const std::string name(rule->name);
    EXPECT_TRUE(names.contains(name) || kNotFromTriton.contains(name)) << name;
  }
}

TEST(Lower, OperationsThatTritonSeldomPrintsLowerToTheirCounterparts) {
  const std::string text = KernelText(
      "%p: !tt.ptr<f32>, %q: !tt.ptr<i32>",
      "    %u = ub.poison : f32\n"
      "    %x = tt.load %p : !tt.ptr<f32>\n"
      "    %i = tt.load %q : !tt.ptr<i32>\n"
      "    %s = tt.splat %x : f32 -> tensor<1xf32>\n"
      "    %y = tt.unsplat %s : tensor<1xf32>\n"
      "    %a = math.atan2 %x, %y : f32\n"
      "    %b = math.cosh %a : f32\n"
      "    %c = math.powf %b, %x : f32\n"
      "    %d = math.sinh %c : f32\n"
      "    %e = math.tan %d : f32\n"
      "    %f = math.tanh %e : f32\n"
      "    %v = arith.negf %u : f32\n"
      "    %g = arith.remf %f, %v : f32\n"
      "    %h = arith.bitcast %g : f32 to i32\n"
      "    %j = arith.ceildivsi %h, %i : i32\n"
      "    %k = arith.ceildivui %j, %i : i32\n"
      "    %l = arith.floordivsi %k, %i : i32\n"
      "    %m = math.absi %l : i32\n"
      "    %n = tt.expand_dims %s {axis = 0 : i32} : tensor<1xf32> -> "
      "tensor<1x1xf32>\n"
      "    tt.store %q, %m : !tt.ptr<i32>\n");
  const v1::TileIrKernel kernel = Lowered(text);
  EXPECT_EQ(Refusals(kernel), "");
  for (const char* word :
       {" atan2 ", " cosh ", " pow ", " negf ", " sinh ", " tan ", " tanh ",
        " remf ", " bitcast ", "rounding=positive_inf", "rounding=negative_inf",
        "sign=unsigned", " absi ", " : tile<1x1xf32>"}) {
    EXPECT_THAT(kernel.text(), HasSubstr(word));
  }
}

TEST(Lower, EverythingUncoveredIsNamedOnceWithItsLine) {
  const std::string text =
      "module {\n"
      "  tt.func public @k(%p: !tt.ptr<i32>) {\n"
      "    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : "
      "tensor<64xi32> loc(#loc1)\n"
      "    %h = tt.histogram %r : tensor<64xi32> -> tensor<16xi32> "
      "loc(callsite(#loc2 at #loc3))\n"
      "    %s = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>\n"
      "    %d = arith.addi %h, %h : tensor<16xi32>\n"
      "    tt.store %s, %d : tensor<16x!tt.ptr<i32>>\n"
      "    %e = tt.gather %r[%r] {axis = 1 : i32} : (tensor<64xi32>, "
      "tensor<64xi32>) -> tensor<64xi32> loc(#loc1)\n"
      "    tt.return\n"
      "  }\n"
      "}\n"
      "#loc1 = loc(\"k.py\":40:1)\n"
      "#loc2 = loc(\"/site/triton/language/core.py\":9:1)\n"
      "#loc3 = loc(\"h\"(#loc4))\n"
      "#loc4 = loc(\"k.py\":41:7)\n";
  EXPECT_EQ(Refusals(Lowered(text)),
            "tt.histogram at k.py:41: no counterpart in Tile IR\n"
            "tt.gather at k.py:40: malformed: shapes that do not gather\n");
}

TEST(Lower, ARoundingThatTileIrLacksIsRefused) {
  const v1::TileIrKernel kernel = Lowered(
      KernelText("%p: !tt.ptr<f16>",
                 "    %x = arith.constant 1.0 : f32\n"
                 "    %y = tt.fp_to_fp %x, rounding = rtz : f32 -> f16\n"
                 "    tt.store %p, %y : !tt.ptr<f16>\n"));
  EXPECT_THAT(Refusals(kernel), HasSubstr("rounding rtz"));
}

TEST(Lower, MalformedOperationsAreRefusedNotTrusted) {
  for (const char* body :
       {"    %a = arith.constant 1 : i32\n"
        "    %b = arith.constant 1 : i64\n"
        "    %c = arith.addi %a, %b : i32\n",
        "    %c = tt.make_range {end = 8 : i32, start = 0 : i32} : "
        "tensor<16xi32>\n",
        "    %c = tt.get_program_id w : i64\n"
        "    %d = tt.splat %c : i64 -> tensor<8xi32>\n",
        "    %v = arith.constant dense<1> : tensor<8xi32>\n"
        "    tt.store %p, %v : !tt.ptr<i32>\n",
        "    tt.store\n", "    tt.load\n", "    scf.if %p {\n    }\n",
        "    %v = arith.constant dense<[1, 2]> : tensor<8xi32>\n"}) {
    const v1::TileIrKernel kernel =
        Lowered(KernelText("%p: !tt.ptr<i32>", body));
    EXPECT_GT(kernel.unsupported_size(), 0) << body;
    EXPECT_THAT(kernel.bytecode(), IsEmpty()) << body;
  }
}

TEST(Lower, TextThatIsNoTtirIsRefusedWithItsPlace) {
  const auto kernel = Lower("module {\n  llvm.func @f()\n}\n", LowerOptions{});
  EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Text(kernel.status()), HasSubstr("TTIR line 2, column 3"));
}

TEST(Lower, OptionsOutOfRangeAreRefused) {
  LowerOptions options;
  options.occupancy = 33;
  EXPECT_EQ(Lower(Golden("3.9/add.ttir"), options).status().code(),
            absl::StatusCode::kInvalidArgument);
  options = LowerOptions{};
  options.version_minor = 6;
  EXPECT_EQ(Lower(Golden("3.9/add.ttir"), options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Lower, HintsOfTheEntryArePrintedAndChangeTheBytes) {
  LowerOptions options;
  const std::string plain = Lowered(Golden("3.9/add.ttir"), options).bytecode();
  options.arch = "sm_90";
  options.num_ctas = 2;
  options.occupancy = 4;
  options.num_worker_warps = 8;
  const v1::TileIrKernel kernel = Lowered(Golden("3.9/add.ttir"), options);
  EXPECT_NE(kernel.bytecode(), plain);
  EXPECT_THAT(kernel.text(), HasSubstr("num_cta_in_cga=2 occupancy=4 "
                                       "num_worker_warps_per_cta=8"));
  EXPECT_THAT(kernel.bytecode(), HasSubstr("sm_90"));
}

TEST(Lower, ALoopsStagesBecomeTheLatencyOfItsLoads) {
  const v1::TileIrKernel kernel = Lowered(Golden("3.9/softmax.ttir"));
  EXPECT_EQ(CountOf(kernel.text(), "latency=2"), 1);
  EXPECT_THAT(Lowered(Golden("3.9/add.ttir")).text(),
              Not(HasSubstr("latency")));
}

TEST(Lower, ACombinerWithoutAnIdentityIsGuarded) {
  const std::string text = Lowered(Golden("3.9/scans.ttir")).text();
  // (a1 * a2, b1 * a2 + b2) takes a validity operand; sum and product do not.
  EXPECT_EQ(CountOf(text, "i1: 0x0]"), 1);
  EXPECT_EQ(CountOf(text, " scan "), 3);
}

}  // namespace
}  // namespace kernelfleet::tileir
