// An agent as a state machine: registers, leases, works, reports, dies.
#ifndef KERNELFLEET_TESTS_SIM_AGENT_MODEL_H_
#define KERNELFLEET_TESTS_SIM_AGENT_MODEL_H_

#include <map>
#include <set>
#include <string>

#include "tests/sim/world.h"

namespace kernelfleet::server {

class AgentModel {
 public:
  AgentModel(World& world, int number);

  void Start();
  // The process is gone with all it held; another starts later.
  void Die();
  // Fences for which the server said "accepted".
  const std::map<int64_t, int64_t>& accepted() const { return accepted_; }
  const std::string& id() const { return id_; }

 private:
  struct Work {
    v1::LeasedTask task;
    bool finished = false;
    v1::InfraFailure::Name infra = v1::InfraFailure::none;
  };
  // An event of this life only.
  void Later(absl::Duration delay, std::function<void()> what);
  template <typename Response>
  Done<Response> Mine(Done<Response> done) {
    return [this, life = life_, done](absl::StatusOr<Response> answer) {
      if (life == life_) done(std::move(answer));
    };
  }
  void Register();
  void Lease();
  void Beat();
  void Begin(const v1::LeasedTask& task);
  void Finish(int64_t fence);
  void Report(int64_t fence);
  void Cancel(int64_t fence);
  std::vector<v1::HeldAttempt> HeldNow() const;
  v1::NodeFacts Facts() const;

  World& world_;
  const std::string id_;
  const int number_;
  int life_ = 0;
  bool registered_ = false;
  bool registering_ = false;
  bool leasing_ = false;
  int64_t session_ = 0;
  std::map<int64_t, Work> held_;
  std::map<int64_t, int64_t> accepted_;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_TESTS_SIM_AGENT_MODEL_H_
