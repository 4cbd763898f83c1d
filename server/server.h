// The coordinator on the network: store, blobs, services, health.
//
//   KF_ASSIGN_OR_RETURN(auto server, Server::Start(options));
//   LogInfo("listening", {{"port", server->port()}});
//   …
//   server->Shutdown();
#ifndef KERNELFLEET_SERVER_SERVER_H_
#define KERNELFLEET_SERVER_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/base/random.h"
#include "common/rpc/address.h"
#include "common/rpc/credentials.h"
#include "server/options.h"

namespace kernelfleet::server {

// Whether clients such as grpcurl may ask for the services' descriptions.
enum class Reflection { kOff, kOn };

struct ServerOptions {
  std::string data_dir;
  rpc::Address listen;
  rpc::Plaintext plaintext = rpc::Plaintext::kLoopbackOnly;
  Reflection reflection = Reflection::kOff;
  Durability durability = Durability::kFull;
  Clock* clock = &RealClock();
  Random* random = &SystemRandom();
};

// Thread-safe.
class Server {
 public:
  // Serves on return. FAILED_PRECONDITION: the address needs
  // --insecure-plaintext, another server owns the data folder, or a newer
  // version wrote it. UNAVAILABLE: the port is taken.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const ServerOptions& options);
  // As Shutdown().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where it listens, with the real port.
  const rpc::Address& address() const;

  // Health says NOT_SERVING, parked calls are answered, transfers get five
  // seconds, what was accepted is committed, the store is closed.
  void Shutdown();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_SERVER_H_
