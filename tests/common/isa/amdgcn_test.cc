// AMD assembly: each defect of the scripts that came before is a test here.
#include <gtest/gtest.h>

#include <string>

#include "tests/common/isa/counts.h"

namespace kernelfleet::isa {
namespace {

// A kernel of these lines, as LLVM prints it.
std::string Kernel(std::string_view body, std::string_view arch = "gfx942",
                   std::string_view name = "k") {
  std::string text = "\t.amdgcn_target \"amdgcn-amd-amdhsa--";
  text.append(arch).append("\"\n\t.text\n\t.globl\t").append(name);
  text.append("\n\t.type\t").append(name).append(",@function\n").append(name);
  text.append(":                 ; @k\n").append(body);
  text.append("\ts_endpgm\n.Lfunc_end0:\n\t.size\tk, .Lfunc_end0-k\n");
  text.append("\t.amdhsa_kernel ").append(name);
  text.append("\n\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n");
  text.append("\t.end_amdhsa_kernel\n");
  return text;
}

TEST(AmdgcnTest, SubDwordAndThreeDwordAccessesCount) {
  const v1::IsaKernel kernel =
      Only(Kernel("\tbuffer_load_ubyte v0, v1, s[8:11], 0 offen\n"
                  "\tbuffer_load_sshort v0, v1, s[8:11], 0 offen\n"
                  "\tbuffer_load_short_d16_hi v0, v1, s[8:11], 0 offen\n"
                  "\tbuffer_load_dwordx3 v[0:2], v3, s[8:11], 0 offen\n"
                  "\tbuffer_store_byte v0, v1, s[8:11], 0 offen\n"
                  "\tbuffer_store_short_d16_hi v0, v1, s[8:11], 0 offen\n"));
  EXPECT_EQ(kernel.summary().buffer_ops(), 6);
  EXPECT_TRUE(kernel.summary().buffer_ops_dominant());
  EXPECT_EQ(Memory(kernel, "buffer", "load", 1).all, 1);
  EXPECT_EQ(Memory(kernel, "buffer", "load", 2).all, 2);
  EXPECT_EQ(Memory(kernel, "buffer", "load", 12).all, 1);
  EXPECT_EQ(Memory(kernel, "buffer", "store", 1).all, 1);
  EXPECT_EQ(kernel.summary().widest_load_bytes(), 12);
  int halves = 0;
  for (const auto& row : kernel.memory()) halves += row.d16() ? row.count() : 0;
  EXPECT_EQ(halves, 2);
}

TEST(AmdgcnTest, RdnaNamesCountInBits) {
  const v1::IsaKernel kernel = Only(
      Kernel("\tbuffer_load_b128 v[0:3], v4, s[8:11], null offen\n"
             "\tbuffer_load_u8 v0, v4, s[8:11], null offen\n"
             "\tbuffer_load_d16_hi_b16 v0, v4, s[8:11], null offen\n"
             "\tglobal_load_b96 v[0:2], v[4:5], off th:TH_LOAD_NT\n"
             "\tglobal_store_d16_hi_b8 v[4:5], v0, off\n"
             "\tds_load_2addr_stride64_b32 v[0:1], v2 offset0:1 offset1:2\n"
             "\tds_store_b64 v0, v[2:3]\n"
             "\ts_load_b256 s[8:15], s[0:1], 0x0\n"
             "\ts_wait_loadcnt 0x0\n\ts_wait_dscnt 0x0\n\ts_wait_kmcnt 0x0\n"
             "\ts_wait_alu 0xfffd\n"
             "\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]\n"
             "\ts_barrier_signal -1\n\ts_barrier_wait -1\n",
             "gfx1201"));
  EXPECT_EQ(kernel.arch(), "gfx1201");
  EXPECT_EQ(kernel.summary().buffer_ops(), 3);
  EXPECT_EQ(kernel.summary().wide_buffer_ops(), 1);
  EXPECT_EQ(Memory(kernel, "buffer", "load", 1).all, 1);
  EXPECT_EQ(Memory(kernel, "buffer", "load", 2).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "load", 12).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "store", 1).all, 1);
  EXPECT_EQ(Memory(kernel, "shared", "load", 8).all, 1);
  EXPECT_EQ(Memory(kernel, "shared", "store", 8).all, 1);
  EXPECT_EQ(Memory(kernel, "kernarg", "load", 32).all, 1);
  EXPECT_EQ(Family(kernel, "wait").all, 3);
  EXPECT_EQ(Family(kernel, "wmma").all, 1);
  EXPECT_EQ(Family(kernel, "barrier").all, 1);
  EXPECT_EQ(Family(kernel, "barrier_arrive").all, 1);
}

