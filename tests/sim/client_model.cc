#include "tests/sim/client_model.h"

#include <fmt/format.h>

#include "common/base/hash.h"

namespace kernelfleet::server {
namespace {

v1::JobSpec MakeSpec(World& world, int number) {
  v1::JobSpec spec;
  spec.set_workflow("probe");
  // Few different kernels, so that the cache is used.
  const int kernels = 1 + static_cast<int>(world.random().Next() % 4);
  for (int i = 0; i < kernels; ++i) {
    v1::KernelSpec& kernel = *spec.add_kernels();
    kernel.set_name(world.Chance(0.04)
                        ? "poison"
                        : fmt::format("k{}", world.random().Next() % 8));
    kernel.set_module_digest(DigestOf(kernel.name()));
    world.blobs.insert(kernel.module_digest());
  }
  (*spec.mutable_labels())["number"] = std::to_string(number);
  spec.set_priority(static_cast<int>(world.random().Next() % 3));
  spec.set_no_cache(world.Chance(0.6));
  if (world.Chance(0.1)) spec.set_total_timeout_s(90);
  if (world.Chance(0.1)) spec.set_queue_timeout_s(60);
  return spec;
}

}  // namespace

void ClientModel::Submit(int number) {
  ++submitted_;
  Try(fmt::format("key{}", number), MakeSpec(world_, number));
}

void ClientModel::Try(const std::string& key, const v1::JobSpec& spec) {
  v1::SubmitRequest request;
  *request.mutable_spec() = spec;
  request.set_idempotency_key(key);
  world_.Send<v1::SubmitResponse>(
      absl::Seconds(8),
      [request](Coordinator& server, auto done) {
        server.Submit(request, done);
      },
      [this, key, spec](const auto& answer) {
        if (!answer.ok()) {
          world_.After(
              world_.Between(absl::Milliseconds(100), absl::Seconds(4)),
              [this, key, spec] { Try(key, spec); });
          return;
        }
        acknowledged_[key] = answer->job_id();
        if (world_.Chance(0.15)) Cancel(answer->job_id());
        if (world_.Chance(0.5)) Follow(answer->job_id());
      });
}

void ClientModel::Cancel(const std::string& job) {
  v1::CancelJobRequest request;
  request.set_job_id(job);
  world_.After(world_.Between(absl::ZeroDuration(), absl::Seconds(30)),
               [this, request, job] {
                 world_.Send<v1::CancelJobResponse>(
                     absl::Seconds(8),
                     [request](Coordinator& server, auto done) {
                       server.CancelJob(request, done);
                     },
                     [this, job](const auto& answer) {
                       if (answer.ok()) cancelled_.insert(job);
                     });
               });
}

// Watches for a while, lets go, resumes where it was: no event may be missing
// or come twice, whatever died in between.
void ClientModel::Follow(const std::string& job) {
  const auto again = [this, job](absl::Duration wait) {
    world_.After(wait, [this, job] { Follow(job); });
  };
  if (!world_.up()) return again(absl::Seconds(5));
  // A watch of a dead server stays dead.
  if (stale_.erase(job) > 0) watches_.erase(job);
  auto& watch = watches_[job];
  if (!watch) {
    v1::WatchJobRequest request;
    request.set_job_id(job);
    request.set_after_sequence(watched_[job]);
    auto opened = world_.server().WatchJob(request);
    if (!opened.ok()) {
      world_.trouble.push_back("I1: an acknowledged job cannot be watched: " +
                               job);
      return;
    }
    watch = *std::move(opened);
  }
  const int life = world_.deaths();
  watch->Next([this, job, again, life](absl::StatusOr<WatchBatch> batch) {
    if (life != world_.deaths() || !batch.ok()) {
      stale_.insert(job);
      return again(absl::Seconds(5));
    }
    for (const v1::JobEvent& event : batch->events) {
      if (event.sequence() != ++watched_[job]) {
        world_.trouble.push_back(
            fmt::format("I9: job {} sent event {} where {} was due", job,
                        event.sequence(), watched_[job]));
      }
    }
    if (batch->last) return;
    again(world_.Between(absl::Milliseconds(10), absl::Seconds(3)));
  });
  if (world_.Chance(0.1)) watches_.erase(job);
}

}  // namespace kernelfleet::server
