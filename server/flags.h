// The command line of kernelfleet-server.
#ifndef KERNELFLEET_SERVER_FLAGS_H_
#define KERNELFLEET_SERVER_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/server.h"

namespace kernelfleet::server {

struct Flags {
  ServerOptions server;
  std::string log_level = "info";
  // Gets the port as text once the server listens; empty: none.
  std::string port_file;
  // Not empty for --help and --version: print it and exit.
  std::string say;
};

// INVALID_ARGUMENT with one sentence.
absl::StatusOr<Flags> ParseFlags(int argc, const char* const* argv);

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_FLAGS_H_
