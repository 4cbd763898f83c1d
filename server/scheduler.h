// Which waiting task goes to which node: an in-memory mirror of the open work,
// rebuilt at start. No SQL, no clock, no threads: used by the writer alone.
//
// Tasks with equal needs form a class, so that placement costs by classes and
// nodes, not by tasks. Within a class higher priority goes first; jobs of one
// priority take turns, so that a batch of 100,000 does not hold up one probe.
#ifndef KERNELFLEET_SERVER_SCHEDULER_H_
#define KERNELFLEET_SERVER_SCHEDULER_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelfleet/v1/job.pb.h"
#include "kernelfleet/v1/node.pb.h"

namespace kernelfleet::server {

// What a task asks of a node. Empty: anything.
struct Needs {
  // "cuda:sm_100".
  std::string target;
  bool gpu = false;
  std::string node;
  std::string environment;
  std::string environment_hash;
  auto operator<=>(const Needs&) const = default;
};

std::string TargetText(const v1::Target& target);
Needs NeedsOf(const v1::JobSpec& job, const v1::TaskSpec& task);

class Scheduler {
 public:
  struct Pick {
    int64_t task = 0;
    const v1::Environment* environment = nullptr;
    // Index of the GPU; -1: none.
    int gpu = -1;
  };

  // A small number that stands for these needs.
  int ClassOf(const Needs& needs);
  const Needs& needs(int c) const { return *classes_[Index(c)].needs; }

  // Adds or replaces a node. Only an accepting node is offered work; an absent
  // one (silent) is mentioned in reasons but counts for nothing.
  enum class Presence { kAccepting, kCordoned, kAbsent };
  void SetNode(const std::string& node, const v1::NodeFacts& facts);
  void SetPresence(const std::string& node, Presence presence);

  void Push(int c, int priority, int64_t job, int64_t task);
  // No effect when it is not there.
  void Erase(int c, int priority, int64_t job, int64_t task);
  int64_t ready() const { return ready_; }

  // Takes the best ready task for a free compile slot or a free GPU of the
  // node. `admits` may hold a task back from this node.
  std::optional<Pick> Take(const std::string& node, bool slot,
                           std::span<const int> gpus,
                           const std::function<bool(int64_t task)>& admits);

  // True if an accepting node outside `besides` could take the class.
  bool FitsElsewhere(int c, std::span<const std::string> besides) const;

  // Hashes of the environments, of present and absent nodes, that could
  // produce a result for these needs.
  std::vector<std::string> EnvironmentHashes(int c) const;

  // One sentence: "no node runs cuda:sm_100; 2 nodes compile it".
  std::string WhyWaiting(int c) const;
  int classes() const { return static_cast<int>(classes_.size()); }

 private:
  struct Level {
    std::map<int64_t, std::set<int64_t>> jobs;
    int64_t last_job = 0;
  };
  struct Class {
    const Needs* needs = nullptr;
    std::map<int, Level, std::greater<>> levels;
  };
  struct Node {
    v1::NodeFacts facts;
    Presence presence = Presence::kAbsent;
    // Classes it can serve, each with the environment to use.
    std::vector<std::pair<int, int>> fits;
    size_t turn = 0;
  };
  static size_t Index(int c) { return static_cast<size_t>(c); }
  static int FittingEnvironment(const Needs& needs, const v1::NodeFacts& facts);
  static int FreeGpu(const Needs& needs, const v1::NodeFacts& facts,
                     std::span<const int> gpus);
  std::optional<int64_t> TakeFrom(Class& c,
                                  const std::function<bool(int64_t)>& admits);

  std::map<Needs, int> numbers_;
  std::vector<Class> classes_;
  std::map<std::string, Node> nodes_;
  int64_t ready_ = 0;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_SCHEDULER_H_
