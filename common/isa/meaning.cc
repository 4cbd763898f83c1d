#include "common/isa/meaning.h"

#include <iterator>

namespace kernelfleet::isa {

std::string_view NameOf(Space space) {
  switch (space) {
    case Space::kNone:
      return "";
    case Space::kGlobal:
      return "global";
    case Space::kBuffer:
      return "buffer";
    case Space::kFlat:
      return "flat";
    case Space::kShared:
      return "shared";
    case Space::kClusterShared:
      return "cluster_shared";
    case Space::kScratch:
      return "scratch";
    case Space::kConstant:
      return "constant";
    case Space::kKernarg:
      return "kernarg";
    case Space::kGeneric:
      return "generic";
    case Space::kLocal:
      return "local";
    case Space::kTensorMemory:
      return "tensor_memory";
  }
  return "";
}

std::string_view NameOf(Direction direction) {
  switch (direction) {
    case Direction::kLoad:
      return "load";
    case Direction::kStore:
      return "store";
    case Direction::kAtomic:
      return "atomic";
    case Direction::kAsyncCopy:
      return "async_copy";
  }
  return "";
}

namespace {

struct FamilyName {
  Family family;
  std::string_view name;
};
constexpr FamilyName kFamilyNames[] = {
    {Family::kNone, ""},
    {Family::kMfma, "mfma"},
    {Family::kMmac, "mmac"},
    {Family::kWmma, "wmma"},
    {Family::kHmma, "hmma"},
    {Family::kImma, "imma"},
    {Family::kDmma, "dmma"},
    {Family::kBmma, "bmma"},
    {Family::kQmma, "qmma"},
    {Family::kOmma, "omma"},
    {Family::kWgmma, "wgmma"},
    {Family::kTcgen05, "tcgen05"},
    {Family::kTmaLoad, "tma_load"},
    {Family::kTmaStore, "tma_store"},
    {Family::kTmaReduce, "tma_reduce"},
    {Family::kBulkCopy, "bulk_copy"},
    {Family::kTensorLoad, "tensor_load"},
    {Family::kTensorStore, "tensor_store"},
    {Family::kMatrixLoad, "matrix_load"},
    {Family::kMatrixStore, "matrix_store"},
    {Family::kCompareSwap, "compare_swap"},
    {Family::kCasLoop, "cas_loop"},
    {Family::kLaneExchange, "lane_exchange"},
    {Family::kVote, "vote"},
    {Family::kMulticast, "multicast"},
    {Family::kBarrier, "barrier"},
    {Family::kBarrierArrive, "barrier_arrive"},
    {Family::kMbarrier, "mbarrier"},
    {Family::kWait, "wait"},
    {Family::kFence, "fence"},
    {Family::kCacheControl, "cache_control"},
    {Family::kPrefetch, "prefetch"},
    {Family::kAsyncGroup, "async_group"},
    {Family::kAccMove, "acc_move"},
    {Family::kTmemAllocate, "tmem_allocate"},
    {Family::kTmemCommit, "tmem_commit"},
    {Family::kSetRegisters, "set_registers"},
    {Family::kPacked, "packed_math"},
    {Family::kDot, "vector_dot"},
    {Family::kCall, "call"},
    {Family::kTrap, "trap"},
};

consteval bool NamesFollowTheEnum() {
  for (size_t i = 0; i < kFamilies; ++i) {
    if (static_cast<size_t>(kFamilyNames[i].family) != i) return false;
  }
  return std::size(kFamilyNames) == kFamilies;
}
static_assert(NamesFollowTheEnum());

}  // namespace

std::string_view NameOf(Family family) {
  return kFamilyNames[static_cast<size_t>(family)].name;
}

}  // namespace kernelfleet::isa
