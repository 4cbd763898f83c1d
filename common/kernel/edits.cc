#include "common/kernel/edits.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/base/check.h"

namespace kernelfleet::kernel {

void Edits::Insert(uint32_t at, std::string text) {
  Replace({at, at}, std::move(text));
}

void Edits::Replace(ByteRange range, std::string text) {
  edits_.push_back({range, std::move(text)});
}

uint32_t Edits::first() const {
  uint32_t first = std::numeric_limits<uint32_t>::max();
  for (const Edit& edit : edits_) first = std::min(first, edit.range.begin);
  return first;
}

std::string Edits::Apply(std::string_view original) const {
  std::vector<Edit> sorted = edits_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Edit& a, const Edit& b) {
                     return a.range.begin < b.range.begin;
                   });
  std::string out;
  size_t done = 0;
  for (const Edit& edit : sorted) {
    KF_CHECK(edit.range.begin >= done && edit.range.end <= original.size());
    out.append(original.substr(done, edit.range.begin - done));
    out.append(edit.text);
    done = edit.range.end;
  }
  out.append(original.substr(done));
  return out;
}

}  // namespace kernelfleet::kernel
