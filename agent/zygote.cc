#include "agent/zygote.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::agent {
namespace {

constexpr size_t kMaxLine = 128 << 10;
constexpr size_t kLastWords = 4 << 10;
// After its stdin closed: it kills what it runs first.
constexpr absl::Duration kExitLimit = absl::Seconds(20);

absl::Duration Now() { return RealClock().Steady(); }

PhaseEnd EndOf(const v1::RunnerEvent& event) {
  PhaseEnd end;
  end.exit_status = event.exit_status();
  end.signal = event.signal();
  end.timed_out = event.timed_out();
  end.cancelled = event.cancelled();
  end.output_truncated = event.output_truncated();
  end.peak_rss_bytes = event.peak_rss_bytes();
  end.wall = absl::Milliseconds(event.wall_ms());
  return end;
}

v1::RunnerCommand CommandOf(const PhaseRun& run, absl::Duration grace) {
  v1::RunnerCommand command;
  command.set_op("run");
  command.set_id(run.id);
  command.set_dir(run.directory);
  command.set_run_s(absl::ToDoubleSeconds(run.timeout));
  command.set_output_bytes(static_cast<double>(run.output_bytes));
  command.set_memory_bytes(static_cast<double>(run.memory_bytes));
  command.set_file_bytes(static_cast<double>(run.file_bytes));
  command.set_grace_s(absl::ToDoubleSeconds(grace));
  command.mutable_environment()->insert(run.environment.begin(),
                                        run.environment.end());
  return command;
}

}  // namespace

Zygote::Zygote(ZygoteOptions options)
    : options_(std::move(options)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  {
    MutexLock lock(mutex_);
    started_ = idle_since_ = Now();
  }
  thread_ = std::thread([this] { Serve(); });
}

Zygote::~Zygote() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  Wake();
  thread_.join();
}

void Zygote::Wake() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

bool Zygote::alive() {
  MutexLock lock(mutex_);
  return state_ != State::kEnded && !closing_;
}

int Zygote::running() {
  MutexLock lock(mutex_);
  return static_cast<int>(flights_.size());
}

absl::StatusOr<PhaseEnd> Zygote::Run(const PhaseRun& run,
                                     std::stop_token stop) {
  Flight flight;
  {
    MutexLock lock(mutex_);
    if (closing_ || state_ == State::kEnded) {
      if (absl::IsFailedPrecondition(ended_why_)) return ended_why_;
      return Error(absl::StatusCode::kAborted, "the runner has stopped");
    }
    if (flights_.contains(run.id)) {
      return InvalidArgument("an attempt of this id runs already");
    }
    flight.deadline = Now() + run.timeout + options_.overrun +
                      (state_ == State::kStarting ? options_.start_limit
                                                  : absl::ZeroDuration());
    flights_[run.id] = &flight;
    Send(CommandOf(run, options_.grace));
  }
  Wake();
  const std::stop_callback cancel(stop, [&] {
    v1::RunnerCommand command;
    command.set_op("cancel");
    command.set_id(run.id);
    command.set_grace_s(absl::ToDoubleSeconds(options_.grace));
    MutexLock lock(mutex_);
    Send(command);
    Wake();
  });
  MutexLock lock(mutex_);
  while (!flight.ended) {
    changed_.Wait(mutex_, RealClock(), absl::InfiniteDuration());
  }
  return flight.end;
}

void Zygote::Send(const v1::RunnerCommand& command) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string line;
  const auto printed =
      google::protobuf::util::MessageToJsonString(command, &line, options);
  if (printed.ok()) unsent_ += line + "\n";
}

// --- The thread.

void Zygote::Serve() {
  const absl::Status started = Start();
  if (started.ok()) {
    Loop();
  } else {
    End(FailedPrecondition(Text(started)));
  }
}

absl::Status Zygote::Start() {
  KF_ASSIGN_OR_RETURN(Pipe in, MakePipe());
  KF_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  KF_ASSIGN_OR_RETURN(Pipe err, MakePipe());
  Process::Streams streams;
  streams.in = in.read.get();
  streams.out = out.write.get();
  streams.err = err.write.get();
  KF_ASSIGN_OR_RETURN(Process process,
                      Process::Start(options_.process, streams));
  in_ = std::move(in.write);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  for (const Fd* fd : {&in_, &out_, &err_}) {
    ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  }
  process_ = std::move(process);
  return absl::OkStatus();
}

void Zygote::Loop() {
  for (;;) {
    int timeout = 0;
    bool writing = false;
    {
      MutexLock lock(mutex_);
      if (closing_) break;
      timeout = PollTimeout();
      writing = state_ == State::kReady && !unsent_.empty();
    }
    struct pollfd fds[4] = {{out_.get(), POLLIN, 0},
                            {err_.get(), POLLIN, 0},
                            {wake_.get(), POLLIN, 0},
                            {writing ? in_.get() : -1, POLLOUT, 0}};
    ::poll(fds, 4, timeout);
    uint64_t count = 0;
    if (fds[2].revents) (void)!::read(wake_.get(), &count, sizeof count);
    if (!ReadEvents()) break;
    if (writing && !WriteCommands()) break;
    MutexLock lock(mutex_);
    if (const std::string why = Overdue(); !why.empty()) {
      last_words_ = why;
      if (process_) process_->Signal(SIGKILL);
      break;
    }
    if (closing_) break;
  }
  End(absl::OkStatus());
}