TEST(AmdgcnTest, FoldedSpillsThroughBufferInstructionsAreNoBufferTraffic) {
  const v1::IsaKernel kernel = Only(Kernel(
      "\tbuffer_store_dword v16, off, s[20:23], 0 ; 4-byte Folded Spill\n"
      "\tbuffer_load_dword v16, off, s[20:23], 0 ; 4-byte Folded Reload\n"
      "\tbuffer_load_dwordx4 v[0:3], v4, s[8:11], 0 offen\n",
      "gfx90a"));
  EXPECT_EQ(kernel.summary().buffer_ops(), 1);
  EXPECT_EQ(kernel.summary().spill_ops(), 2);
  EXPECT_EQ(Memory(kernel, "scratch", "store", 4).all, 1);
}

TEST(AmdgcnTest, TheLaunchedDescriptorMeansScratchWithoutAnyComment) {
  // s[2:3] of the launch, copied, is the upper half of the scratch descriptor;
  // s[8:11] is made here, at the same registers after a write.
  const v1::IsaKernel kernel =
      Only(Kernel("\ts_mov_b64 s[22:23], s[2:3]\n\ts_mov_b64 s[20:21], s[0:1]\n"
                  "\ts_add_u32 s20, s20, s17\n\ts_addc_u32 s21, s21, 0\n"
                  "\tbuffer_store_dword v16, off, s[20:23], 0\n"
                  "\tbuffer_load_dword v16, off, s[0:3], s33 offset:8\n"
                  "\ts_mov_b32 s2, 0x7ffffffe\n\ts_mov_b32 s3, 0x27000\n"
                  "\tbuffer_load_dword v16, v1, s[0:3], 0 offen\n",
                  "gfx90a"));
  EXPECT_EQ(kernel.summary().spill_ops(), 2);
  EXPECT_EQ(kernel.summary().buffer_ops(), 1);
}

TEST(AmdgcnTest, ScratchInstructionsAreSpills) {
  const v1::IsaKernel kernel = Only(
      Kernel("\tscratch_store_dwordx4 off, v[32:35], off ; 16-byte Folded "
             "Spill\n\tscratch_load_dwordx2 v[2:3], off, off offset:16\n"));
  EXPECT_EQ(kernel.summary().spill_ops(), 2);
  EXPECT_EQ(kernel.summary().global_flat_ops(), 0);
  EXPECT_EQ(Memory(kernel, "scratch", "store", 16).all, 1);
  EXPECT_EQ(Memory(kernel, "scratch", "load", 8).all, 1);
}

TEST(AmdgcnTest, CommentsAndLabelNamesAreNotInstructions) {
  const v1::IsaKernel kernel = Only(Kernel(
      "; buffer_load_dword v0, v1, s[8:11], 0 offen\n"
      "\ts_cbranch_scc1 .LBB0_3\n"
      ".LBB0_3:              ; %atomicrmw.start global_atomic_add\n"
      "\tv_mov_b32_e32 v0, v1 ; global_atomic_cmpswap buffer_store_dword\n"));
  EXPECT_EQ(kernel.summary().buffer_ops(), 0);
  EXPECT_FALSE(kernel.summary().atomic_observed());
  EXPECT_EQ(kernel.summary().instructions(), 3);
}

TEST(AmdgcnTest, LlvmIrIsNotMachineCode) {
  const v1::IsaReport report =
      Scan("k.ll",
           "; ModuleID = 'LLVMDialectModule'\nsource_filename = \"x\"\n"
           "define amdgpu_kernel void @k() {\n  ; buffer_load_dword\n"
           "  %1 = call float @llvm.amdgcn.raw.ptr.buffer.load()\n}\n");
  EXPECT_EQ(report.kernels_size(), 0);
  ASSERT_EQ(report.problems_size(), 1);
  EXPECT_NE(report.problems(0).find("LLVM IR"), std::string::npos);
}

TEST(AmdgcnTest, EachKernelOfAFileHasItsOwnCounts) {
  const std::string one = Kernel("\tglobal_load_dword v0, v[2:3], off\n");
  std::string text = one;
  text +=
      "\t.type\tk_tail,@function\nk_tail:\n"
      "\tbuffer_load_dword v0, v1, s[8:11], 0 offen\n\ts_endpgm\n"
      ".Lfunc_end1:\n\t.amdhsa_kernel k_tail\n\t.end_amdhsa_kernel\n";
  const v1::IsaReport report = Scan("two", text);
  ASSERT_EQ(report.kernels_size(), 2);
  // "k" is a part of "k_tail": the whole name decides.
  const auto only = OnlyKernel(report, "k");
  ASSERT_TRUE(only.ok());
  ASSERT_EQ(only->kernels_size(), 1);
  EXPECT_EQ(only->kernels(0).summary().global_flat_ops(), 1);
  EXPECT_EQ(only->kernels(0).summary().buffer_ops(), 0);
}

