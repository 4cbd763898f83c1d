// The worker's turns, driven from one thread: no network, no Python, no sleep.
#include "agent/worker.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "tests/agent/fakes.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::agent {
namespace {

using Lane = Worker::Lane;

class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() { Restart(); }

  // A new process over the same folder.
  void Restart() {
    worker_.reset();
    WorkerOptions options;
    options.facts.set_node_id("node-1");
    options.facts.set_compile_slots(2);
    v1::Environment& environment = *options.facts.add_environments();
    environment.set_name("triton-3.9.0");
    environment.set_python("/usr/bin/python3");
    environment.set_hash("hash-1");
    options.data_dir = folder_.path();
    options.min_free_bytes = 0;
    worker_ = std::make_unique<Worker>(options, coordinator_, runner_, clock_,
                                       random_);
    worker_->Recover();
  }

  v1::LeasedTask Task(int64_t fence) {
    v1::LeasedTask task;
    task.set_task_id(100 + fence);
    task.set_fence(fence);
    task.set_environment("triton-3.9.0");
    task.set_gpu(-1);
    task.set_module_digest(coordinator_.AddBlob("def kernel(): pass\n"));
    task.mutable_request()->set_phase(v1::Phase::compile_probe);
    task.mutable_request()->set_entry("kernel");
    task.mutable_request()->mutable_target()->set_backend("cuda");
    task.mutable_request()->mutable_target()->set_arch("sm_90");
    return task;
  }
  void Lease(const v1::LeasedTask& task) {
    coordinator_.Offer(task);
    worker_->LeaseTurn(Lane::kCompile);
  }
  bool FolderExists(int64_t fence) {
    return PathExists(folder_ / ("attempts/" + std::to_string(fence)));
  }

  testing::TempDir folder_;
  testing::FakeClock clock_;
  SeededRandom random_{7};
  FakeCoordinator coordinator_;
  FakeRunner runner_;
  std::unique_ptr<Worker> worker_;
};

TEST_F(WorkerTest, LeasesRunsUploadsCompletesAndCleansUp) {
  worker_->ConnectTurn();
  Lease(Task(1));
  EXPECT_EQ(worker_->held(), 1u);
  worker_->WorkTurn();
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  const v1::CompleteRequest done = coordinator_.completed()[0];
  EXPECT_EQ(done.fence(), 1);
  EXPECT_EQ(done.task_id(), 101);
  EXPECT_EQ(done.session(), 1);
  EXPECT_EQ(done.node_id(), "node-1");
  EXPECT_EQ(done.result().probe().outcome(), v1::Outcome::compiled);
  EXPECT_EQ(done.result().environment_hash(), "hash-1");
  ASSERT_EQ(done.result().probe().artifacts_size(), 1);
  EXPECT_EQ(coordinator_.blobs()[done.result().probe().artifacts(0).digest()],
            "module of 1");
  EXPECT_EQ(coordinator_.logs()[1], "hello\n");
  EXPECT_EQ(worker_->held(), 0u);
  EXPECT_FALSE(FolderExists(1));
}

