// What both ends of a connection agree on. Sources: docs of gRPC's keepalive
// (client pings must be clearly rarer than the server's minimum, or jitter
// earns a GOAWAY), measurements of idle connections on gRPC 1.51.
#ifndef KERNELFLEET_COMMON_RPC_LIMITS_H_
#define KERNELFLEET_COMMON_RPC_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace kernelfleet::rpc {

inline constexpr int kDefaultPort = 7411;
// Of the messages, raised when an old peer could misread a new one.
inline constexpr int kProtocol = 1;

// One message towards the server; a larger JobSpec travels as a blob.
inline constexpr int kMaxRequestBytes = 1 << 20;
// One message towards a client; larger answers are paged.
inline constexpr int kMaxResponseBytes = 4 << 20;
inline constexpr int kMaxMetadataBytes = 16 << 10;
// Text of one status. It travels in the metadata, percent-encoded.
inline constexpr int kMaxErrorBytes = 2 << 10;

// Blobs.
inline constexpr int kChunkBytes = 128 << 10;
inline constexpr int kMaxChunkBytes = 256 << 10;
inline constexpr int64_t kMaxBlobBytes = int64_t{256} << 20;
inline constexpr int kMaxDigestsPerCall = 4096;

// A connection without calls; agents always have one parked.
inline constexpr absl::Duration kMaxConnectionIdle = absl::Minutes(10);

// Between two chunks of one transfer.
inline constexpr absl::Duration kMaxSilence = absl::Seconds(60);

// The longest that Lease and ReadLog stay parked.
inline constexpr absl::Duration kMaxLongPoll = absl::Seconds(30);

// Client side.
inline constexpr absl::Duration kClientPing = absl::Seconds(30);
inline constexpr absl::Duration kClientPingTimeout = absl::Seconds(10);
inline constexpr absl::Duration kReconnectMin = absl::Milliseconds(250);
inline constexpr absl::Duration kReconnectMax = absl::Seconds(30);

// Server side.
inline constexpr absl::Duration kMinPingInterval = absl::Seconds(10);
inline constexpr absl::Duration kServerPing = absl::Seconds(60);
inline constexpr absl::Duration kServerPingTimeout = absl::Seconds(20);
// gRPC keeps a silent connection for 120 s by default.
inline constexpr absl::Duration kHandshakeTimeout = absl::Seconds(5);
inline constexpr int kMaxStreamsPerConnection = 64;
inline constexpr int64_t kServerMemoryBytes = int64_t{1} << 30;
inline constexpr int kServerMaxThreads = 64;

}  // namespace kernelfleet::rpc

#endif  // KERNELFLEET_COMMON_RPC_LIMITS_H_
