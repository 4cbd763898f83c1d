#include "common/tileir/lower.h"

#include <algorithm>
#include <map>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/tileir/bytecode.h"
#include "common/tileir/lowering.h"
#include "common/tileir/order_tokens.h"
#include "common/tileir/print.h"
#include "common/tileir/ttir_reader.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

bool IsPowerOfTwo(int value) { return value > 0 && (value & (value - 1)) == 0; }

absl::Status CheckOptions(const LowerOptions& options) {
  if (options.version_minor < kOldestMinor ||
      options.version_minor > kNewestMinor) {
    return InvalidArgument(fmt::format(
        "Tile IR bytecode 13.{} is not one that we write (13.{} to 13.{})",
        options.version_minor, kOldestMinor, kNewestMinor));
  }
  if (!IsPowerOfTwo(options.num_ctas) || options.num_ctas > 16) {
    return InvalidArgument(fmt::format(
        "num_ctas {} is no power of two up to 16", options.num_ctas));
  }
  if (options.occupancy < 0 || options.occupancy > 32) {
    return InvalidArgument(
        fmt::format("occupancy {} is not in 1 to 32", options.occupancy));
  }
  if (options.num_worker_warps != 0 &&
      (!IsPowerOfTwo(options.num_worker_warps) ||
       options.num_worker_warps > 32)) {
    return InvalidArgument(
        fmt::format("num_worker_warps {} is no power of two up to 32",
                    options.num_worker_warps));
  }
  if (options.num_stages < 0) {
    return InvalidArgument(
        fmt::format("num_stages {} is negative", options.num_stages));
  }
  return absl::OkStatus();
}

// One class for each root, or one for all.
AliasClasses ClassesOf(const Kernel& kernel, const PointerRoots& roots,
                       BufferOrder order) {
  bool all = order == BufferOrder::kMayOverlap;
  for (const Access& access : kernel.accesses) {
    // A pointer from anywhere may be a pointer into anything.
    all |= access.root >= 0 && roots.IsUnknown(access.root);
  }
  std::map<int, int> numbers;
  AliasClasses classes;
  for (const Access& access : kernel.accesses) {
    const int root = all ? 0 : access.root;
    const auto [entry, fresh] =
        numbers.emplace(root, static_cast<int>(numbers.size()));
    classes.push_back(entry->second);
  }
  return classes;
}

// Which arguments are read and written, and which must not overlap.
void DescribeBuffers(const Kernel& kernel, const PointerRoots& roots,
                     const AliasClasses& classes, v1::TileIrKernel* report) {
  std::vector<std::pair<int, int>> by_class;  // Class, report's argument.
  for (size_t i = 0; i < kernel.accesses.size(); ++i) {
    const Access& access = kernel.accesses[i];
    if (access.root < 0) continue;
    for (const int parameter : roots.ArgumentsOf(access.root)) {
      for (int k = 0; k < report->arguments_size(); ++k) {
        v1::TileIrArgument* argument = report->mutable_arguments(k);
        if (argument->parameter() != parameter ||
            (argument->kind() != v1::TileIrArgument::pointer &&
             argument->kind() != v1::TileIrArgument::descriptor_base)) {
          continue;
        }
        argument->set_read(argument->read() || access.reads);
        argument->set_written(argument->written() || access.writes);
        by_class.emplace_back(classes[i], k);
      }
    }
  }
  std::sort(by_class.begin(), by_class.end());
  by_class.erase(std::unique(by_class.begin(), by_class.end()), by_class.end());
  // A written argument may overlap those of its own class: they are ordered.
  for (const auto& [alias_class, index] : by_class) {
    if (!report->arguments(index).written()) continue;
    v1::TileIrDistinct distinct;
    distinct.add_written(index);
    for (const auto& [other_class, other] : by_class) {
      if (other_class != alias_class) distinct.add_others(other);
    }
    if (distinct.others_size() > 0) *report->add_distinct() = distinct;
  }
}

const ttir::Function* FindEntry(const ttir::Module& module) {
  for (const ttir::Function& function : module.functions) {
    if (function.is_public) return &function;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<v1::TileIrKernel> Lower(std::string_view ttir,
                                       const LowerOptions& options) {
  KF_RETURN_IF_ERROR(CheckOptions(options));
  KF_ASSIGN_OR_RETURN(const ttir::Module module, ttir::Read(ttir));
  const ttir::Function* entry = FindEntry(module);
  if (entry == nullptr) {
    return InvalidArgument("the TTIR has no public function");
  }
  v1::TileIrKernel report;
  report.set_entry(entry->name);
  report.set_bytecode_version(fmt::format("13.{}", options.version_minor));
  Lowering lowering(module, *entry, options, &report);
  lowering.Run();
  if (report.unsupported_size() > 0) return report;
  Kernel& kernel = lowering.kernel();
  const AliasClasses classes =
      ClassesOf(kernel, lowering.roots(), options.order);
  report.set_accesses(static_cast<int>(kernel.accesses.size()));
  report.set_ordered_accesses(OrderAccesses(&kernel, classes));
  DescribeBuffers(kernel, lowering.roots(), classes, &report);
  KF_ASSIGN_OR_RETURN(
      *report.mutable_bytecode(),
      WriteBytecode(kernel, options.version_minor, options.arch));
  report.set_text(Print(kernel));
  return report;
}

}  // namespace kernelfleet::tileir
