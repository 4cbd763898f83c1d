#include "cli/unified_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kernelfleet::cli {
namespace {

constexpr int kContext = 3;

struct Step {
  // ' ', '-' or '+'.
  char kind;
  std::string_view line;
};

// Lines with their ends.
std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t at = text.find('\n');
    const size_t size = at == std::string_view::npos ? text.size() : at + 1;
    out.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return out;
}

// E. Myers, "An O(ND) Difference Algorithm" (1986): how far each diagonal gets
// after 0, 1, 2 … edits, until one reaches both ends.
std::vector<std::vector<int>> Frontiers(
    const std::vector<std::string_view>& a,
    const std::vector<std::string_view>& b) {
  const int n = static_cast<int>(a.size());
  const int m = static_cast<int>(b.size());
  std::vector<std::vector<int>> history;
  std::vector<int> reach(1, 0);
  for (int edits = 0;; ++edits) {
    // Index d + edits holds diagonal d = x - y, from -edits to edits.
    std::vector<int> now(static_cast<size_t>(2 * edits + 1), 0);
    for (int d = -edits; d <= edits; d += 2) {
      const auto before = [&](int diagonal) {
        const int index = diagonal + edits - 1;
        return index < 0 || index >= static_cast<int>(reach.size())
                   ? -1
                   : reach[static_cast<size_t>(index)];
      };
      int x = 0;
      if (edits > 0) {
        const bool down =
            d == -edits || (d != edits && before(d - 1) < before(d + 1));
        x = down ? before(d + 1) : before(d - 1) + 1;
      }
      while (x < n && x - d < m &&
             a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - d)]) {
        ++x;
      }
      now[static_cast<size_t>(d + edits)] = x;
      if (x >= n && x - d >= m) {
        history.push_back(now);
        return history;
      }
    }
    reach = now;
    history.push_back(std::move(now));
  }
}

std::vector<Step> Script(const std::vector<std::string_view>& a,
                         const std::vector<std::string_view>& b) {
  const auto history = Frontiers(a, b);
  int x = static_cast<int>(a.size());
  int y = static_cast<int>(b.size());
  std::vector<Step> steps;
  for (int edits = static_cast<int>(history.size()) - 1; edits > 0; --edits) {
    const auto& reach = history[static_cast<size_t>(edits - 1)];
    const auto before = [&](int diagonal) {
      const int index = diagonal + edits - 1;
      return index < 0 || index >= static_cast<int>(reach.size())
                 ? -1
                 : reach[static_cast<size_t>(index)];
    };
    const int d = x - y;
    const bool down =
        d == -edits || (d != edits && before(d - 1) < before(d + 1));
    const int from_x = before(down ? d + 1 : d - 1);
    const int from_y = from_x - (down ? d + 1 : d - 1);
    while (x > (down ? from_x : from_x + 1) &&
           y > (down ? from_y + 1 : from_y)) {
      --x, --y;
      steps.push_back({' ', a[static_cast<size_t>(x)]});
    }
    if (down) {
      steps.push_back({'+', b[static_cast<size_t>(--y)]});
    } else {
      steps.push_back({'-', a[static_cast<size_t>(--x)]});
    }
  }
  while (x > 0) steps.push_back({' ', a[static_cast<size_t>(--x)]});
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// The steps [begin, end) as a hunk that starts at these 1-based lines.
std::string Hunk(const std::vector<Step>& steps, size_t begin, size_t end,
                 int line_a, int line_b) {
  int count_a = 0, count_b = 0;
  std::string body;
  for (size_t i = begin; i < end; ++i) {
    count_a += steps[i].kind != '+';
    count_b += steps[i].kind != '-';
    body += steps[i].kind;
    body += steps[i].line;
    if (!steps[i].line.ends_with('\n')) {
      body += "\n\\ No newline at end of file\n";
    }
  }
  return fmt::format("@@ -{},{} +{},{} @@\n{}",
                     count_a == 0 ? line_a - 1 : line_a, count_a,
                     count_b == 0 ? line_b - 1 : line_b, count_b, body);
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after,
                        std::string_view before_name,
                        std::string_view after_name) {
  if (before == after) return {};
  const std::vector<Step> steps = Script(LinesOf(before), LinesOf(after));
  std::string out = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  int line_a = 1, line_b = 1;
  size_t at = 0;
  while (at < steps.size()) {
    size_t change = at;
    while (change < steps.size() && steps[change].kind == ' ') ++change;
    if (change == steps.size()) break;
    const size_t begin = change - std::min<size_t>(change - at, kContext);
    line_a += static_cast<int>(begin - at);
    line_b += static_cast<int>(begin - at);
    // Up to the last change that is followed by six unchanged lines or less.
    size_t end = change, quiet = 0;
    for (size_t i = change; i < steps.size() && quiet <= 2 * kContext; ++i) {
      quiet = steps[i].kind == ' ' ? quiet + 1 : 0;
      if (quiet == 0) end = i + 1;
    }
    end = std::min(steps.size(), end + kContext);
    out += Hunk(steps, begin, end, line_a, line_b);
    for (size_t i = begin; i < end; ++i) {
      line_a += steps[i].kind != '+';
      line_b += steps[i].kind != '-';
    }
    at = end;
  }
  return out;
}

}  // namespace kernelfleet::cli
