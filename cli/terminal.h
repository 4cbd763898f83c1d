// Where a verb writes: standard output with what is known of the reader.
#ifndef KERNELFLEET_CLI_TERMINAL_H_
#define KERNELFLEET_CLI_TERMINAL_H_

#include <string_view>

namespace kernelfleet::cli {

// Not thread-safe.
class Terminal {
 public:
  // Looks at descriptors 1 and 2, NO_COLOR, TERM and the window size.
  static Terminal OfProcess();

  // Text must have gone through Printable() where it came from outside.
  void Print(std::string_view text);
  // To standard error.
  void Say(std::string_view text);

  // Standard output is a terminal.
  bool interactive() const { return interactive_; }
  // Both streams are terminals that understand cursor movement.
  bool live() const { return live_; }
  // Escape sequences for colour are wanted.
  bool color() const { return color_; }
  int width() const { return width_; }
  // False once the reader went away or the disk is full.
  bool ok() const { return ok_; }
  bool Flush();

 private:
  Terminal() = default;
  bool interactive_ = false;
  bool live_ = false;
  bool color_ = false;
  int width_ = 80;
  bool ok_ = true;
};

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_TERMINAL_H_
