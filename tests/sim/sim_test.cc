// Many seeds of bad weather, then good weather, then the invariants.
//
// KERNELFLEET_SIM_SEED=n replays one seed; KERNELFLEET_SIM_SEEDS=n sets how
// many are run, from KERNELFLEET_SIM_FIRST.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "common/base/log.h"
#include "common/base/strings.h"
#include "tests/sim/agent_model.h"
#include "tests/sim/checker.h"
#include "tests/sim/client_model.h"
#include "tests/sim/world.h"

namespace kernelfleet::server {
namespace {

constexpr int64_t kSeeds = 500;
constexpr absl::Duration kBadWeather = absl::Seconds(150);
// Longer than every clock together: backoffs, leases, five failures each.
constexpr absl::Duration kGoodWeather = absl::Seconds(3000);

int64_t Setting(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text ? ParseInt(text).value_or(fallback) : fallback;
}

std::vector<std::string> RunSeed(uint64_t seed) {
  World world(seed);
  ClientModel clients(world);
  std::vector<std::unique_ptr<AgentModel>> agents;
  const int nodes = 2 + static_cast<int>(world.random().Next() % 4);
  for (int i = 0; i < nodes; ++i) {
    agents.push_back(std::make_unique<AgentModel>(world, i));
    agents.back()->Start();
  }
  const int jobs = 5 + static_cast<int>(world.random().Next() % 15);
  for (int i = 0; i < jobs; ++i) {
    world.After(world.Between(absl::ZeroDuration(), kBadWeather * 0.8),
                [&clients, i] { clients.Submit(i); });
  }
  std::function<void()> strike = [&] {
    if (world.now() > kBadWeather) return;
    if (world.up()) {
      clients.DropWatches();
      switch (world.random().Next() % 3) {
        case 0:
          world.Kill();
          break;
        case 1:
          world.KillInTransaction();
          break;
        default:
          world.KillBeforeCommit();
      }
    }
    world.After(world.weather.server_life * (0.5 + world.random().Uniform()),
                strike);
  };
  world.After(world.weather.server_life * world.random().Uniform(), strike);
  world.After(kBadWeather, [&world] {
    world.SpareServer();
    world.weather = {};
    world.Restart();
  });
  const auto ended = [&] {
    if (world.now() <= kBadWeather || !world.up() || !clients.settled()) {
      return false;
    }
    return world.server().GetServerInfo()->open_tasks() == 0;
  };
  // A little longer, so that what is still on its way arrives.
  if (world.Run(kBadWeather + kGoodWeather, ended)) {
    world.Run(world.now() + absl::Seconds(60), [] { return false; });
  }
  clients.DropWatches();
  if (!world.up()) world.Restart();
  Heard heard;
  heard.submitted = clients.acknowledged();
  heard.blobs = world.blobs;
  for (const auto& agent : agents) {
    heard.accepted.insert(agent->accepted().begin(), agent->accepted().end());
  }
  std::vector<std::string> found = CheckInvariants(world.server(), heard);
  found.insert(found.end(), world.trouble.begin(), world.trouble.end());
  if (!clients.settled())
    found.push_back("I8: a submission was never answered");
  return found;
}

TEST(SimTest, TheInvariantsHoldInEveryWeather) {
  SetLogLevel("off");
  const int64_t one = Setting("KERNELFLEET_SIM_SEED", -1);
  const int64_t first = one >= 0 ? one : Setting("KERNELFLEET_SIM_FIRST", 1);
  const int64_t count = one >= 0 ? 1 : Setting("KERNELFLEET_SIM_SEEDS", kSeeds);
  int bad = 0;
  for (int64_t seed = first; seed < first + count && bad < 5; ++seed) {
    const std::vector<std::string> found = RunSeed(static_cast<uint64_t>(seed));
    if (found.empty()) continue;
    ++bad;
    std::string text;
    for (size_t i = 0; i < found.size() && i < 10; ++i) {
      text += "\n  " + found[i];
    }
    ADD_FAILURE() << "KERNELFLEET_SIM_SEED=" << seed << text;
  }
}

}  // namespace
}  // namespace kernelfleet::server
