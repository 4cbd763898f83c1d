// A folder that goes away with its owner.
#ifndef KERNELFLEET_TESTS_SUPPORT_TEMP_DIR_H_
#define KERNELFLEET_TESTS_SUPPORT_TEMP_DIR_H_

#include <cstdlib>
#include <string>

#include "common/base/check.h"
#include "common/base/file.h"

namespace kernelfleet::testing {

class TempDir {
 public:
  TempDir() {
    const char* base = std::getenv("TMPDIR");
    path_ = JoinPath(base ? base : "/tmp", "kernelfleet.XXXXXX");
    KF_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  ~TempDir() { (void)RemoveTree(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return JoinPath(path_, name);
  }

 private:
  std::string path_;
};

}  // namespace kernelfleet::testing

#endif  // KERNELFLEET_TESTS_SUPPORT_TEMP_DIR_H_
