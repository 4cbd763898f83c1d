#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "common/base/strings.h"

namespace kernelfleet::cli {
namespace {

int WidthOf(int fd) {
  struct winsize size = {};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const char* columns = std::getenv("COLUMNS");
  const std::optional<int64_t> value = ParseInt(columns ? columns : "");
  return value ? static_cast<int>(*value) : 110;
}

}  // namespace

Terminal Terminal::OfProcess() {
  Terminal terminal;
  terminal.interactive_ = ::isatty(STDOUT_FILENO) != 0;
  const char* term = std::getenv("TERM");
  const bool smart =
      term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  terminal.live_ =
      terminal.interactive_ && ::isatty(STDERR_FILENO) != 0 && smart;
  // https://no-color.org: any non-empty value turns colour off.
  const char* no_color = std::getenv("NO_COLOR");
  terminal.color_ = terminal.interactive_ && smart &&
                    (no_color == nullptr || *no_color == '\0');
  terminal.width_ = std::clamp(WidthOf(STDOUT_FILENO), 40, 400);
  return terminal;
}

void Terminal::Print(std::string_view text) {
  ok_ = ok_ && std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
}

void Terminal::Say(std::string_view text) {
  // What was printed before comes first where both streams are one.
  (void)Flush();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

bool Terminal::Flush() {
  ok_ = std::fflush(stdout) == 0 && ok_;
  return ok_;
}

}  // namespace kernelfleet::cli