TEST_F(WorkerTest, GivesTheRunnerModuleTargetAndNoDevice) {
  worker_->ConnectTurn();
  v1::LeasedTask task = Task(1);
  task.mutable_limits()->set_run_s(7);
  (*task.mutable_request()->mutable_environment())["AMDGCN_USE_BUFFER_OPS"] =
      "1";
  std::string module;
  runner_.set_behaviour([&](const PhaseRun& run, std::stop_token stop) {
    module = *ReadFile(JoinPath(run.directory, "module.py"));
    EXPECT_TRUE(PathExists(JoinPath(run.directory, "request.json")));
    return FakeRunner::Compile(run, stop);
  });
  Lease(task);
  worker_->WorkTurn();
  ASSERT_EQ(runner_.runs().size(), 1u);
  const PhaseRun run = runner_.runs()[0];
  EXPECT_EQ(module, "def kernel(): pass\n");
  EXPECT_EQ(run.target, "cuda:sm_90");
  EXPECT_EQ(run.python, "/usr/bin/python3");
  EXPECT_EQ(run.timeout, absl::Seconds(7));
  EXPECT_EQ(run.toggles.at("AMDGCN_USE_BUFFER_OPS"), "1");
  EXPECT_EQ(run.environment.at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(run.environment.at("HIP_VISIBLE_DEVICES"), "-1");
}

TEST_F(WorkerTest, AsksOnlyForFreeSlots) {
  worker_->ConnectTurn();
  Lease(Task(1));
  EXPECT_EQ(coordinator_.last_lease().slots(), 2);
  Lease(Task(2));
  EXPECT_EQ(coordinator_.last_lease().slots(), 1);
  EXPECT_EQ(worker_->LeaseTurn(Lane::kCompile), absl::InfiniteDuration());
  EXPECT_EQ(coordinator_.Calls("Lease"), 2);
  // A result that waits for the network holds no slot.
  worker_->WorkTurn();
  worker_->LeaseTurn(Lane::kCompile);
  EXPECT_EQ(coordinator_.Calls("Lease"), 3);
}

TEST_F(WorkerTest, TheSameLeaseTwiceIsOneAttempt) {
  worker_->ConnectTurn();
  Lease(Task(1));
  Lease(Task(1));
  worker_->WorkTurn();
  EXPECT_EQ(worker_->WorkTurn(), absl::InfiniteDuration());
  EXPECT_EQ(runner_.runs().size(), 1u);
}

TEST_F(WorkerTest, ANewerAttemptOfATaskEndsTheOlderOne) {
  worker_->ConnectTurn();
  v1::LeasedTask newer = Task(2);
  newer.set_task_id(101);
  Lease(Task(1));
  Lease(newer);
  worker_->WorkTurn();
  worker_->WorkTurn();
  worker_->SendTurn();
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  EXPECT_EQ(coordinator_.completed()[0].fence(), 2);
  EXPECT_EQ(worker_->held(), 0u);
}

TEST_F(WorkerTest, ReportsWhatItHoldsAndObeysACancel) {
  worker_->ConnectTurn();
  Lease(Task(1));
  runner_.set_behaviour([&](const PhaseRun&, std::stop_token stop) {
    coordinator_.Cancel(1);
    worker_->ConnectTurn();
    EXPECT_EQ(coordinator_.last_heartbeat().held(0).step(), "running");
    EXPECT_TRUE(stop.stop_requested());
    PhaseEnd end;
    end.cancelled = true;
    return end;
  });
  worker_->WorkTurn();
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  EXPECT_EQ(coordinator_.completed()[0].infra(), v1::InfraFailure::cancelled);
  EXPECT_FALSE(coordinator_.completed()[0].has_result());
  EXPECT_EQ(worker_->held(), 0u);
}

TEST_F(WorkerTest, ACancelWhileTheResultWaitsSendsNoResult) {
  worker_->ConnectTurn();
  Lease(Task(1));
  worker_->WorkTurn();
  coordinator_.Cancel(1);
  worker_->ConnectTurn();
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  EXPECT_EQ(coordinator_.completed()[0].infra(), v1::InfraFailure::cancelled);
  EXPECT_EQ(coordinator_.Calls("Upload"), 0);
}

TEST_F(WorkerTest, ALeaseLostMidWorkIsStoppedAndNotSent) {
  worker_->ConnectTurn();
  Lease(Task(1));
  runner_.set_behaviour([&](const PhaseRun&, std::stop_token stop) {
    // The server restarted and gave the task to somebody else.
    coordinator_.Fail("Heartbeat", absl::StatusCode::kUnavailable);
    worker_->ConnectTurn();
    coordinator_.Disown(1);
    worker_->ConnectTurn();
    EXPECT_TRUE(stop.stop_requested());
    PhaseEnd end;
    end.cancelled = true;
    return end;
  });
  worker_->WorkTurn();
  worker_->SendTurn();
  EXPECT_TRUE(coordinator_.completed().empty());
  EXPECT_EQ(worker_->held(), 0u);
  EXPECT_FALSE(FolderExists(1));
}

TEST_F(WorkerTest, WorkGoesOnWhileTheServerRestarts) {
  worker_->ConnectTurn();
  Lease(Task(1));
  runner_.set_behaviour([&](const PhaseRun& run, std::stop_token stop) {
    coordinator_.Fail("Heartbeat", absl::StatusCode::kUnavailable);
    coordinator_.Fail("Register", absl::StatusCode::kUnavailable, 2);
    for (int i = 0; i < 4; ++i) worker_->ConnectTurn();
    EXPECT_FALSE(stop.stop_requested());
    return FakeRunner::Compile(run, stop);
  });
  worker_->WorkTurn();
  EXPECT_EQ(coordinator_.last_register().held(0).fence(), 1);
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  EXPECT_EQ(coordinator_.completed()[0].session(), 2);
  EXPECT_EQ(coordinator_.completed()[0].result().probe().outcome(),
            v1::Outcome::compiled);
}

TEST_F(WorkerTest, AResultIsSentAgainUntilItIsAcknowledged) {
  worker_->ConnectTurn();
  Lease(Task(1));
  worker_->WorkTurn();
  for (const char* call : {"FindMissing", "Upload", "AppendLog", "Complete"}) {
    coordinator_.Fail(call, absl::StatusCode::kUnavailable);
    worker_->SendTurn();
    EXPECT_TRUE(coordinator_.completed().empty()) << call;
    EXPECT_TRUE(FolderExists(1)) << call;
    worker_->ConnectTurn();
    EXPECT_GT(worker_->SendTurn(), absl::ZeroDuration()) << "must wait";
    clock_.Advance(absl::Minutes(1));
  }
  worker_->SendTurn();
  EXPECT_EQ(coordinator_.completed().size(), 1u);
  // What was stored before is not sent again.
  EXPECT_EQ(coordinator_.Calls("Upload"), 2);
  EXPECT_EQ(coordinator_.logs()[1], "hello\n");
  EXPECT_FALSE(FolderExists(1));
}

TEST_F(WorkerTest, AResultOutlivesTheAgent) {
  worker_->ConnectTurn();
  Lease(Task(1));
  worker_->WorkTurn();
  Restart();
  EXPECT_EQ(worker_->held(), 1u);
  worker_->ConnectTurn();
  EXPECT_EQ(coordinator_.last_register().held(0).step(), "uploading");
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  EXPECT_EQ(coordinator_.completed()[0].result().probe().outcome(),
            v1::Outcome::compiled);
  EXPECT_EQ(coordinator_.blobs().size(), 2u);
  EXPECT_EQ(coordinator_.logs()[1], "hello\n");
  EXPECT_FALSE(FolderExists(1));
}

TEST_F(WorkerTest, AnAttemptThatDiedWithTheAgentIsHandedBack) {
  worker_->ConnectTurn();
  Lease(Task(1));
  Restart();
  worker_->ConnectTurn();
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  EXPECT_EQ(coordinator_.completed()[0].infra(),
            v1::InfraFailure::agent_stopped);
  EXPECT_TRUE(runner_.runs().empty());
}

TEST_F(WorkerTest, RubbishInTheAttemptsFolderIsRemoved) {
  ASSERT_OK(MakeDirectories(folder_ / "attempts/77"));
  ASSERT_OK(WriteFileAtomic(folder_ / "attempts/77/lease.pb", "rubbish"));
  ASSERT_OK(MakeDirectories(folder_ / "attempts/empty"));
  Restart();
  EXPECT_EQ(worker_->held(), 0u);
  EXPECT_FALSE(FolderExists(77));
  EXPECT_FALSE(PathExists(folder_ / "attempts/empty"));
}

TEST_F(WorkerTest, ARunnerThatCannotStartIsAFailureOfOurs) {
  runner_.set_behaviour([](const PhaseRun&, std::stop_token) {
    return absl::StatusOr<PhaseEnd>(Unavailable("no runner"));
  });
  worker_->ConnectTurn();
  Lease(Task(1));
  worker_->WorkTurn();
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  EXPECT_EQ(coordinator_.completed()[0].infra(),
            v1::InfraFailure::runner_unavailable);
  EXPECT_EQ(coordinator_.completed()[0].infra_message(), "no runner");
}

TEST_F(WorkerTest, ACrashAndAHangAreFindings) {
  worker_->ConnectTurn();
  runner_.set_behaviour([](const PhaseRun& run, std::stop_token) {
    PhaseEnd end;
    end.signal = run.id == "1" ? 11 : 0;
    end.timed_out = run.id == "2";
    return end;
  });
  Lease(Task(1));
  Lease(Task(2));
  for (int i = 0; i < 2; ++i) worker_->WorkTurn();
  for (int i = 0; i < 2; ++i) worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 2u);
  EXPECT_EQ(coordinator_.completed()[0].result().probe().outcome(),
            v1::Outcome::crashed);
  EXPECT_EQ(coordinator_.completed()[0].result().probe().failure().signal(),
            11);
  EXPECT_EQ(coordinator_.completed()[1].result().probe().outcome(),
            v1::Outcome::timed_out);
}