TEST(AmdgcnTest, AnUnknownKernelNamesTheSymbolsFound) {
  const auto only = OnlyKernel(Scan("f.amdgcn", Kernel("\ts_nop 0\n")), "kk");
  ASSERT_EQ(only.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(only.status().message()),
            "no kernel 'kk' in f.amdgcn; it holds k");
}

TEST(AmdgcnTest, AFloatAtomicThatBecameACompareAndSwapLoopIsToldApart) {
  const std::string loop =
      ".LBB0_3:\n\tv_add_f32_e32 v0, v1, v2\n"
      "\tglobal_atomic_cmpswap_x2 v[0:1], v[6:7], v[0:3], off glc\n"
      "\ts_cbranch_execnz .LBB0_3\n";
  const v1::IsaKernel cas = Only(Kernel(loop));
  EXPECT_EQ(cas.summary().cas_loops(), 1);
  EXPECT_EQ(Memory(cas, "global", "atomic", 8), (Counted{1, 1}));
  const v1::IsaKernel hardware =
      Only(Kernel("\tglobal_atomic_add_f32 v0, v1, s[2:3]\n"));
  EXPECT_EQ(hardware.summary().cas_loops(), 0);
  EXPECT_EQ(hardware.summary().atomic_ops(), 1);
  // A single compare-and-swap is no loop.
  const v1::IsaKernel single =
      Only(Kernel("\tglobal_atomic_cmpswap v0, v[6:7], v[0:1], off glc\n"));
  EXPECT_EQ(single.summary().cas_loops(), 0);
  EXPECT_EQ(Family(single, "compare_swap"), (Counted{1, 0}));
}

TEST(AmdgcnTest, AtomicsHaveAWidth) {
  const v1::IsaKernel kernel =
      Only(Kernel("\tglobal_atomic_add_f64 v[0:1], v[2:3], off\n"
                  "\tbuffer_atomic_add_f32 v0, v1, s[8:11], 0 offen\n"
                  "\tglobal_atomic_pk_add_bf16 v0, v1, s[2:3]\n"
                  "\tflat_atomic_add_x2 v[0:1], v[2:3]\n"
                  "\tds_add_rtn_u32 v0, v1, v2\n\tds_add_f64 v0, v[2:3]\n"));
  EXPECT_EQ(Memory(kernel, "global", "atomic", 8).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "atomic", 4).all, 1);
  EXPECT_EQ(Memory(kernel, "buffer", "atomic", 4).all, 1);
  EXPECT_EQ(Memory(kernel, "flat", "atomic", 8).all, 1);
  EXPECT_EQ(Memory(kernel, "shared", "atomic", 4).all, 1);
  EXPECT_EQ(Memory(kernel, "shared", "atomic", 8).all, 1);
  // Atomics are no loads or stores of tensors.
  EXPECT_EQ(kernel.summary().buffer_ops(), 0);
  EXPECT_EQ(kernel.summary().global_flat_ops(), 0);
}

TEST(AmdgcnTest, LoadsDirectToLdsAreMarked) {
  const v1::IsaKernel kernel = Only(
      Kernel("\tbuffer_load_dwordx4 v0, s[8:11], 0 offen lds\n"
             "\tglobal_load_lds_dwordx4 v[0:1], off\n"
             "\tglobal_load_async_to_lds_b128 v0, v[2:3], off\n"
             "\tbuffer_load_dwordx4 v[0:3], v4, s[8:11], 0 offen ; not lds\n"));
  int direct = 0;
  for (const auto& row : kernel.memory()) {
    direct += row.to_lds() ? row.count() : 0;
    EXPECT_TRUE(!row.to_lds() || row.bytes() == 16);
  }
  EXPECT_EQ(direct, 3);
  EXPECT_EQ(Memory(kernel, "global", "async_copy", 16).all, 1);
}

