#include <fmt/format.h>

#include <atomic>

#include "cli/client.h"
#include "cli/interrupt.h"
#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/report/words.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--follow", "", "Wait for more until the attempt ends", Repeat::kNo, "-f"},
    {"--task", "ID", "Only this task, as `show` lists it"},
    {"--raw", "", "Write bytes as they are to a terminal"},
    KERNELFLEET_SERVER_FLAGS,
};

constexpr int kChunkBytes = 1 << 20;

// One attempt's log; `title` first, when there is anything.
absl::Status PrintLog(Client& client, v1::ReadLogRequest request,
                      std::string title, const Arguments& args,
                      Terminal& terminal) {
  const bool clean = terminal.interactive() && !args.Has("--raw");
  for (;;) {
    KF_ASSIGN_OR_RETURN(const v1::ReadLogResponse response,
                        client.ReadLog(request));
    if (!response.data().empty()) {
      terminal.Print(title);
      title.clear();
    }
    terminal.Print(clean ? Printable(response.data(), Newlines::kKeep)
                         : response.data());
    if (!terminal.Flush()) return absl::OkStatus();
    // One attempt to its end; another one would be another log.
    request.set_fence(response.fence());
    request.set_offset(response.next_offset());
    const bool more = !response.data().empty() || request.follow();
    if (response.complete() && response.data().empty()) break;
    if (!more) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(const int64_t wanted,
                      IntFlag(args, "--task", 0, 1, INT64_MAX));
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  KF_ASSIGN_OR_RETURN(const v1::JobDetail job,
                      client.GetJob(args.positional()[0]));
  std::atomic<bool> interrupted = false;
  const Interrupt interrupt([&] {
    interrupted = true;
    client.Stop();
  });
  int shown = 0;
  for (const v1::TaskRecord& task : job.tasks()) {
    if (wanted != 0 && task.task_id() != wanted) continue;
    if (task.from_cache() || (task.attempts() == 0 && !args.Has("--follow"))) {
      continue;
    }
    ++shown;
    const std::string title =
        wanted != 0
            ? ""
            : fmt::format(
                  "==> task {}, {}\n", task.task_id(),
                  Printable(report::TaskLabel(job.spec(), task.spec())));
    v1::ReadLogRequest request;
    request.set_job_id(job.summary().job_id());
    request.set_task_id(task.task_id());
    request.set_max_bytes(kChunkBytes);
    request.set_follow(args.Has("--follow"));
    const absl::Status status =
        PrintLog(client, request, title, args, terminal);
    if (interrupted) return Exit::kYes;
    // A task that never started has no log.
    if (!status.ok() && status.code() != absl::StatusCode::kNotFound) {
      return status;
    }
  }
  if (wanted != 0 && shown == 0) {
    return NotFound(fmt::format("job {} has no log of task {}",
                                Printable(job.summary().job_id()), wanted));
  }
  return Exit::kYes;
}

}  // namespace

const Verb kLogsVerb = {"logs",
                        "JOB",
                        "Print what the builds of a job wrote",
                        kFlags,
                        1,
                        1,
                        "JOB is an id, a unique prefix of one, or `last`.",
                        "  kernelfleet logs last\n"
                        "  kernelfleet logs -f last --task 12\n",
                        &Run};

}  // namespace kernelfleet::cli
