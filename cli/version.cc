#include <fmt/format.h>

#include "cli/verbs.h"

namespace kernelfleet::cli {
namespace {

absl::StatusOr<Exit> Run(const Arguments&, Terminal& terminal) {
  terminal.Print("kernelfleet " KERNELFLEET_VERSION "\n");
  return Exit::kYes;
}

}  // namespace

const Verb kVersionVerb = {
    "version", "", "Print the version of this program", {},  0,
    0,         "", "  kernelfleet version\n",           &Run};

}  // namespace kernelfleet::cli
