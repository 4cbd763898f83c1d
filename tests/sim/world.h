// One seed's world: time, a network that loses, doubles and delays, and a real
// coordinator on a real database that is killed and reopened.
//
// One thread. Everything random comes from the seed, so a seed replays.
#ifndef KERNELFLEET_TESTS_SIM_WORLD_H_
#define KERNELFLEET_TESTS_SIM_WORLD_H_

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "server/coordinator.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::server {

// How bad this seed's weather is.
struct Weather {
  double drop = 0;
  double duplicate = 0;
  double slow = 0;
  double agent_death = 0;
  // Mean time between the coordinator's deaths.
  absl::Duration server_life = absl::InfiniteDuration();
};

class World {
 public:
  explicit World(uint64_t seed);

  // --- Time.
  absl::Duration now() const { return clock_.Steady(); }
  void After(absl::Duration delay, std::function<void()> what);
  // Runs events until `until` or until `done` says so; false: it never did.
  bool Run(absl::Duration until, const std::function<bool()>& done);

  // --- Chance.
  SeededRandom& random() { return random_; }
  bool Chance(double p) { return random_.Uniform() < p; }
  absl::Duration Between(absl::Duration low, absl::Duration high) {
    return low + (high - low) * random_.Uniform();
  }

  // --- Network. `call` is made on the server, maybe twice, maybe never; the
  // caller hears at most once, or UNAVAILABLE after `timeout`.
  template <typename Response>
  using Call = std::function<void(Coordinator&, Done<Response>)>;
  template <typename Response>
  void Send(absl::Duration timeout, Call<Response> call, Done<Response> done) {
    auto heard = std::make_shared<bool>(false);
    auto once = [heard, done](absl::StatusOr<Response> answer) {
      if (std::exchange(*heard, true)) return;
      done(std::move(answer));
    };
    After(timeout, [once] { once(absl::UnavailableError("timed out")); });
    const int copies = Chance(weather.drop)        ? 0
                       : Chance(weather.duplicate) ? 2
                                                   : 1;
    for (int i = 0; i < copies; ++i) {
      After(Delay(), [this, call, once] { Deliver<Response>(call, once); });
    }
  }

  // --- The coordinator.
  Coordinator& server() { return *server_; }
  bool up() const { return server_ != nullptr; }
  // Runs the writer until it rests.
  void Pump();
  // Dies now, without a word; or in the middle of its next transaction; or at
  // its end, just before the commit.
  void Kill();
  void KillInTransaction() { kill_in_transaction_ = true; }
  void KillBeforeCommit() { kill_before_commit_ = true; }
  // No death that was ordered before comes later.
  void SpareServer() { kill_in_transaction_ = kill_before_commit_ = false; }
  void Restart();
  int deaths() const { return deaths_; }

  // The workflow of the simulation; records that it was asked.
  Plan Next(const v1::JobSpec& job, int kernel,
            std::span<const v1::TaskRecord> records);

  Weather weather;
  // Who got which fence: nobody gets one twice.
  std::map<int64_t, std::string> fence_holders;
  std::set<std::string> blobs;
  std::vector<std::string> trouble;

 private:
  struct Event {
    absl::Duration at;
    uint64_t order;
    std::function<void()> what;
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  absl::Duration Delay();
  void CopyFolder();
  // The files as they are now are all that is left.
  void DieHere();
  void Open();

  template <typename Response, typename Once>
  void Deliver(const Call<Response>& call, Once once) {
    if (!up()) {
      After(Delay(), [once] { once(absl::UnavailableError("refused")); });
      return;
    }
    const int life = deaths_;
    call(*server_, [this, life, once](absl::StatusOr<Response> answer) {
      // What a dead server says nobody hears, nor what it says after the
      // moment at which it is to have died.
      if (life != deaths_ || died_in_transaction_) return;
      if (Chance(weather.drop)) return;
      After(Delay(), [once, answer = std::move(answer)] { once(answer); });
    });
    Pump();
  }

  SeededRandom random_;
  testing::FakeClock clock_;
  testing::TempDir folder_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t order_ = 0;
  std::unique_ptr<Coordinator> server_;
  SeededRandom server_random_;
  int deaths_ = 0;
  int generation_ = 0;
  bool kill_in_transaction_ = false;
  bool kill_before_commit_ = false;
  bool died_in_transaction_ = false;
  absl::Duration wake_at_ = absl::InfiniteDuration();
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_TESTS_SIM_WORLD_H_
