// What a program does before it uses gRPC.
#ifndef KERNELFLEET_COMMON_RPC_SETUP_H_
#define KERNELFLEET_COMMON_RPC_SETUP_H_

namespace kernelfleet::rpc {

// For main(), before the first channel, server or thread.
//
// gRPC and protobuf return what they also print, and a hostile peer can make
// them print at will: their lines become LogDebug.
//
// A connection that is being made is served by the threads that wait in calls,
// and while calls fail at once there are none; gRPC then looks every 5 s.
// Measured with a server that was killed and back within 130 ms: its clients
// came back after 5 s. Ten looks a second cost an idle client nothing that
// could be measured.
void SetUpGrpc();

}  // namespace kernelfleet::rpc

#endif  // KERNELFLEET_COMMON_RPC_SETUP_H_
