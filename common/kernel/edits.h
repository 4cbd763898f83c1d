// Edits of a text by byte range.
#ifndef KERNELFLEET_COMMON_KERNEL_EDITS_H_
#define KERNELFLEET_COMMON_KERNEL_EDITS_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/kernel/syntax.h"

namespace kernelfleet::kernel {

// Collects replacements and applies them at once. Not thread-safe.
class Edits {
 public:
  // Ranges refer to the original text and must not overlap. Insertions at one
  // place keep the order in which they were added.
  void Insert(uint32_t at, std::string text);
  void Replace(ByteRange range, std::string text);
  bool empty() const { return edits_.empty(); }
  // Where the first edit begins; the largest number when there is none.
  uint32_t first() const;
  std::string Apply(std::string_view original) const;

 private:
  struct Edit {
    ByteRange range;
    std::string text;
  };
  std::vector<Edit> edits_;
};

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_EDITS_H_
