#include "server/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernelfleet::server {
namespace {

// What an environment says about a target: nothing, compiles, or runs it.
enum class Ability { kNone, kCompiles, kRuns };

Ability AbilityOf(const v1::Environment& environment,
                  const std::string& target) {
  for (const v1::TargetCapability& each : environment.targets()) {
    if (TargetText(each.target()) != target) continue;
    if (each.runs()) return Ability::kRuns;
    if (each.compiles()) return Ability::kCompiles;
  }
  return Ability::kNone;
}

Ability AbilityOf(const v1::NodeFacts& facts, const std::string& target) {
  Ability best = Ability::kNone;
  for (const v1::Environment& each : facts.environments()) {
    best = std::max(best, AbilityOf(each, target));
  }
  return best;
}

std::string Nodes(int count) {
  return fmt::format("{} node{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::string TargetText(const v1::Target& target) {
  if (target.backend().empty()) return "";
  return target.backend() + ":" + target.arch();
}

Needs NeedsOf(const v1::JobSpec& job, const v1::TaskSpec& task) {
  return {.target = TargetText(task.target()),
          .gpu = task.needs_gpu(),
          .node = job.node(),
          .environment = job.environment(),
          .environment_hash = task.environment_hash()};
}

int Scheduler::FittingEnvironment(const Needs& needs,
                                  const v1::NodeFacts& facts) {
  if (!needs.node.empty() && needs.node != facts.node_id()) return -1;
  for (int i = 0; i < facts.environments_size(); ++i) {
    const v1::Environment& each = facts.environments(i);
    if (!needs.environment.empty() && needs.environment != each.name()) {
      continue;
    }
    if (!needs.environment_hash.empty() &&
        needs.environment_hash != each.hash()) {
      continue;
    }
    if (needs.target.empty()) return i;
    const Ability ability = AbilityOf(each, needs.target);
    if (ability == Ability::kRuns) return i;
    if (ability == Ability::kCompiles && !needs.gpu) return i;
  }
  return -1;
}

int Scheduler::FreeGpu(const Needs& needs, const v1::NodeFacts& facts,
                       std::span<const int> gpus) {
  const std::string arch = needs.target.substr(needs.target.find(':') + 1);
  for (const v1::Gpu& gpu : facts.gpus()) {
    if (std::ranges::find(gpus, gpu.index()) == gpus.end()) continue;
    if (arch.empty() || gpu.arch().empty() || gpu.arch() == arch) {
      return gpu.index();
    }
  }
  return -1;
}

int Scheduler::ClassOf(const Needs& needs) {
  const auto [entry, added] =
      numbers_.try_emplace(needs, static_cast<int>(classes_.size()));
  if (!added) return entry->second;
  classes_.push_back({.needs = &entry->first, .levels = {}});
  for (auto& [name, node] : nodes_) {
    const int environment = FittingEnvironment(needs, node.facts);
    if (environment >= 0) node.fits.emplace_back(entry->second, environment);
  }
  return entry->second;
}

void Scheduler::SetNode(const std::string& name, const v1::NodeFacts& facts) {
  Node& node = nodes_[name];
  node.facts = facts;
  node.facts.set_node_id(name);
  node.fits.clear();
  for (int c = 0; c < classes(); ++c) {
    const int environment = FittingEnvironment(needs(c), node.facts);
    if (environment >= 0) node.fits.emplace_back(c, environment);
  }
}

void Scheduler::SetPresence(const std::string& name, Presence presence) {
  const auto node = nodes_.find(name);
  if (node != nodes_.end()) node->second.presence = presence;
}

void Scheduler::Push(int c, int priority, int64_t job, int64_t task) {
  if (classes_[Index(c)].levels[priority].jobs[job].insert(task).second) {
    ++ready_;
  }
}

void Scheduler::Erase(int c, int priority, int64_t job, int64_t task) {
  auto& levels = classes_[Index(c)].levels;
  const auto level = levels.find(priority);
  if (level == levels.end()) return;
  const auto tasks = level->second.jobs.find(job);
  if (tasks == level->second.jobs.end()) return;
  ready_ -= static_cast<int64_t>(tasks->second.erase(task));
  if (!tasks->second.empty()) return;
  level->second.jobs.erase(tasks);
  if (level->second.jobs.empty()) levels.erase(level);
}

std::optional<int64_t> Scheduler::TakeFrom(
    Class& c, const std::function<bool(int64_t)>& admits) {
  for (auto level = c.levels.begin(); level != c.levels.end(); ++level) {
    auto& jobs = level->second.jobs;
    auto job = jobs.upper_bound(level->second.last_job);
    for (size_t i = 0; i < jobs.size(); ++i, ++job) {
      if (job == jobs.end()) job = jobs.begin();
      std::set<int64_t>& tasks = job->second;
      const auto task = std::ranges::find_if(tasks, admits);
      if (task == tasks.end()) continue;
      const int64_t taken = *task;
      level->second.last_job = job->first;
      tasks.erase(task);
      if (tasks.empty()) jobs.erase(job);
      if (jobs.empty()) c.levels.erase(level);
      --ready_;
      return taken;
    }
  }
  return std::nullopt;
}

std::optional<Scheduler::Pick> Scheduler::Take(
    const std::string& name, bool slot, std::span<const int> gpus,
    const std::function<bool(int64_t)>& admits) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || ready_ == 0) return std::nullopt;
  Node& node = found->second;
  if (node.presence != Presence::kAccepting) return std::nullopt;
  // Classes whose best task has the highest priority, in turns.
  struct Candidate {
    int priority;
    size_t order;
    size_t fit;
    int gpu;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < node.fits.size(); ++i) {
    const size_t fit = (node.turn + i) % node.fits.size();
    const Class& c = classes_[Index(node.fits[fit].first)];
    if (c.levels.empty()) continue;
    const int gpu = c.needs->gpu ? FreeGpu(*c.needs, node.facts, gpus) : -1;
    if (c.needs->gpu ? gpu < 0 : !slot) continue;
    candidates.push_back({c.levels.begin()->first, i, fit, gpu});
  }
  std::ranges::stable_sort(candidates, std::greater<>{}, &Candidate::priority);
  for (const Candidate& each : candidates) {
    const auto [c, environment] = node.fits[each.fit];
    const auto task = TakeFrom(classes_[Index(c)], admits);
    if (!task) continue;
    node.turn = each.fit + 1;
    return Pick{*task, &node.facts.environments(environment), each.gpu};
  }
  return std::nullopt;
}

