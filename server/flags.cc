#include "server/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::server {

absl::StatusOr<Flags> ParseFlags(int argc, const char* const* argv) {
  Flags flags;
  std::string listen = rpc::ToString(rpc::Address());
  std::string durability = "full";
  bool insecure_plaintext = false;
  bool reflection = false;
  CLI::App app("The coordinator of a kernelfleet: keeps jobs and results.",
               "kernelfleet-server");
  app.set_version_flag("--version", "kernelfleet-server " KERNELFLEET_VERSION);
  app.add_option("--data-dir", flags.server.data_dir,
                 "Folder of the database and the blobs, on a local disk")
      ->required();
  app.add_option("--listen", listen, "Address to listen on; port 0: any")
      ->capture_default_str();
  app.add_flag("--insecure-plaintext", insecure_plaintext,
               "Listen beyond loopback although nothing is encrypted or "
               "authenticated");
  app.add_flag("--reflection", reflection,
               "Serve gRPC reflection, for grpcurl and the like");
  app.add_option("--log-level", flags.log_level,
                 "debug, info, warning, error or off")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  app.add_option("--durability", durability,
                 "full: an acknowledged call survives a power cut; normal: "
                 "the death of the process")
      ->check(CLI::IsMember({"full", "normal"}))
      ->capture_default_str();
  app.add_option("--port-file", flags.port_file,
                 "File to write the port to once listening");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    // --help and --version arrive as exceptions.
    std::ostringstream out;
    app.exit(asked, out, out);
    flags.say = out.str();
    return flags;
  } catch (const CLI::ParseError& error) {
    return InvalidArgument(
        fmt::format("{}; see --help", Printable(error.what())));
  }
  if (insecure_plaintext) flags.server.plaintext = rpc::Plaintext::kAnywhere;
  if (reflection) flags.server.reflection = Reflection::kOn;
  flags.server.durability =
      durability == "full" ? Durability::kFull : Durability::kNormal;
  KF_ASSIGN_OR_RETURN(flags.server.listen, rpc::ParseAddress(listen));
  return flags;
}

}  // namespace kernelfleet::server