TEST_F(WorkerTest, AMissingModuleIsAFailureOfOursAndASlowOneWaits) {
  worker_->ConnectTurn();
  v1::LeasedTask gone = Task(1);
  gone.set_module_digest(DigestOf("never uploaded"));
  Lease(gone);
  worker_->WorkTurn();
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  EXPECT_EQ(coordinator_.completed()[0].infra(),
            v1::InfraFailure::blob_unavailable);

  coordinator_.Fail("Download", absl::StatusCode::kUnavailable);
  Lease(Task(2));
  worker_->WorkTurn();
  const absl::Duration pause = worker_->WorkTurn();
  EXPECT_GT(pause, absl::ZeroDuration());
  EXPECT_TRUE(runner_.runs().empty());
  clock_.Advance(pause);
  worker_->WorkTurn();
  EXPECT_EQ(runner_.runs().size(), 1u);
}

TEST_F(WorkerTest, AModuleIsFetchedOnceForManyTasks) {
  worker_->ConnectTurn();
  Lease(Task(1));
  Lease(Task(2));
  worker_->WorkTurn();
  worker_->WorkTurn();
  EXPECT_EQ(coordinator_.Calls("Download"), 1);
}

TEST_F(WorkerTest, AnUnknownEnvironmentIsAFailureOfOurs) {
  worker_->ConnectTurn();
  v1::LeasedTask task = Task(1);
  task.set_environment("triton-1.0");
  Lease(task);
  worker_->WorkTurn();
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  EXPECT_EQ(coordinator_.completed()[0].infra(),
            v1::InfraFailure::runner_unavailable);
}

