// PTX and SASS by hand-written lines; real ones are in golden_test.cc.
#include <gtest/gtest.h>

#include <string>

#include "tests/common/isa/counts.h"

namespace kernelfleet::isa {
namespace {

std::string Ptx(std::string_view body) {
  std::string text =
      ".version 8.7\n.target sm_100a\n.address_size 64\n\n"
      "\t// .globl k\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n"
      ".reqntid 128\n{\n\t.reg .b32 %r<9>;\n";
  return text.append(body).append("\tret;\n}\n");
}

TEST(PtxTest, WidthsMultiplyAndSpacesAreNamed) {
  const v1::IsaKernel kernel = Only(Ptx(
      "\tld.param.b64 %rd1, [k_param_0];\n"
      "\t@%p1 ld.global.L1::evict_last.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 "
      "];\n"
      "\tld.acquire.gpu.global.nc.v8.b32 {%r1}, [%rd1];\n"
      "\tst.global.v2.b16 [%rd1], {%h1, %h2};\n"
      "\tld.shared::cluster.u8 %r1, [%r2];\n"
      "\tst.shared::cta.v4.f32 [%r1], {%f1,%f1,%f1,%f1};\n"
      "\tld.local.b32 %r1, [%rd2];\n\tld.const.b64 %rd3, [c];\n"
      "\tld.f64 %fd1, [%rd1];\n\tldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
      " {%r1,%r2,%r3,%r4}, [%r5];\n"));
  EXPECT_EQ(kernel.dialect(), "ptx");
  EXPECT_EQ(kernel.arch(), "sm_100a");
  EXPECT_EQ(kernel.resources().num_warps(), 4);
  EXPECT_EQ(Memory(kernel, "kernarg", "load", 8).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "load", 16).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "load", 32).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "store", 4).all, 1);
  EXPECT_EQ(Memory(kernel, "cluster_shared", "load", 1).all, 1);
  EXPECT_EQ(Memory(kernel, "shared", "store", 16).all, 1);
  EXPECT_EQ(Memory(kernel, "shared", "load", 16).all, 1);
  EXPECT_EQ(Memory(kernel, "constant", "load", 8).all, 1);
  EXPECT_EQ(Memory(kernel, "generic", "load", 8).all, 1);
  EXPECT_EQ(kernel.summary().spill_ops(), 1);
  EXPECT_EQ(kernel.summary().global_flat_ops(), 4);
  EXPECT_EQ(kernel.summary().widest_load_bytes(), 32);
}

TEST(PtxTest, InlineAssemblyInsideCommentsAndBracesCounts) {
  const v1::IsaKernel kernel = Only(Ptx(
      "\t// begin inline asm\n"
      "\t{ .reg .pred p; setp.ne.b32 p, %r1, 0; @p st.global.b32 [%rd1], %r1; "
      "}\n\t// end inline asm: ld.global.b32 %r1, [%rd1];\n"
      "\t/* ld.global.b32 %r1,\n [%rd1]; */\n"
      "\tmbarrier.try_wait.parity.shared::cta.b64 complete, [%r1], %r2;\n"));
  EXPECT_EQ(Memory(kernel, "global", "store", 4).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "load").all, 0);
  EXPECT_EQ(Family(kernel, "mbarrier").all, 1);
  EXPECT_EQ(kernel.summary().instructions(), 4);
}