bool Scheduler::FitsElsewhere(int c,
                              std::span<const std::string> besides) const {
  for (const auto& [name, node] : nodes_) {
    if (node.presence != Presence::kAccepting) continue;
    if (std::ranges::find(besides, name) != besides.end()) continue;
    for (const auto& fit : node.fits) {
      if (fit.first == c) return true;
    }
  }
  return false;
}

std::vector<std::string> Scheduler::EnvironmentHashes(int c) const {
  std::vector<std::string> hashes;
  for (const auto& [name, node] : nodes_) {
    for (const auto& fit : node.fits) {
      if (fit.first != c) continue;
      hashes.push_back(node.facts.environments(fit.second).hash());
    }
  }
  return hashes;
}

std::string Scheduler::WhyWaiting(int c) const {
  const Needs& need = needs(c);
  int present = 0;
  int compile = 0;
  int run = 0;
  int fitting = 0;
  std::string away;
  for (const auto& [name, node] : nodes_) {
    const bool fits = FittingEnvironment(need, node.facts) >= 0;
    if (node.presence == Presence::kAbsent) {
      if (fits) away = fmt::format("node {} could, but is offline", name);
      continue;
    }
    ++present;
    const Ability ability = AbilityOf(node.facts, need.target);
    compile += ability != Ability::kNone;
    run += ability == Ability::kRuns;
    if (!fits) continue;
    if (node.presence == Presence::kCordoned) {
      away = fmt::format("node {} could, but takes no work now", name);
      continue;
    }
    ++fitting;
  }
  if (fitting > 0) {
    return fmt::format("waits for a free {} on {}", need.gpu ? "GPU" : "slot",
                       fitting == 1 ? "the one node that can take it"
                                    : fmt::format("one of {}", Nodes(fitting)));
  }
  if (!away.empty()) return away;
  if (present == 0) return "no node is connected";
  if (!need.node.empty() && !nodes_.contains(need.node)) {
    return fmt::format("no node is called {}", need.node);
  }
  if (need.gpu && run == 0 && compile > 0) {
    return fmt::format("no node runs {}; {} compile{} it", need.target,
                       Nodes(compile), compile == 1 ? "s" : "");
  }
  if (!need.target.empty() && (need.gpu ? run : compile) == 0) {
    return fmt::format("none of {} {} {}", Nodes(present),
                       need.gpu ? "runs" : "compiles for", need.target);
  }
  std::string where = need.node.empty() ? "no node" : "node " + need.node;
  if (!need.environment.empty()) {
    return fmt::format("{} has an environment {} for {}", where,
                       need.environment, need.target);
  }
  if (!need.environment_hash.empty()) {
    return fmt::format("{} has the environment {} any more", where,
                       need.environment_hash);
  }
  return fmt::format("{} can take {}", where,
                     need.target.empty() ? "it" : need.target);
}

}  // namespace kernelfleet::server