TEST_F(WorkerTest, WaitsLongerAfterEachFailureToRegister) {
  coordinator_.Fail("Register", absl::StatusCode::kUnavailable, 40);
  absl::Duration longest;
  for (int i = 0; i < 40; ++i) {
    longest = std::max(longest, worker_->ConnectTurn());
  }
  EXPECT_GT(longest, absl::Seconds(5));
  EXPECT_LE(longest, absl::Seconds(30));
  EXPECT_EQ(worker_->ConnectTurn(), absl::Seconds(5));
}

TEST_F(WorkerTest, AFailedLeaseRegistersAgain) {
  worker_->ConnectTurn();
  coordinator_.Fail("Lease", absl::StatusCode::kAborted);
  worker_->LeaseTurn(Lane::kCompile);
  EXPECT_EQ(worker_->LeaseTurn(Lane::kCompile), absl::InfiniteDuration());
  worker_->ConnectTurn();
  EXPECT_EQ(coordinator_.Calls("Register"), 2);
}

TEST_F(WorkerTest, DrainHandsBackWhatHasNotBegunAndFinishesTheRest) {
  worker_->ConnectTurn();
  Lease(Task(1));
  Lease(Task(2));
  runner_.set_behaviour([&](const PhaseRun& run, std::stop_token stop) {
    worker_->Drain();
    worker_->DrainTurn();
    EXPECT_FALSE(stop.stop_requested());
    return FakeRunner::Compile(run, stop);
  });
  worker_->WorkTurn();
  worker_->WorkTurn();
  worker_->ConnectTurn();
  EXPECT_TRUE(coordinator_.last_heartbeat().draining());
  EXPECT_FALSE(worker_->drained());
  worker_->SendTurn();
  worker_->SendTurn();
  worker_->DrainTurn();
  EXPECT_TRUE(worker_->drained());
  ASSERT_EQ(coordinator_.completed().size(), 2u);
  EXPECT_TRUE(coordinator_.completed()[0].has_result());
  EXPECT_EQ(coordinator_.completed()[1].infra(),
            v1::InfraFailure::agent_stopped);
  EXPECT_EQ(runner_.runs().size(), 1u);
}

TEST_F(WorkerTest, DrainStopsWhatOutlivesItsLimit) {
  worker_->ConnectTurn();
  Lease(Task(1));
  runner_.set_behaviour([&](const PhaseRun&, std::stop_token stop) {
    worker_->Drain();
    clock_.Advance(absl::Seconds(31));
    worker_->DrainTurn();
    EXPECT_TRUE(stop.stop_requested());
    return PhaseEnd();
  });
  worker_->WorkTurn();
  worker_->SendTurn();
  ASSERT_EQ(coordinator_.completed().size(), 1u);
  EXPECT_EQ(coordinator_.completed()[0].infra(),
            v1::InfraFailure::agent_stopped);
}

