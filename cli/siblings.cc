#include "cli/siblings.h"

#include <unistd.h>

#include <climits>

#include "common/base/file.h"
#include "common/base/subprocess.h"

namespace kernelfleet::cli {

std::optional<std::string> FindSibling(const std::string& name) {
  char buffer[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", buffer, sizeof buffer);
  if (size <= 0) return {};
  const std::string self(buffer, static_cast<size_t>(size));
  return FindProgram(JoinPath(self.substr(0, self.rfind('/')), name));
}

}  // namespace kernelfleet::cli
