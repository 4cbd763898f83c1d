#include "server/store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "common/base/status.h"

namespace kernelfleet::server {
namespace {

// A query must not build a value larger than this; no column of ours is.
constexpr int kLongestValue = 64 << 20;

absl::StatusCode CodeOf(int error) {
  // The kernel drops what it could not flush; a second try proves nothing.
  if (error == SQLITE_IOERR_FSYNC || error == SQLITE_IOERR_DIR_FSYNC) {
    return absl::StatusCode::kDataLoss;
  }
  switch (error & 0xff) {
    case SQLITE_FULL:
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_INTERRUPT:
      return absl::StatusCode::kDeadlineExceeded;
    case SQLITE_AUTH:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_ERROR:
      return absl::StatusCode::kInvalidArgument;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

Rows::Rows(Rows&& other) noexcept
    : db_(other.db_),
      stmt_(std::exchange(other.stmt_, nullptr)),
      status_(std::move(other.status_)) {}

Rows::~Rows() {
  if (stmt_) sqlite3_reset(stmt_);
}

bool Rows::Next() {
  if (!status_.ok()) return false;
  const int result = sqlite3_step(stmt_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) {
    status_ = Error(CodeOf(sqlite3_extended_errcode(db_)),
                    fmt::format("database: {}", sqlite3_errmsg(db_)));
  }
  return false;
}

int64_t Rows::Int(int column) const {
  return sqlite3_column_int64(stmt_, column);
}
double Rows::Real(int column) const {
  return sqlite3_column_double(stmt_, column);
}
bool Rows::IsNull(int column) const {
  return sqlite3_column_type(stmt_, column) == SQLITE_NULL;
}
std::string_view Rows::View(int column) const {
  const void* bytes = sqlite3_column_blob(stmt_, column);
  const int size = sqlite3_column_bytes(stmt_, column);
  return {static_cast<const char*>(bytes), static_cast<size_t>(size)};
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, Role role) {
  // Counting every allocation costs a lock each; nobody reads the counts.
  static const int kConfigured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  (void)kConfigured;  // MISUSE when the program used SQLite before: slower.
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                    (role == Role::kWriter ? SQLITE_OPEN_CREATE : 0);
  const int result = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> db(new Database(handle));
  if (result != SQLITE_OK) return db->Failure(path);
  sqlite3_extended_result_codes(handle, 1);
  // A connection that writes nothing must not checkpoint either: SQLite before
  // 3.51.3 can corrupt a WAL that two connections write or checkpoint.
  if (role == Role::kReader) {
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
  }
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  KF_RETURN_IF_ERROR(
      db->Execute("PRAGMA trusted_schema=OFF; PRAGMA busy_timeout=5000;"
                  "PRAGMA wal_autocheckpoint=0; PRAGMA temp_store=MEMORY;"));
  return db;
}

Database::~Database() {
  for (auto& [literal, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

absl::Status Database::Execute(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return Failure(sql.substr(0, 80));
  }
  return absl::OkStatus();
}

int64_t Database::changes() const { return sqlite3_changes64(db_); }

absl::Status Database::Failure(std::string_view what) const {
  return Error(CodeOf(sqlite3_extended_errcode(db_)),
               fmt::format("database: {} ({})", sqlite3_errmsg(db_), what));
}

sqlite3_stmt* Database::Prepare(const char* literal) {
  auto [entry, added] = statements_.try_emplace(literal, nullptr);
  if (added && sqlite3_prepare_v3(db_, literal, -1, SQLITE_PREPARE_PERSISTENT,
                                  &entry->second, nullptr) != SQLITE_OK) {
    statements_.erase(entry);
    return nullptr;
  }
  return entry->second;
}

// Values outlive the statement's run (Run and Select's callers hold them), so
// nothing is copied.
void Database::Bind(sqlite3_stmt* statement, int index, std::nullptr_t) {
  sqlite3_bind_null(statement, index);
}
void Database::Bind(sqlite3_stmt* statement, int index, double value) {
  sqlite3_bind_double(statement, index, value);
}
void Database::Bind(sqlite3_stmt* statement, int index, std::string_view text) {
  sqlite3_bind_text64(statement, index, text.data() ? text.data() : "",
                      text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
void Database::Bind(sqlite3_stmt* statement, int index, Blob blob) {
  sqlite3_bind_blob64(statement, index,
                      blob.bytes.data() ? blob.bytes.data() : "",
                      blob.bytes.size(), SQLITE_STATIC);
}
void Database::BindInt(sqlite3_stmt* statement, int index, int64_t value) {
  sqlite3_bind_int64(statement, index, value);
}

}  // namespace kernelfleet::server