TEST(PtxTest, MatrixUnitsByTypeAndGeneration) {
  const v1::IsaKernel kernel = Only(Ptx(
      "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, "
      "{%r2}, {%f1};\n"
      "\tmma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1}, {%r1}, {%r2}, "
      "{%r1};\n"
      "\tmma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1}, {%d1}, {%d2}, "
      "{%d1};\n"
      "\twgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%f1}, %rd1, %rd2, "
      "1;\n"
      "\ttcgen05.mma.cta_group::1.kind::f16 [ %r1 + 0 ], %rd1, %rd2, %r2, "
      "%p1;\n"
      "\ttcgen05.ld.sync.aligned.32x32b.x64.b32 {%r1}, [%r2];\n"
      "\ttcgen05.st.sync.aligned.16x256b.x2.b32 [%r2], {%r1};\n"
      "\ttcgen05.wait::ld.sync.aligned;\n"
      "\ttcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%r1];\n"));
  EXPECT_EQ(Family(kernel, "hmma").all, 1);
  EXPECT_EQ(Family(kernel, "imma").all, 1);
  EXPECT_EQ(Family(kernel, "dmma").all, 1);
  EXPECT_EQ(Family(kernel, "wgmma").all, 1);
  EXPECT_EQ(Family(kernel, "tcgen05").all, 1);
  EXPECT_EQ(kernel.summary().matrix_ops(), 5);
  EXPECT_EQ(Memory(kernel, "tensor_memory", "load", 256).all, 1);
  EXPECT_EQ(Memory(kernel, "tensor_memory", "store", 32).all, 1);
  EXPECT_EQ(Family(kernel, "wait").all, 1);
  EXPECT_EQ(Family(kernel, "tmem_commit").all, 1);
}

TEST(PtxTest, AsynchronousCopiesAndTma) {
  const v1::IsaKernel kernel = Only(Ptx(
      "\tcp.async.cg.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x10, %r2;\n"
      "\tcp.async.ca.shared.global [%r1], [%rd1], 8;\n"
      "\tcp.async.commit_group;\n\tcp.async.wait_group 1;\n"
      "\t@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
      "complete_tx::bytes [%r1], [%rd1, {%r1, %r2}], [%r3];\n"
      "\tcp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1}], "
      "[%r2];\n"
      "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r1], [%rd1], 64, [%r2];\n"
      "\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;\n"));
  EXPECT_EQ(Memory(kernel, "global", "async_copy", 16).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "async_copy", 8).all, 1);
  EXPECT_EQ(Family(kernel, "tma_load").all, 1);
  EXPECT_EQ(Family(kernel, "tma_store").all, 1);
  EXPECT_EQ(Family(kernel, "bulk_copy").all, 1);
  EXPECT_EQ(Family(kernel, "async_group").all, 2);
  EXPECT_EQ(Family(kernel, "wait").all, 2);
  EXPECT_EQ(kernel.summary().global_flat_ops(), 2);
}

TEST(PtxTest, LoopsComeFromBranchesAndFromBranchTables) {
  const v1::IsaKernel kernel = Only(Ptx(
      "$L__BB0_1:\n\tatom.relaxed.gpu.global.cas.b32 %r1, [%rd1], %r2, %r3;\n"
      "\t@%p1 bra $L__BB0_1;\n"
      "$L__BB0_2:\n\tatom.global.gpu.acq_rel.add.f32 %f1, [%rd1], %f2;\n"
      "$L_table: .branchtargets $L__BB0_2, $L__BB0_3;\n"
      "\tbrx.idx %r1, $L_table;\n$L__BB0_3:\n"));
  EXPECT_EQ(kernel.summary().loops(), 2);
  EXPECT_EQ(kernel.summary().cas_loops(), 1);
  EXPECT_EQ(Memory(kernel, "global", "atomic", 4), (Counted{2, 2}));
}

TEST(PtxTest, DeviceFunctionsAreCountedApart) {
  const v1::IsaReport report =
      Scan("f",
           ".version 8.7\n.target sm_90\n.address_size 64\n"
           ".extern .func (.param .b32 r) printf_like\n(\n\t.param .b64 a\n);\n"
           ".visible .func  (.param .b32 func_retval0) helper(\n"
           "\t.param .b32 helper_param_0\n)\n{\n"
           "\tld.global.b32 %r1, [%rd1];\n\tret;\n}\n" +
               Ptx("\tcall.uni (retval0), helper, (param0);\n"));
  ASSERT_EQ(report.kernels_size(), 1) << report.ShortDebugString();
  EXPECT_EQ(report.kernels(0).summary().global_flat_ops(), 0);
  EXPECT_EQ(Family(report.kernels(0), "call").all, 1);
  ASSERT_EQ(report.functions_size(), 1);
  EXPECT_EQ(report.functions(0).symbol(), "helper");
  EXPECT_EQ(report.functions(0).summary().global_flat_ops(), 1);
}