TEST_F(WorkerTest, DrainKeepsUnsentResultsForTheNextStart) {
  worker_->ConnectTurn();
  Lease(Task(1));
  worker_->WorkTurn();
  coordinator_.Fail("FindMissing", absl::StatusCode::kUnavailable);
  worker_->SendTurn();
  worker_->Drain();
  worker_->DrainTurn();
  EXPECT_FALSE(worker_->drained());
  clock_.Advance(absl::Seconds(41));
  worker_->DrainTurn();
  EXPECT_TRUE(worker_->drained());
  Restart();
  EXPECT_EQ(worker_->held(), 1u);
}

TEST_F(WorkerTest, SendsTheLogWhileTheAttemptRuns) {
  worker_->ConnectTurn();
  Lease(Task(1));
  runner_.set_behaviour([&](const PhaseRun& run, std::stop_token stop) {
    EXPECT_OK(WriteFileAtomic(JoinPath(run.directory, "stderr.txt"), "one\n"));
    worker_->LogTurn();
    EXPECT_EQ(coordinator_.logs()[1], "one\n");
    return FakeRunner::Compile(run, stop);
  });
  worker_->WorkTurn();
  worker_->SendTurn();
  EXPECT_EQ(coordinator_.logs()[1], "one\nhello\n");
}

TEST_F(WorkerTest, AsksForNothingOnAFullDisk) {
  WorkerOptions options;
  options.facts.set_compile_slots(1);
  options.data_dir = folder_.path();
  options.min_free_bytes = int64_t{1} << 60;
  Worker worker(options, coordinator_, runner_, clock_, random_);
  worker.ConnectTurn();
  EXPECT_EQ(worker.LeaseTurn(Lane::kCompile), absl::Seconds(10));
  EXPECT_EQ(coordinator_.Calls("Lease"), 0);
}

TEST_F(WorkerTest, AGpuIsExclusiveAndVisibleToItsAttemptAlone) {
  WorkerOptions options;
  options.facts.set_node_id("gpu-node");
  options.facts.set_compile_slots(1);
  options.facts.add_environments()->set_name("triton-3.9.0");
  for (int i = 0; i < 2; ++i) {
    v1::Gpu& gpu = *options.facts.add_gpus();
    gpu.set_index(i);
    gpu.set_vendor("nvidia");
    gpu.set_uuid("GPU-" + std::to_string(i));
  }
  options.data_dir = folder_ / "gpu";
  options.min_free_bytes = 0;
  Worker worker(options, coordinator_, runner_, clock_, random_);
  worker.ConnectTurn();
  v1::LeasedTask task = Task(1);
  task.mutable_spec()->set_needs_gpu(true);
  task.set_gpu(1);
  coordinator_.Offer(task);
  // The fake hands out by slots; what matters is what is asked for next.
  worker.LeaseTurn(Lane::kCompile);
  worker.LeaseTurn(Lane::kGpu);
  ASSERT_EQ(coordinator_.last_lease().free_gpus_size(), 1);
  EXPECT_EQ(coordinator_.last_lease().free_gpus(0), 0);
  EXPECT_EQ(coordinator_.last_lease().slots(), 0);
  worker.WorkTurn();
  ASSERT_EQ(runner_.runs().size(), 1u);
  EXPECT_EQ(runner_.runs()[0].environment.at("CUDA_VISIBLE_DEVICES"), "GPU-1");
}

// The same on real threads, for the sanitizers.
TEST_F(WorkerTest, RunsManyAttemptsOnThreadsAndDrains) {
  WorkerOptions options;
  options.facts.set_node_id("threads");
  options.facts.set_compile_slots(4);
  options.facts.add_environments()->set_name("triton-3.9.0");
  options.data_dir = folder_ / "threads";
  options.min_free_bytes = 0;
  for (int i = 1; i <= 50; ++i) coordinator_.Offer(Task(i));
  coordinator_.Fail("Complete", absl::StatusCode::kUnavailable, 3);
  coordinator_.Fail("Lease", absl::StatusCode::kUnavailable, 2);
  options.backoff_base = absl::Milliseconds(1);
  Worker worker(options, coordinator_, runner_, RealClock(), SystemRandom());
  worker.Recover();
  std::thread runner([&] { worker.Run(); });
  while (coordinator_.completed().size() < 50) std::this_thread::yield();
  worker.Drain();
  runner.join();
  std::set<int64_t> fences;
  for (const v1::CompleteRequest& done : coordinator_.completed()) {
    fences.insert(done.fence());
  }
  EXPECT_EQ(fences.size(), 50u);
  EXPECT_EQ(worker.held(), 0u);
}

}  // namespace
}  // namespace kernelfleet::agent
