// Which accesses wait for which.
#include <string>

#include "common/base/status.h"
#include "common/tileir/lower.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/tileir/fixtures.h"

namespace kernelfleet::tileir {
namespace {

constexpr std::string_view kTwo = "%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32";

v1::TileIrKernel Lowered(const std::string& body,
                         BufferOrder order = BufferOrder::kDistinct) {
  LowerOptions options;
  options.order = order;
  const auto kernel = Lower(KernelText(kTwo, body), options);
  EXPECT_TRUE(kernel.ok()) << Text(kernel.status());
  if (!kernel.ok()) return {};
  EXPECT_EQ(kernel->unsupported_size(), 0) << kernel->DebugString();
  return *kernel;
}

// "%9, %10 = load_ptr_tko %0, %4" → the operands of the nth such operation.
std::string OperandsOf(const std::string& text, const std::string& name,
                       int which) {
  size_t at = 0;
  for (int i = 0; i <= which; ++i) {
    at = text.find(" " + name + " ", at + 1);
    if (at == std::string::npos) return "absent";
  }
  const size_t start = at + name.size() + 2;
  size_t end = text.find_first_of("\n", start);
  end = std::min(end, text.find(" :", start));
  return text.substr(start, end - start);
}

TEST(Order, ALoadWaitsForAStoreToTheSameArgument) {
  const std::string text = Lowered(
                               "    %c = arith.constant 1.0 : f32\n"
                               "    tt.store %p, %c : !tt.ptr<f32>\n"
                               "    %x = tt.load %p : !tt.ptr<f32>\n"
                               "    tt.store %q, %x : !tt.ptr<f32>\n")
                               .text();
  // Values: 0..2 arguments, 3 constant, 4 the store's token.
  EXPECT_EQ(OperandsOf(text, "load_ptr_tko", 0), "%0, %4");
  EXPECT_EQ(OperandsOf(text, "store_ptr_tko", 1), "%1, %5");
}

TEST(Order, AStoreWaitsForLoadsAndStoresBeforeIt) {
  const std::string text = Lowered(
                               "    %x = tt.load %p : !tt.ptr<f32>\n"
                               "    %y = tt.load %p : !tt.ptr<f32>\n"
                               "    tt.store %p, %x : !tt.ptr<f32>\n"
                               "    tt.store %p, %y : !tt.ptr<f32>\n")
                               .text();
  EXPECT_EQ(CountOf(text, "join_tokens %4, %6"), 1) << text;
  EXPECT_EQ(CountOf(text, "make_token"), 0);
}

TEST(Order, LoadsAloneAndOtherArgumentsTakeNoToken) {
  const v1::TileIrKernel kernel = Lowered(
      "    %x = tt.load %p : !tt.ptr<f32>\n"
      "    %y = tt.load %p : !tt.ptr<f32>\n"
      "    %z = arith.addf %x, %y : f32\n"
      "    tt.store %q, %z : !tt.ptr<f32>\n");
  EXPECT_EQ(kernel.ordered_accesses(), 0);
}

constexpr std::string_view kLoop =
    "    %c0 = arith.constant 0 : i32\n"
    "    %c1 = arith.constant 1 : i32\n"
    "    %f = arith.constant 0.0 : f32\n";

TEST(Order, ALoopOfLoadsOfWhatIsNeverWrittenCarriesNoToken) {
  const std::string text =
      Lowered(std::string(kLoop) +
              "    %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %f) -> "
              "(f32) : "
              "i32 {\n"
              "      %r = tt.addptr %p, %i : !tt.ptr<f32>, i32\n"
              "      %x = tt.load %r : !tt.ptr<f32>\n"
              "      %b = arith.addf %a, %x : f32\n"
              "      scf.yield %b : f32\n"
              "    }\n"
              "    tt.store %q, %s : !tt.ptr<f32>\n")
          .text();
  EXPECT_EQ(CountOf(text, "make_token"), 0) << text;
  EXPECT_EQ(CountOf(text, "join_tokens"), 0);
}

TEST(Order, ALoopThatLoadsAndStoresOneArgumentCarriesAChain) {
  const std::string text =
      Lowered(std::string(kLoop) +
              "    scf.for %i = %c0 to %n step %c1 : i32 {\n"
              "      %r = tt.addptr %p, %i : !tt.ptr<f32>, i32\n"
              "      %x = tt.load %r : !tt.ptr<f32>\n"
              "      %o = tt.addptr %p, %c1 : !tt.ptr<f32>, i32\n"
              "      tt.store %o, %x : !tt.ptr<f32>\n"
              "    }\n")
          .text();
  EXPECT_EQ(CountOf(text, "make_token"), 1) << text;
  EXPECT_EQ(CountOf(text, ": token) {"), 1) << text;
}

// for %i: %p[%i * SCALE + 0..63] = f(…) through `body`.
std::string StridedLoop(const std::string& scale, const std::string& body) {
  return std::string(kLoop) + "    %w = arith.constant " + scale +
         " : i32\n"
         "    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : "
         "tensor<64xi32>\n"
         "    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
         "    scf.for %i = %c0 to %n step %c1 : i32 {\n"
         "      %m = arith.muli %i, %w : i32\n"
         "      %b = tt.splat %m : i32 -> tensor<64xi32>\n"
         "      %o = arith.addi %b, %r : tensor<64xi32>\n"
         "      %a = tt.addptr %s, %o : tensor<64x!tt.ptr<f32>>, "
         "tensor<64xi32>\n" +
         body + "    }\n";
}

constexpr std::string_view kInPlace =
    "      %x = tt.load %a : tensor<64x!tt.ptr<f32>>\n"
    "      tt.store %a, %x : tensor<64x!tt.ptr<f32>>\n";

TEST(Order, IterationsThatTouchDifferentMemoryDoNotWaitForEachOther) {
  const v1::TileIrKernel kernel =
      Lowered(StridedLoop("64", std::string(kInPlace)));
  EXPECT_EQ(CountOf(kernel.text(), "make_token"), 0) << kernel.text();
  // The store still waits for the load of its own iteration.
  EXPECT_EQ(kernel.ordered_accesses(), 1);
}

TEST(Order, WhatFollowsALoopOfDisjointIterationsWaitsForAllOfThem) {
  const v1::TileIrKernel kernel =
      Lowered(StridedLoop("64", std::string(kInPlace)) +
              "    %y = tt.load %p : !tt.ptr<f32>\n"
              "    tt.store %q, %y : !tt.ptr<f32>\n");
  EXPECT_EQ(kernel.ordered_accesses(), 2) << kernel.text();
  EXPECT_EQ(CountOf(kernel.text(), "make_token"), 1) << kernel.text();
}

TEST(Order, IterationsThatOverlapByOneElementWait) {
  const v1::TileIrKernel kernel =
      Lowered(StridedLoop("63", std::string(kInPlace)));
  EXPECT_EQ(CountOf(kernel.text(), "make_token"), 1) << kernel.text();
  EXPECT_EQ(kernel.ordered_accesses(), 2);
}

TEST(Order, AnUnknownStrideMayBeZero) {
  std::string body = StridedLoop("64", std::string(kInPlace));
  body.replace(body.find("arith.muli %i, %w"), 17, "arith.muli %i, %n");
  EXPECT_EQ(Lowered(body).ordered_accesses(), 2);
}

TEST(Order, AnOffsetLoadedInTheLoopMayRepeat) {
  std::string body = StridedLoop("64", std::string(kInPlace));
  const std::string_view counted = "arith.muli %i, %w : i32\n";
  body.replace(body.find(counted), counted.size(),
               "arith.fptosi %l : f32 to i32\n");
  body.insert(body.find("      %m ="),
              "      %l = tt.load %q : !tt.ptr<f32>\n");
  EXPECT_EQ(Lowered(body).ordered_accesses(), 2);
}

TEST(Order, AStoreAfterALoopWaitsForTheLoopsLoads) {
  const std::string text = Lowered(std::string(kLoop) +
                                   "    %s = scf.for %i = %c0 to %n step %c1 "
                                   "iter_args(%a = %f) -> (f32) : "
                                   "i32 {\n"
                                   "      %x = tt.load %p : !tt.ptr<f32>\n"
                                   "      scf.yield %x : f32\n"
                                   "    }\n"
                                   "    tt.store %p, %f : !tt.ptr<f32>\n")
                               .text();
  // The loop's second result is the token that the store takes.
  EXPECT_EQ(CountOf(text, "join_tokens"), 1) << text;
  const std::string store = OperandsOf(text, "store_ptr_tko", 0);
  EXPECT_NE(store.find(", %", store.find(", %") + 1), std::string::npos)
      << store;
}

TEST(Order, ABranchHandsOnATokenFromBothSides) {
  const std::string text = Lowered(std::string(kLoop) +
                                   "    %t = arith.cmpi sgt, %n, %c0 : i32\n"
                                   "    scf.if %t {\n"
                                   "      tt.store %p, %f : !tt.ptr<f32>\n"
                                   "    }\n"
                                   "    %x = tt.load %p : !tt.ptr<f32>\n"
                                   "    tt.store %q, %x : !tt.ptr<f32>\n")
                               .text();
  EXPECT_EQ(CountOf(text, "yield %"), 2) << text;
  EXPECT_EQ(CountOf(text, "make_token"), 1) << text;
}

TEST(Order, AnAcquireHoldsBackLaterLoadsOfEveryArgument) {
  const v1::TileIrKernel kernel = Lowered(
      "    %c = arith.constant 1.0 : f32\n"
      "    %t = arith.constant true\n"
      "    %o = tt.atomic_rmw fadd, acquire, gpu, %p, %c, %t : "
      "(!tt.ptr<f32>, f32, i1) -> f32\n"
      "    %x = tt.load %q : !tt.ptr<f32>\n"
      "    tt.store %p, %x : !tt.ptr<f32>\n");
  EXPECT_EQ(kernel.ordered_accesses(), 2) << kernel.text();
}

TEST(Order, ARelaxedAtomicOrdersOnlyItsOwnArgument) {
  const v1::TileIrKernel kernel = Lowered(
      "    %c = arith.constant 1.0 : f32\n"
      "    %t = arith.constant true\n"
      "    %o = tt.atomic_rmw fadd, relaxed, gpu, %p, %c, %t : "
      "(!tt.ptr<f32>, f32, i1) -> f32\n"
      "    %x = tt.load %q : !tt.ptr<f32>\n");
  EXPECT_EQ(kernel.ordered_accesses(), 0) << kernel.text();
}

TEST(Order, ABarrierKeepsAccessesOnTheirSides) {
  const v1::TileIrKernel kernel = Lowered(
      "    %x = tt.load %p : !tt.ptr<f32>\n"
      "    gpu.barrier\n"
      "    tt.store %q, %x : !tt.ptr<f32>\n");
  EXPECT_EQ(kernel.ordered_accesses(), 1) << kernel.text();
}

TEST(Order, APointerOfUnknownOriginMayPointAnywhere) {
  const v1::TileIrKernel kernel = Lowered(
      "    %a = tt.ptr_to_int %p : !tt.ptr<f32> -> i64\n"
      "    %r = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>\n"
      "    %x = tt.load %q : !tt.ptr<f32>\n"
      "    tt.store %r, %x : !tt.ptr<f32>\n");
  EXPECT_EQ(kernel.ordered_accesses(), 1) << kernel.text();
}

TEST(Order, PointersThatMeetInABranchShareAClass) {
  const v1::TileIrKernel kernel =
      Lowered(std::string(kLoop) +
              "    %t = arith.cmpi sgt, %n, %c0 : i32\n"
              "    %r = arith.select %t, %p, %q : !tt.ptr<f32>\n"
              "    tt.store %r, %f : !tt.ptr<f32>\n"
              "    %x = tt.load %q : !tt.ptr<f32>\n"
              "    tt.store %p, %x : !tt.ptr<f32>\n");
  EXPECT_EQ(kernel.ordered_accesses(), 2) << kernel.text();
  EXPECT_EQ(kernel.distinct_size(), 0);
}

}  // namespace
}  // namespace kernelfleet::tileir
