// People: submit jobs until they are acknowledged, cancel some, watch some.
#ifndef KERNELFLEET_TESTS_SIM_CLIENT_MODEL_H_
#define KERNELFLEET_TESTS_SIM_CLIENT_MODEL_H_

#include <map>
#include <memory>
#include <set>
#include <string>

#include "tests/sim/world.h"

namespace kernelfleet::server {

class ClientModel {
 public:
  explicit ClientModel(World& world) : world_(world) {}

  // Submits a job now; tries again with the same key until it hears an answer.
  void Submit(int number);
  // Key to the job id that was acknowledged.
  const std::map<std::string, std::string>& acknowledged() const {
    return acknowledged_;
  }
  const std::set<std::string>& cancelled() const { return cancelled_; }
  // True when all of `submitted` were acknowledged.
  bool settled() const {
    return acknowledged_.size() == static_cast<size_t>(submitted_);
  }
  // Watchers must not outlive the server's life that they watch.
  void DropWatches() { watches_.clear(); }

 private:
  void Try(const std::string& key, const v1::JobSpec& spec);
  void Cancel(const std::string& job);
  void Follow(const std::string& job);

  World& world_;
  int submitted_ = 0;
  std::map<std::string, std::string> acknowledged_;
  std::set<std::string> cancelled_;
  // How far each job was watched, and the watches of this life.
  std::map<std::string, int64_t> watched_;
  std::map<std::string, std::unique_ptr<Watch>> watches_;
  std::set<std::string> stale_;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_TESTS_SIM_CLIENT_MODEL_H_
