#include "server/transfers.h"

#include <utility>

namespace kernelfleet::server {

uint64_t Transfers::Add(std::function<void()> cancel) {
  MutexLock lock(mutex_);
  open_[next_] = {std::move(cancel), clock_.Steady()};
  return next_++;
}

void Transfers::Moved(uint64_t transfer) {
  MutexLock lock(mutex_);
  if (const auto entry = open_.find(transfer); entry != open_.end()) {
    entry->second.moved = clock_.Steady();
  }
}

void Transfers::Remove(uint64_t transfer) {
  MutexLock lock(mutex_);
  open_.erase(transfer);
}

void Transfers::Sweep() {
  MutexLock lock(mutex_);
  const absl::Duration oldest = clock_.Steady() - patience_;
  std::erase_if(open_, [&](const auto& entry) {
    if (entry.second.moved >= oldest) return false;
    entry.second.cancel();
    return true;
  });
}

}  // namespace kernelfleet::server