TEST(AmdgcnTest, ScalarLoadsAreArgumentsUnlessTheirBaseWasMade) {
  const v1::IsaKernel kernel =
      Only(Kernel("\ts_load_dwordx8 s[4:11], s[0:1], 0x8\n"
                  "\ts_mov_b64 s[30:31], s[0:1]\n"
                  "\ts_load_dwordx2 s[0:1], s[30:31], 0x28\n"
                  "\ts_load_dword s16, s[4:5], 0x0\n"
                  "\ts_load_dword s17, s[0:1], 0x0\n"
                  "\ts_buffer_load_dword s18, s[8:11], 0x0\n"));
  EXPECT_EQ(Memory(kernel, "kernarg", "load").all, 2);
  EXPECT_EQ(Memory(kernel, "constant", "load").all, 3);
  EXPECT_EQ(kernel.summary().global_flat_ops(), 0);
}

TEST(AmdgcnTest, LaneExchangeThroughLdsHardwareIsNoSharedTraffic) {
  const v1::IsaKernel kernel = Only(Kernel(
      "\tds_bpermute_b32 v0, v1, v2\n\tds_swizzle_b32 v0, v1 offset:1\n"
      "\tv_add_f32_dpp v0, v1, v2 row_shr:1\n\tv_permlanex16_b32 v0, v1, s2, "
      "s3\n\tds_read_b128 v[0:3], v4\n\tds_read2st64_b64 v[0:3], v4\n"
      "\tds_read_b64_tr_b16 v[0:1], v4\n\tds_write_b8_d16_hi v0, v1\n"));
  EXPECT_EQ(Family(kernel, "lane_exchange").all, 4);
  EXPECT_EQ(Memory(kernel, "shared", "load", 16).all, 2);
  EXPECT_EQ(Memory(kernel, "shared", "load", 8).all, 1);
  EXPECT_EQ(Memory(kernel, "shared", "store", 1).all, 1);
}

TEST(AmdgcnTest, MatrixFamiliesAreTheirOwn) {
  const v1::IsaKernel kernel = Only(
      Kernel("\tv_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]\n"
             "\tv_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10\n"
             "\tv_accvgpr_read_b32 v0, a0\n\tv_fma_f64 v[0:1], v[2:3], v[4:5], "
             "v[6:7]\n\tv_dot2_f32_f16 v0, v1, v2, v3\n"));
  EXPECT_EQ(Family(kernel, "mfma").all, 2);
  EXPECT_EQ(Family(kernel, "acc_move").all, 1);
  EXPECT_EQ(Family(kernel, "vector_dot").all, 1);
  EXPECT_EQ(kernel.summary().matrix_ops(), 2);
}

TEST(AmdgcnTest, HygonInstructionsCount) {
  const v1::IsaKernel kernel = Only(Kernel(
      "\ts_set_vgpr_size 128\n"
      "\tmatrix_load_32x16_b16 v[0:3], v4, s[8:11], 0\n"
      "\tmatrix_store_32x16_b16 v[0:3], v4, s[8:11], 0\n"
      "\ttensor_load v[0:3], s[8:11]\n"
      "\tds_read_m32x16_b16_alt v[0:3], v4\n\tds_read_m32x32_b8 v[0:3], v4\n"
      "\ts_waitcnt_vbcnt 0x0\n\ts_abarrier_wait 0\n\ts_ebarrier_arrive 0\n"
      "\tv_mmac_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]\n"
      "\tv_mmac_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]\n"
      "\tv_mmac_scale_f32_16x16x32_fp8 v[0:3], v[4:5], v[6:7], v[0:3]\n",
      "gfx938"));
  EXPECT_EQ(kernel.arch(), "gfx938");
  EXPECT_EQ(Family(kernel, "mmac").all, 3);
  EXPECT_EQ(Family(kernel, "mfma").all, 0);
  EXPECT_EQ(kernel.summary().matrix_ops(), 3);
  EXPECT_EQ(Family(kernel, "matrix_load").all, 1);
  EXPECT_EQ(Family(kernel, "matrix_store").all, 1);
  EXPECT_EQ(Family(kernel, "tensor_load").all, 1);
  EXPECT_EQ(Family(kernel, "wait").all, 1);
  EXPECT_EQ(Family(kernel, "barrier").all, 2);
  EXPECT_EQ(Family(kernel, "set_registers").all, 1);
  // Tiles: the name states an element, not what a lane gets.
  EXPECT_EQ(Memory(kernel, "shared", "load", 0).all, 2);
}

TEST(AmdgcnTest, FormattedBufferAccessesCountTheirComponents) {
  const v1::IsaKernel kernel = Only(Kernel(
      "\ttbuffer_load_format_xyzw v[0:3], v4, s[8:11], 0 format:1 offen\n"
      "\tbuffer_load_format_d16_xy v0, v4, s[8:11], 0 offen\n"));
  EXPECT_EQ(Memory(kernel, "buffer", "load", 16).all, 1);
  EXPECT_EQ(Memory(kernel, "buffer", "load", 4).all, 1);
}

