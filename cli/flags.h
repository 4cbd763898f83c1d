// Command-line flags as data: one table per verb serves parsing, help,
// completion and "did you mean".
//
//   constexpr Flag kFlags[] = {
//       {"--target", "TARGET", "Compile for this target", Repeat::kYes},
//       {"--json", "", "Print JSON"},
//   };
//   KF_ASSIGN_OR_RETURN(Arguments args, ParseArguments(kFlags, words));
//   for (const std::string& name : args.All("--target")) …
#ifndef KERNELFLEET_CLI_FLAGS_H_
#define KERNELFLEET_CLI_FLAGS_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kernelfleet::cli {

enum class Repeat { kNo, kYes };

struct Flag {
  // With its dashes: "--target".
  std::string_view name;
  // What stands for the value in help, "TARGET"; empty for a switch.
  std::string_view value;
  std::string_view help;
  Repeat repeat = Repeat::kNo;
  // Alternative spelling, "-o".
  std::string_view short_name = {};
  // Words to offer and accept, separated by blanks; empty: anything.
  std::string_view choices = {};
};

// What was given on the command line. Words after `--` are positional.
class Arguments {
 public:
  bool Has(std::string_view flag) const;
  // The last value given, or `fallback`.
  std::string Get(std::string_view flag, std::string_view fallback = "") const;
  const std::vector<std::string>& All(std::string_view flag) const;
  const std::vector<std::string>& positional() const { return positional_; }

 private:
  friend absl::StatusOr<Arguments> ParseArguments(
      std::span<const Flag> flags, std::span<const std::string> words);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> positional_;
};

// INVALID_ARGUMENT with one sentence: an unknown flag (with the nearest known
// one), a missing or unexpected value, a flag given twice, a value outside
// the choices. `--flag=value` and `--flag value` are the same.
absl::StatusOr<Arguments> ParseArguments(std::span<const Flag> flags,
                                         std::span<const std::string> words);

// A whole number within bounds, for flags such as --limit.
absl::StatusOr<int64_t> IntFlag(const Arguments& args, std::string_view flag,
                                int64_t fallback, int64_t low, int64_t high);

// The candidate nearest to `word`, if near enough to be meant.
std::optional<std::string_view> DidYouMean(
    std::string_view word, std::span<const std::string_view> candidates);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_FLAGS_H_
