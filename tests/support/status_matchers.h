// Assertions on absl::Status and StatusOr.
#ifndef KERNELFLEET_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define KERNELFLEET_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <gtest/gtest.h>

#include "common/base/status.h"

namespace kernelfleet::testing {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

}  // namespace kernelfleet::testing

#define ASSERT_OK(expr)                                                      \
  do {                                                                       \
    const auto& kf_value_ = (expr);                                          \
    ASSERT_TRUE(kf_value_.ok())                                              \
        << ::kernelfleet::Text(::kernelfleet::testing::StatusOf(kf_value_)); \
  } while (false)
#define EXPECT_OK(expr)                                                      \
  do {                                                                       \
    const auto& kf_value_ = (expr);                                          \
    EXPECT_TRUE(kf_value_.ok())                                              \
        << ::kernelfleet::Text(::kernelfleet::testing::StatusOf(kf_value_)); \
  } while (false)
#define ASSERT_OK_AND_ASSIGN(lhs, expr) \
  ASSERT_OK_AND_ASSIGN_(KF_CONCAT_(kf_test_or_, __LINE__), lhs, expr)
#define ASSERT_OK_AND_ASSIGN_(temp, lhs, expr)                  \
  auto temp = (expr);                                           \
  ASSERT_TRUE(temp.ok()) << ::kernelfleet::Text(temp.status()); \
  lhs = *std::move(temp)

#endif  // KERNELFLEET_TESTS_SUPPORT_STATUS_MATCHERS_H_
