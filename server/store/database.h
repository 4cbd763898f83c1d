// A thin owner of one SQLite connection: RAII, Status, cached statements. No
// statement of ours lives here.
//
//   KF_RETURN_IF_ERROR(db.Run("UPDATE job_row SET state=? WHERE id=?", s, id));
//   KF_ASSIGN_OR_RETURN(Rows rows, db.Select("SELECT id FROM job_row"));
//   while (rows.Next()) use(rows.Int(0));
//   KF_RETURN_IF_ERROR(rows.status());
//
// Used by one thread at a time. SQL given to Run and Select is a string
// literal: prepared once per connection, found again by its address.
#ifndef KERNELFLEET_SERVER_STORE_DATABASE_H_
#define KERNELFLEET_SERVER_STORE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kernelfleet::server {

// Bytes rather than text.
struct Blob {
  std::string_view bytes;
};

// The rows of one running statement; resets it when destroyed.
class Rows {
 public:
  Rows(sqlite3* db, sqlite3_stmt* statement) : db_(db), stmt_(statement) {}
  Rows(Rows&& other) noexcept;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows();
  // False at the end and on error.
  bool Next();
  const absl::Status& status() const { return status_; }
  int64_t Int(int column) const;
  double Real(int column) const;
  bool IsNull(int column) const;
  // Valid until the next Next().
  std::string_view View(int column) const;
  std::string Text(int column) const { return std::string(View(column)); }

 private:
  sqlite3* db_;
  sqlite3_stmt* stmt_;
  absl::Status status_;
};

class Database {
 public:
  enum class Role { kWriter, kReader };
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path,
                                                        Role role);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Any number of statements, not prepared again; for schema and pragmas.
  absl::Status Execute(const std::string& sql);

  template <typename... Values>
  absl::StatusOr<Rows> Select(const char* literal, const Values&... values) {
    sqlite3_stmt* statement = Prepare(literal);
    if (!statement) return Failure(literal);
    int index = 0;
    (Bind(statement, ++index, values), ...);
    return Rows(db_, statement);
  }
  template <typename... Values>
  absl::Status Run(const char* literal, const Values&... values) {
    absl::StatusOr<Rows> rows = Select(literal, values...);
    if (!rows.ok()) return rows.status();
    while (rows->Next()) {
    }
    return rows->status();
  }
  // The first column of the first row, or `fallback`.
  template <typename... Values>
  absl::StatusOr<int64_t> SelectInt(int64_t fallback, const char* literal,
                                    const Values&... values) {
    absl::StatusOr<Rows> rows = Select(literal, values...);
    if (!rows.ok()) return rows.status();
    if (rows->Next()) return rows->IsNull(0) ? fallback : rows->Int(0);
    if (!rows->status().ok()) return rows->status();
    return fallback;
  }
  // Rows that the last Run changed.
  int64_t changes() const;
  sqlite3* handle() { return db_; }
  absl::Status Failure(std::string_view what) const;

 private:
  explicit Database(sqlite3* db) : db_(db) {}
  sqlite3_stmt* Prepare(const char* literal);
  static void Bind(sqlite3_stmt* statement, int index, std::nullptr_t);
  static void Bind(sqlite3_stmt* statement, int index, double value);
  static void Bind(sqlite3_stmt* statement, int index, std::string_view text);
  static void Bind(sqlite3_stmt* statement, int index, Blob blob);
  static void BindInt(sqlite3_stmt* statement, int index, int64_t value);
  template <typename Integer,
            std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
  static void Bind(sqlite3_stmt* statement, int index, Integer value) {
    BindInt(statement, index, static_cast<int64_t>(value));
  }
  template <typename Value>
  static void Bind(sqlite3_stmt* statement, int index,
                   const std::optional<Value>& value) {
    value ? Bind(statement, index, *value) : Bind(statement, index, nullptr);
  }

  sqlite3* db_;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_STORE_DATABASE_H_