std::string Nvdisasm(std::string_view body) {
  std::string text =
      "\t.target\tsm_90a\n\n\t.elftype\t@\"ET_EXEC\"\n\n"
      "\t.section\t.text.k,\"ax\",@progbits\n"
      "        .global         k\n        .type           k,@function\n"
      "        .other          k,@\"STO_CUDA_ENTRY STV_DEFAULT\"\n"
      "k:\n.text.k:\n";
  return text.append(body);
}

TEST(SassTest, WidthsFamiliesAndTheArgumentsBank) {
  const v1::IsaKernel kernel = Only(Nvdisasm(
      "        /*0000*/                   LDC.64 R4, c[0x0][0x210] ;\n"
      "        /*0010*/                   ULDC UR8, c[0x3][0x228] ;\n"
      "        /*0020*/              @!P0 LDG.E.128.CONSTANT R4, [R2.64] ;\n"
      "        /*0030*/                   LDG.E.U16 R4, desc[UR6][R2.64] ;\n"
      "        /*0040*/                   LDGSTS.E.BYPASS.LTC128B.128 [R2], "
      "[R4.64], P0 ;\n"
      "        /*0050*/                   STL.S16 [R1+0x4], R2 ;\n"
      "        /*0060*/                   LDL.LU.64 R2, [R1+0x8] ;\n"
      "        /*0070*/                   LDSM.16.MT88.4 R4, [R2] ;\n"
      "        /*0080*/                   HGMMA.64x64x16.F32 R24, gdesc[UR4], "
      "R24 ;\n"
      "        /*0090*/                   UTCHMMA gdesc[UR4], gdesc[UR14], "
      "tmem[UR32], tmem[UR36], idesc[UR37], UPT ;\n"
      "        /*00a0*/                   LDTM.x64 R4, tmem[UR4] ;\n"
      "        /*00b0*/              @UP1 UTMALDG.2D [UR16], [UR10] ;\n"
      "        /*00c0*/                   SHFL.BFLY PT, R2, R3, 0x1, 0x1f ;\n"
      "        /*00d0*/                   ATOMG.E.ADD.F64.RN.STRONG.GPU PT, "
      "RZ, [R2.64], R4 ;\n"
      "        /*00e0*/                   REDG.E.ADD.F32.FTZ.RN.STRONG.GPU "
      "[R2.64], R4 ;\n"
      "        /*00f0*/                   EXIT ;\n"));
  EXPECT_EQ(kernel.arch(), "sm_90a");
  EXPECT_EQ(Memory(kernel, "kernarg", "load", 8).all, 1);
  EXPECT_EQ(Memory(kernel, "constant", "load", 4).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "load", 16).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "load", 2).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "async_copy", 16).all, 1);
  EXPECT_EQ(Memory(kernel, "local", "store", 2).all, 1);
  EXPECT_EQ(Memory(kernel, "local", "load", 8).all, 1);
  EXPECT_EQ(kernel.summary().spill_ops(), 2);
  EXPECT_EQ(Memory(kernel, "shared", "load", 16).all, 1);
  EXPECT_EQ(Family(kernel, "wgmma").all, 1);
  EXPECT_EQ(Family(kernel, "tcgen05").all, 1);
  EXPECT_EQ(Memory(kernel, "tensor_memory", "load", 256).all, 1);
  EXPECT_EQ(Family(kernel, "tma_load").all, 1);
  EXPECT_EQ(Family(kernel, "lane_exchange").all, 1);
  EXPECT_EQ(Memory(kernel, "global", "atomic", 8).all, 1);
  EXPECT_EQ(Memory(kernel, "global", "atomic", 4).all, 1);
}

