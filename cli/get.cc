#include <fmt/format.h>

#include "cli/artifacts.h"
#include "cli/client.h"
#include "cli/verbs.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--output", "FILE", "Write here instead of to standard output",
     Repeat::kNo, "-o"},
    {"--raw", "", "Write bytes as they are to a terminal"},
    KERNELFLEET_SERVER_FLAGS,
};

constexpr size_t kMaxChoices = 8;

// The one artifact whose name is, or ends with, what was asked for.
absl::StatusOr<std::string> FindDigest(Client& client,
                                       const std::string& wanted) {
  if (IsDigest(wanted)) return wanted;
  const size_t slash = wanted.find('/');
  if (slash == std::string::npos || slash + 1 == wanted.size()) {
    return InvalidArgument(
        fmt::format("'{}' is neither sha256:… nor JOB/ARTIFACT",
                    Shorten(Printable(wanted), 120)));
  }
  KF_ASSIGN_OR_RETURN(const v1::JobDetail job,
                      client.GetJob(wanted.substr(0, slash)));
  const std::string name = wanted.substr(slash + 1);
  std::vector<NamedArtifact> found;
  for (const NamedArtifact& one : ArtifactsOf(job)) {
    if (one.name == name) return one.artifact.digest();
    if (one.name.ends_with("/" + name)) found.push_back(one);
  }
  if (found.empty()) {
    return NotFound(fmt::format(
        "job {} has no artifact '{}': `kernelfleet artifacts {}` lists them",
        Printable(job.summary().job_id()), Shorten(Printable(name), 120),
        Printable(job.summary().job_id())));
  }
  for (const NamedArtifact& one : found) {
    if (one.artifact.digest() == found[0].artifact.digest()) continue;
    std::string names;
    for (size_t i = 0; i < std::min(found.size(), kMaxChoices); ++i) {
      names +=
          fmt::format("{}{}", i == 0 ? "" : ", ", Printable(found[i].name));
    }
    return InvalidArgument(fmt::format(
        "'{}' is one of several: {}{}", Shorten(Printable(name), 120), names,
        found.size() > kMaxChoices ? ", …" : ""));
  }
  return found[0].artifact.digest();
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  KF_ASSIGN_OR_RETURN(const std::string digest,
                      FindDigest(client, args.positional()[0]));
  if (args.Has("--output")) {
    KF_RETURN_IF_ERROR(client.DownloadFile(digest, args.Get("--output")));
    return Exit::kYes;
  }
  KF_ASSIGN_OR_RETURN(const std::string bytes, client.Download(digest));
  // A terminal gets text without control characters unless told otherwise;
  // files and pipes get the bytes.
  terminal.Print(terminal.interactive() && !args.Has("--raw")
                     ? Printable(bytes, Newlines::kKeep)
                     : bytes);
  if (!terminal.Flush()) {
    return InvalidArgument("standard output could not be written in full");
  }
  return Exit::kYes;
}

}  // namespace

const Verb kGetVerb = {
    "get",
    "DIGEST|JOB/ARTIFACT",
    "Fetch an artifact",
    kFlags,
    1,
    1,
    "An artifact is named in full or by its last parts, as long as they name "
    "one.",
    "  kernelfleet get last/hip:gfx942/buffer_ops=1/kernel.amdgcn\n"
    "  kernelfleet get sha256:… -o kernel.cubin\n",
    &Run};

}  // namespace kernelfleet::cli