TEST(AmdgcnTest, CacheMaintenanceIsNoTraffic) {
  const v1::IsaKernel kernel =
      Only(Kernel("\tbuffer_wbl2 sc1\n\tbuffer_inv sc1\n\tbuffer_wbinvl1_vol\n"
                  "\tglobal_inv scope:SCOPE_DEV\n\tglobal_wb scope:SCOPE_DEV\n"
                  "\tbuffer_gl0_inv\n"));
  EXPECT_EQ(Family(kernel, "cache_control").all, 6);
  EXPECT_EQ(kernel.memory_size(), 0);
}

TEST(AmdgcnTest, DeviceFunctionsAreNoKernels) {
  std::string text =
      "\t.type\thelper,@function\nhelper:\n"
      "\tbuffer_load_dword v0, v1, s[8:11], 0 offen\n"
      "\ts_setpc_b64 s[30:31]\n.Lfunc_end1:\n"
      "\t.size\thelper, .Lfunc_end1-helper\n";
  text = Kernel("\ts_swappc_b64 s[30:31], s[4:5]\n") + text;
  const v1::IsaReport report = Scan("calls", text);
  ASSERT_EQ(report.kernels_size(), 1);
  EXPECT_EQ(report.kernels(0).symbol(), "k");
  EXPECT_EQ(report.kernels(0).summary().buffer_ops(), 0);
  ASSERT_EQ(report.kernels(0).notes_size(), 1);
  EXPECT_EQ(report.kernels(0).notes(0),
            "calls device functions: they are counted apart, not here");
  ASSERT_EQ(report.functions_size(), 1);
  EXPECT_EQ(report.functions(0).symbol(), "helper");
  EXPECT_EQ(report.functions(0).summary().buffer_ops(), 1);
}

TEST(AmdgcnTest, AListingWithAddressesInFrontIsReadToo) {
  // Forms of objdump-like tools: "addr: encoding instruction" and
  // "/*addr*/ instruction"; the branch goes back by three words.
  const v1::IsaKernel plain = Only(
      "k.o:\tfile format elf64-amdgpu\n\n0000000000001000 <k>:\n"
      "    1000: c0060182 00000000 \ts_load_dwordx2 s[6:7], s[4:5], 0x0\n"
      "    1008: dc540000 00000000 \tglobal_load_dwordx2 v[0:1], v[2:3], off\n"
      "    1010: bf85fffd \ts_cbranch_scc1 65533\n"
      "    1014: bf810000 \ts_endpgm\n");
  EXPECT_EQ(plain.summary().loops(), 1);
  EXPECT_EQ(Memory(plain, "global", "load", 8), (Counted{1, 1}));
  EXPECT_EQ(Memory(plain, "kernarg", "load", 8), (Counted{1, 0}));
  const v1::IsaKernel starred = Only(
      "// arch: gfx936, file format elf64-amdgpu\nk:\n"
      "/*1000*/  v_mmac_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3] ;\n"
      "/*1008*/  s_cbranch_scc1 65533 ;\n/*100c*/  s_endpgm ;\n");
  EXPECT_EQ(Family(starred, "mmac"), (Counted{1, 1}));
}

TEST(AmdgcnTest, AnInstructionNobodyKnowsIsReported) {
  const v1::IsaReport report = Scan("x", Kernel("\tzz_load_dword v0, v1\n"));
  ASSERT_EQ(report.problems_size(), 1);
  EXPECT_NE(report.problems(0).find("'zz_load_dword'"), std::string::npos);
}

TEST(AmdgcnTest, ModulesForSeveralTargetsKeepTheirOwnResources) {
  const std::string a = Kernel("\ts_nop 0\n", "gfx942") + "; NumVgprs: 9\n";
  const std::string b = Kernel("\ts_nop 0\n", "gfx950") + "; NumVgprs: 11\n";
  const v1::IsaReport report = Scan("both", a + b);
  ASSERT_EQ(report.kernels_size(), 2);
  EXPECT_EQ(report.kernels(0).arch(), "gfx942");
  EXPECT_EQ(report.kernels(0).resources().registers(), 9);
  EXPECT_EQ(report.kernels(1).arch(), "gfx950");
  EXPECT_EQ(report.kernels(1).resources().registers(), 11);
}

}  // namespace
}  // namespace kernelfleet::isa
