// A real server on a free loopback port and a scratch folder, and a client.
#ifndef KERNELFLEET_TESTS_SERVER_SERVER_FIXTURE_H_
#define KERNELFLEET_TESTS_SERVER_SERVER_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/rpc/blob_client.h"
#include "common/rpc/call.h"
#include "common/rpc/channel.h"
#include "kernelfleet/v1/service.grpc.pb.h"
#include "server/server.h"
#include "tests/support/sample_fleet.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::server {

using Jobs = v1::JobService::Stub;
using Nodes = v1::NodeService::Stub;
using Blobs = v1::BlobService::Stub;

// One attempt: tests see the first answer.
inline const rpc::CallOptions kOnce = {.attempts = 1};

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(server_, Server::Start(Options()));
    ASSERT_OK_AND_ASSIGN(
        channel_,
        rpc::MakeChannel(server_->address(), rpc::Plaintext::kLoopbackOnly));
    jobs_ = v1::JobService::NewStub(channel_);
    nodes_ = v1::NodeService::NewStub(channel_);
    blobs_ = v1::BlobService::NewStub(channel_);
    ASSERT_OK(rpc::BlobClient(channel_).Upload(testing::kSampleModule));
  }

  virtual ServerOptions Options() {
    ServerOptions options;
    options.data_dir = dir_ / "data";
    options.listen.port = 0;
    options.durability = Durability::kNormal;
    return options;
  }

  // The id of a new job.
  std::string Submit(int kernels = 1) {
    v1::SubmitRequest request;
    *request.mutable_spec() = testing::SampleJob(kernels);
    const auto answer = rpc::Call(*jobs_, &Jobs::Submit, request, kOnce);
    EXPECT_OK(answer);
    return answer.ok() ? answer->job_id() : "";
  }

  // The session of the node.
  int64_t Register(const std::string& node) {
    v1::RegisterRequest request;
    *request.mutable_facts() = testing::SampleNode(node);
    request.set_protocol(rpc::kProtocol);
    const auto answer = rpc::Call(*nodes_, &Nodes::Register, request, kOnce);
    EXPECT_OK(answer);
    return answer.ok() ? answer->session() : 0;
  }

  v1::LeaseRequest LeaseOf(const std::string& node, int64_t session,
                           double wait_s) {
    v1::LeaseRequest request;
    request.set_node_id(node);
    request.set_session(session);
    request.set_slots(1);
    request.set_wait_s(wait_s);
    return request;
  }

  kernelfleet::testing::TempDir dir_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Jobs> jobs_;
  std::unique_ptr<Nodes> nodes_;
  std::unique_ptr<Blobs> blobs_;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_TESTS_SERVER_SERVER_FIXTURE_H_
