// CHECK aborts on our own bugs; it never judges input.
#ifndef KERNELFLEET_COMMON_BASE_CHECK_H_
#define KERNELFLEET_COMMON_BASE_CHECK_H_

namespace kernelfleet {

// Logs the expression with its place and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* what);

}  // namespace kernelfleet

#define KF_CHECK(condition)                                       \
  do {                                                            \
    if (!(condition)) [[unlikely]] {                              \
      ::kernelfleet::CheckFailed(__FILE__, __LINE__, #condition); \
    }                                                             \
  } while (false)

#endif  // KERNELFLEET_COMMON_BASE_CHECK_H_