TEST(SassTest, TheSelfBranchBehindExitIsNoLoop) {
  const v1::IsaKernel kernel =
      Only(Nvdisasm("        /*0000*/                   EXIT ;\n.L_x_0:\n"
                    "        /*0010*/                   BRA `(.L_x_0);\n"
                    "        /*0020*/                   NOP;\n.L_x_1:\n"));
  EXPECT_EQ(kernel.summary().loops(), 0);
  EXPECT_EQ(kernel.summary().instructions(), 1);
}

TEST(SassTest, AUniformPredicateMakesABranchConditional) {
  const v1::IsaKernel kernel = Only(Nvdisasm(
      ".L_x_0:\n        /*0000*/                   ATOMG.E.CAS.STRONG.GPU PT, "
      "R2, [R2], R4, R5 ;\n"
      "        /*0010*/                   BRA.U !UP0, `(.L_x_0) ;\n"
      "        /*0020*/                   LDG.E R4, [R2.64] ;\n"
      "        /*0030*/                   EXIT ;\n"));
  EXPECT_EQ(kernel.summary().loops(), 1);
  EXPECT_EQ(kernel.summary().cas_loops(), 1);
  EXPECT_EQ(kernel.summary().instructions(), 4);
  EXPECT_EQ(Memory(kernel, "global", "load", 4), (Counted{1, 0}));
}

TEST(SassTest, TablesOfTargetsAndCalledRoutines) {
  const v1::IsaReport report = Scan(
      "t",
      Nvdisasm(".L_x_1:\n        /*0000*/                   CALL.REL.NOINC "
               "`($k$__internal_0) ;\n"
               "        /*0010*/                   BRX R4 -0x10 "
               "(*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*) ;\n"
               ".L_x_2:\n        /*0020*/                   EXIT ;\n"
               "        .type           $k$__internal_0,@function\n"
               "$k$__internal_0:\n"
               "        /*0030*/                   MUFU.RCP R2, R3 ;\n"
               "        /*0040*/                   STS [R2], R3 ;\n"
               "        /*0050*/                   RET.REL.NODEC R4 `(k) ;\n"));
  ASSERT_EQ(report.kernels_size(), 1);
  EXPECT_EQ(report.kernels(0).summary().loops(), 1);
  EXPECT_EQ(Memory(report.kernels(0), "shared", "store"), (Counted{1, 1}));
  ASSERT_EQ(report.kernels(0).notes_size(), 1);
  EXPECT_EQ(report.kernels(0).notes(0),
            "calls routines: those inside its own section are counted with it");
}

TEST(SassTest, CuobjdumpOfSeveralArchitectures) {
  const std::string body =
      "\t\tFunction : k\n"
      "\t.headerflags\t@\"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)\"\n"
      "        /*0000*/                   LDG.E R4, [R2.64] ;  /* 0x00 */\n"
      "                                                        /* 0x000ee */\n"
      "        /*0010*/              @P0  BRA 0x0 ;            /* 0x00 */\n"
      "        /*0020*/                   EXIT ;               /* 0x00 */\n"
      "\t\t..........\n";
  const v1::IsaReport report = Scan(
      "fat", "\n\tcode for sm_80\n" + body + "\n\tcode for sm_90\n" + body +
                 "Resource usage:\n Common:\n  GLOBAL:0\n"
                 " Function k:\n  REG:26 STACK:0 SHARED:0 LOCAL:0 "
                 "CONSTANT[0]:576\n");
  ASSERT_EQ(report.kernels_size(), 2);
  EXPECT_EQ(report.problems_size(), 0);
  EXPECT_EQ(report.kernels(0).arch(), "sm_80");
  EXPECT_EQ(report.kernels(1).arch(), "sm_90");
  EXPECT_EQ(report.kernels(1).resources().registers(), 26);
  EXPECT_EQ(Memory(report.kernels(0), "global", "load", 4), (Counted{1, 1}));
}

}  // namespace
}  // namespace kernelfleet::isa
