// SHA-256, the one content hash.
#ifndef KERNELFLEET_COMMON_BASE_HASH_H_
#define KERNELFLEET_COMMON_BASE_HASH_H_

#include <memory>
#include <string>
#include <string_view>

namespace kernelfleet {

// 64 lower-case hex digits.
std::string Sha256Hex(std::string_view bytes);

// "sha256:" + Sha256Hex: how blobs are named.
std::string DigestOf(std::string_view bytes);

// True for "sha256:" and 64 lower-case hex digits; nothing else names a blob.
bool IsDigest(std::string_view text);

// Incremental form for streams.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void Update(std::string_view bytes);
  // Hex digits; call once.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelfleet

#endif  // KERNELFLEET_COMMON_BASE_HASH_H_
