// A verb of the command line, and the table of them. One file per verb defines
// its Verb; verbs.cc lists them.
#ifndef KERNELFLEET_CLI_VERB_H_
#define KERNELFLEET_CLI_VERB_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cli/flags.h"
#include "cli/terminal.h"

namespace kernelfleet::cli {

// What the process exits with. An error Status is mapped by ExitOf().
enum class Exit {
  kYes = 0,
  // The command worked and the finding is against the kernel.
  kNo = 1,
  kUsage = 2,
  // The server or the way to it failed.
  kServer = 3,
};

struct Verb {
  std::string_view name;
  // "FILE…", for the usage line.
  std::string_view arguments;
  // One line for the list of verbs.
  std::string_view summary;
  std::span<const Flag> flags;
  size_t min_arguments;
  size_t max_arguments;
  // Shown by --help below the flags: what it does, then examples.
  std::string_view details;
  std::string_view examples;
  absl::StatusOr<Exit> (*run)(const Arguments& args, Terminal& terminal);
};

inline constexpr size_t kAnyNumber = ~size_t{0};

// All verbs, in the order of the help.
std::span<const Verb* const> Verbs();

// Null when there is none of that name.
const Verb* FindVerb(std::string_view name);

// INVALID_ARGUMENT with the nearest verb, if one is near.
absl::Status UnknownVerb(std::string_view name);

// Flags that verbs which talk to a server add to their own.
#define KERNELFLEET_SERVER_FLAGS                                        \
  {"--server", "HOST:PORT",                                             \
   "Coordinator; else KERNELFLEET_SERVER, the config file, or "         \
   "127.0.0.1:7411"},                                                   \
  {                                                                     \
    "--insecure-plaintext", "", "Allow an address that is not loopback" \
  }

std::string HelpOf(const Verb& verb);

// INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS and FAILED_PRECONDITION are for
// the user to mend (kUsage), the rest are the server's or the network's.
Exit ExitOf(const absl::Status& status);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_VERB_H_
