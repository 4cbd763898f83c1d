#include "server/store/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <cerrno>

#include "common/base/log.h"
#include "common/base/status.h"
#include "server/store/schema.h"
#include "server/store/words.h"

namespace kernelfleet::server {
namespace {

// A log this long is moved while busy: 16 MiB of 4 KiB pages.
constexpr int kLongWalPages = 4096;

absl::StatusOr<Fd> LockFolder(const std::string& data_dir) {
  const std::string path = JoinPath(data_dir, "lock");
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return ErrnoError(path, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return FailedPrecondition(fmt::format(
        "another coordinator is using {}: stop it or choose another data "
        "folder",
        data_dir));
  }
  return lock;
}

const char* Pragma(Durability durability) {
  switch (durability) {
    case Durability::kFull:
      return "PRAGMA synchronous=FULL;";
    case Durability::kNormal:
      return "PRAGMA synchronous=NORMAL;";
    case Durability::kOff:
      return "PRAGMA synchronous=OFF;";
  }
  return "";
}

}  // namespace

std::string Store::DatabasePath(const std::string& data_dir) {
  return JoinPath(data_dir, "kernelfleet.db");
}

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& data_dir,
                                                   Durability durability) {
  KF_RETURN_IF_ERROR(MakeDirectories(data_dir));
  std::unique_ptr<Store> store(new Store);
  KF_ASSIGN_OR_RETURN(store->lock_, LockFolder(data_dir));
  const std::string path = DatabasePath(data_dir);
  KF_ASSIGN_OR_RETURN(store->db_,
                      Database::Open(path, Database::Role::kWriter));
  KF_RETURN_IF_ERROR(store->db_->Execute(
      "PRAGMA journal_mode=WAL;"
      "PRAGMA cell_size_check=ON; PRAGMA cache_size=-65536;"));
  KF_RETURN_IF_ERROR(store->db_->Execute(Pragma(durability)));
  KF_RETURN_IF_ERROR(Migrate(*store->db_));
  sqlite3_wal_hook(
      store->db_->handle(),
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      &store->wal_pages_);
  store->next_checkpoint_ = kLongWalPages;
  return store;
}

absl::Status Store::Begin() {
  if (in_transaction_) return absl::OkStatus();
  KF_RETURN_IF_ERROR(db_->Run("BEGIN IMMEDIATE"));
  in_transaction_ = true;
  return absl::OkStatus();
}

absl::Status Store::Commit() {
  if (!in_transaction_) return absl::OkStatus();
  KF_RETURN_IF_ERROR(db_->Run("COMMIT"));
  in_transaction_ = false;
  return absl::OkStatus();
}

void Store::Rollback() {
  if (!in_transaction_) return;
  in_transaction_ = false;
  // SQLite may have rolled back by itself (disk full); then this fails.
  if (sqlite3_get_autocommit(db_->handle())) return;
  const absl::Status status = db_->Run("ROLLBACK");
  if (!status.ok()) LogError("rollback failed", {{"error", Text(status)}});
}

void Store::Checkpoint(Moment moment) {
  if (wal_pages_ == 0) return;
  if (moment == Moment::kBusy && wal_pages_ < next_checkpoint_) return;
  const int mode = moment == Moment::kBusy ? SQLITE_CHECKPOINT_PASSIVE
                                           : SQLITE_CHECKPOINT_TRUNCATE;
  int pages = 0;
  int moved = 0;
  sqlite3_wal_checkpoint_v2(db_->handle(), nullptr, mode, &pages, &moved);
  // While a reader holds an old snapshot the log cannot start afresh and grows:
  // do not try again before as much was added.
  const bool whole = moved >= pages;
  next_checkpoint_ = whole ? kLongWalPages : wal_pages_ + kLongWalPages;
  if (whole) wal_pages_ = 0;
}

absl::Status Store::SaveNode(const Node& node, absl::Time now) {
  KF_RETURN_IF_ERROR(Begin());
  const v1::NodeFacts& facts = node.facts;
  std::string gpus;
  for (const v1::Gpu& gpu : facts.gpus()) {
    gpus += (gpus.empty() ? "" : ", ") + gpu.name();
  }
  KF_RETURN_IF_ERROR(db_->Run(
      "INSERT INTO node_row(node, session, state, reason, first_seen_us, "
      "registered_us, hostname, os, cpu, cores, memory_bytes, agent_version, "
      "gpus, driver, facts) VALUES(?1,?2,?3,?4,?5,?5,?6,?7,?8,?9,?10,?11,?12,"
      "?13,?14) ON CONFLICT(node) DO UPDATE SET session=?2, registered_us=?5, "
      "hostname=?6, os=?7, cpu=?8, cores=?9, memory_bytes=?10, "
      "agent_version=?11, gpus=?12, driver=?13, facts=?14",
      node.id, node.session, node.state, node.reason, Micros(now),
      facts.hostname(), facts.os(), facts.cpu(), facts.cores(),
      facts.memory_bytes(), facts.agent_version(), gpus,
      facts.gpus().empty() ? std::string() : facts.gpus(0).driver(),
      Blob{facts.SerializeAsString()}));
  KF_RETURN_IF_ERROR(
      db_->Run("DELETE FROM capability_row WHERE node=?", node.id));
  for (const v1::Environment& environment : facts.environments()) {
    for (const v1::TargetCapability& each : environment.targets()) {
      KF_RETURN_IF_ERROR(db_->Run(
          "INSERT OR REPLACE INTO capability_row VALUES(?,?,?,?,?,?,?,?)",
          node.id, environment.name(), environment.hash(),
          environment.triton_version(),
          each.target().backend() + ":" + each.target().arch(),
          each.compiles() || each.runs(), each.runs(), each.reason()));
    }
  }
  return absl::OkStatus();
}

absl::Status Store::SaveNodeState(const Node& node) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run("UPDATE node_row SET state=?, reason=? WHERE node=?",
                  node.state, node.reason, node.id);
}

}  // namespace kernelfleet::server
