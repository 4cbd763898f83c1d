// How each parameter is used, from the tree: what the data flow forgets about
// values known at compile time. Private to the room.
#ifndef KERNELFLEET_COMMON_KERNEL_INFER_USES_H_
#define KERNELFLEET_COMMON_KERNEL_INFER_USES_H_

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/kernel/flow.h"

namespace kernelfleet::kernel {

// Lines are those of the slice; 0: no such use.
struct ParamUses {
  // Decides a branch, or is an operand of and, or, not.
  int truth = 0;
  // Compared with None.
  int none = 0;
  // Bound of tl.arange.
  int arange = 0;
  // Part of the shape of a tile.
  int shape = 0;
  // Within arithmetic in one of these: a factor of a length.
  int factor = 0;
  // Bound of an unrolled loop, stages of a loop.
  int unrolled = 0;
  int stages = 0;
  // Where an element type is expected.
  int dtype = 0;
  // Where one of Triton's words is expected, by the argument's name.
  std::string word;
  // Called.
  int call = 0;
  // Subscripted by a number, iterated over or measured: a tuple.
  int tuple = 0;
  // Its dtype.element_ty is asked for: a pointer.
  int element_type = 0;
  // Where only whole numbers can stand: range, cdiv, arange, //, %, seeds,
  // shapes and strides.
  int integer = 0;
  // An operand of arithmetic.
  int arithmetic = 0;
  // Literals that it is compared with.
  std::vector<std::string> strings;
  std::vector<long> numbers;
  std::vector<std::string> dtypes;
  // Parameters of the kernel it is divided by, compared with or stands beside.
  std::set<size_t> divided_by;
};

struct Uses {
  std::vector<ParamUses> params;
  // Highest rank of a tile that the source spells out.
  int max_rank = 1;
  bool has_dot = false;
};

// Of the function `index` of the slice, its helpers included.
Uses FindUses(const SourceFile& source, int index);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_INFER_USES_H_
