#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace kernelfleet {

void CheckFailed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
  std::abort();
}

}  // namespace kernelfleet
