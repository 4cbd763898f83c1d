#include "processes.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace kernelfleet::runner {
namespace {

// Names in a directory of /proc that are numbers.
std::vector<pid_t> Numbers(const std::string& directory) {
  std::vector<pid_t> numbers;
  DIR* stream = ::opendir(directory.c_str());
  if (stream == nullptr) return numbers;
  while (const dirent* entry = ::readdir(stream)) {
    char* end = nullptr;
    const long number = std::strtol(entry->d_name, &end, 10);
    if (*end == '\0') numbers.push_back(static_cast<pid_t>(number));
  }
  ::closedir(stream);
  return numbers;
}

// What the kernel says of a process's children, where it was built to say it.
bool ChildrenFromTasks(pid_t pid, std::vector<pid_t>* children) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  bool known = false;
  for (const pid_t task : Numbers(tasks)) {
    std::ifstream in(tasks + "/" + std::to_string(task) + "/children");
    known = known || in.is_open();
    pid_t child = 0;
    while (in >> child) children->push_back(child);
  }
  return known;
}

pid_t ParentOf(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(in, stat, '\0');
  // The name in parentheses may hold anything: read after the last one.
  const size_t close = stat.rfind(')');
  if (close == std::string::npos) return 0;
  std::istringstream rest(stat.substr(close + 1));
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

std::vector<pid_t> DescendantsFromScan(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : Numbers("/proc")) children.emplace(ParentOf(pid), pid);
  std::vector<pid_t> found = {root};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto it = begin; it != end; ++it) found.push_back(it->second);
  }
  found.erase(found.begin());
  return found;
}

std::vector<pid_t> Children(pid_t pid) {
  std::vector<pid_t> children;
  if (ChildrenFromTasks(pid, &children)) return children;
  for (const pid_t other : Numbers("/proc")) {
    if (ParentOf(other) == pid) children.push_back(other);
  }
  return children;
}

std::vector<pid_t> TreesBelow(pid_t pid,
                              const std::function<bool(pid_t)>& spare) {
  std::vector<pid_t> found;
  for (const pid_t child : Children(pid)) {
    if (spare(child)) continue;
    found.push_back(child);
    for (const pid_t below : Descendants(child)) found.push_back(below);
  }
  return found;
}

// Signals the process and, in the same step, its whole group: a fork bomb that
// stays in its group is taken as one, for the kernel lets no fork of a member
// pass a signal to the group. Groups never reach beyond the session that a
// worker leads.
bool Signal(pid_t pid, int signal) {
  const pid_t group = ::getpgid(pid);
  if (group > 1 && group != ::getpgrp()) ::kill(-group, signal);
  return ::kill(pid, signal) == 0;
}

}  // namespace

void AdoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<pid_t> Descendants(pid_t root) {
  std::vector<pid_t> found;
  if (!ChildrenFromTasks(root, &found)) return DescendantsFromScan(root);
  for (size_t i = 0; i < found.size(); ++i) {
    ChildrenFromTasks(found[i], &found);
  }
  return found;
}

bool ReapEnded(const Reaped& reaped) {
  for (;;) {
    int status = 0;
    rusage usage = {};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
    if (pid == 0) return true;
    if (pid > 0) {
      reaped(pid, status, usage);
    } else if (errno != EINTR) {
      return false;
    }
  }
}

bool KillTrees(const std::function<bool(pid_t)>& spare, double patience_s,
               const Reaped& reaped) {
  const double deadline = Now() + patience_s;
  while (ReapEnded(reaped)) {
    // Stop before the kill: what is stopped forks no more, so a few snapshots
    // hold the whole of a fork bomb.
    std::set<pid_t> stopped;
    for (bool more = true; more;) {
      more = false;
      for (const pid_t pid : TreesBelow(::getpid(), spare)) {
        if (stopped.insert(pid).second) more |= Signal(pid, SIGSTOP);
      }
      more = more && Now() < deadline;
    }
    if (stopped.empty()) return true;
    for (const pid_t pid : stopped) Signal(pid, SIGKILL);
    if (Now() > deadline) return false;
    const timespec moment = {0, 500'000};
    ::nanosleep(&moment, nullptr);
  }
  return true;
}

void CloseDescriptors(int keep) {
#ifdef SYS_close_range
  const auto close_range = [](unsigned first, unsigned last) {
    return first > last || ::syscall(SYS_close_range, first, last, 0) == 0;
  };
  if (keep < 3 && close_range(3, ~0u)) return;
  const auto kept = static_cast<unsigned>(keep);
  if (keep >= 3 && close_range(3, kept - 1) && close_range(kept + 1, ~0u)) {
    return;
  }
#endif
  for (const pid_t fd : Numbers("/proc/self/fd")) {
    if (fd > 2 && fd != keep) ::close(fd);
  }
}

double Now() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace kernelfleet::runner