// Milliseconds until something is due.
int Zygote::PollTimeout() {
  absl::Duration due = absl::InfiniteDuration();
  if (state_ == State::kStarting) due = started_ + options_.start_limit;
  if (state_ == State::kReady && flights_.empty()) {
    due = idle_since_ + options_.idle_limit;
  }
  for (const auto& [id, flight] : flights_) {
    due = std::min(due, flight->deadline);
  }
  const absl::Duration left = std::clamp(due - Now(), absl::ZeroDuration(),
                                         absl::Duration(absl::Hours(1)));
  return static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
}

std::string Zygote::Overdue() {
  const absl::Duration now = Now();
  if (state_ == State::kStarting && now >= started_ + options_.start_limit) {
    return "not ready in time";
  }
  for (const auto& [id, flight] : flights_) {
    if (now >= flight->deadline) return "did not end attempt " + id;
  }
  if (state_ == State::kReady && flights_.empty() &&
      now >= idle_since_ + options_.idle_limit) {
    closing_ = true;
  }
  return "";
}

// False when the process closed its output or broke the protocol.
bool Zygote::ReadEvents() {
  char buffer[16 << 10];
  ssize_t n = 0;
  while ((n = ::read(err_.get(), buffer, sizeof buffer)) > 0) {
    last_words_.append(buffer, static_cast<size_t>(n));
    if (last_words_.size() > kLastWords) {
      last_words_.erase(0, last_words_.size() - kLastWords);
    }
  }
  while ((n = ::read(out_.get(), buffer, sizeof buffer)) > 0) {
    unread_.append(buffer, static_cast<size_t>(n));
    for (size_t end; (end = unread_.find('\n')) != std::string::npos;) {
      Obey(unread_.substr(0, end));
      unread_.erase(0, end + 1);
    }
    if (unread_.size() > kMaxLine) return false;
  }
  return n < 0 && (errno == EAGAIN || errno == EINTR);
}

void Zygote::Obey(const std::string& line) {
  v1::RunnerEvent event;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  if (!google::protobuf::util::JsonStringToMessage(line, &event, options)
           .ok()) {
    LogWarning("runner said no event", {{"line", Shorten(line, 200)}});
    return;
  }
  MutexLock lock(mutex_);
  if (event.event() == "ready") {
    state_ = State::kReady;
    idle_since_ = Now();
    LogInfo("runner ready", {{"pid", event.pid()},
                             {"triton", event.triton()},
                             {"warm_ms", event.warm_ms()}});
    return;
  }
  if (event.event() == "failed") {
    last_words_ = event.message();
    return;
  }
  const auto it = flights_.find(event.id());
  if (it == flights_.end()) return;
  if (event.event() == "ended") {
    it->second->end = EndOf(event);
  } else if (event.event() == "refused") {
    it->second->end = Unavailable("runner refused: " + event.message());
  } else {
    return;
  }
  it->second->ended = true;
  flights_.erase(it);
  idle_since_ = Now();
  changed_.NotifyAll();
}

bool Zygote::WriteCommands() {
  MutexLock lock(mutex_);
  while (!unsent_.empty()) {
    const ssize_t n = ::write(in_.get(), unsent_.data(), unsent_.size());
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    unsent_.erase(0, static_cast<size_t>(n));
  }
  return true;
}

// Ends the process, then every run that it still had. A process that never
// became ready says `why` in its last words.
void Zygote::End(absl::Status why) {
  in_.Reset();
  std::string how = "stopped";
  if (process_) {
    std::optional<ProcessResult> result = process_->Wait(kExitLimit);
    if (!result) {
      process_->Signal(SIGKILL);
      result = process_->Wait(absl::InfiniteDuration());
    }
    how = result->signal != 0
              ? fmt::format("was killed by signal {}", result->signal)
              : fmt::format("ended with status {}", result->exit_status);
    process_.reset();
  }
  MutexLock lock(mutex_);
  if (why.ok()) {
    const std::string_view words = Trim(last_words_);
    const std::string text =
        fmt::format("the runner {}{}{}", how, words.empty() ? "" : ": ",
                    Printable(Shorten(words, kLastWords)));
    why =
        state_ == State::kReady ? Unavailable(text) : FailedPrecondition(text);
  }
  if (!closing_) LogWarning("runner ended", {{"error", Text(why)}});
  ended_why_ = why;
  state_ = State::kEnded;
  for (auto& [id, flight] : flights_) {
    flight->end = why;
    flight->ended = true;
  }
  flights_.clear();
  changed_.NotifyAll();
}

}  // namespace kernelfleet::agent
