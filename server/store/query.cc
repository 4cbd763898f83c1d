// Read-only SQL over the documented views. Four fences: the connection is
// query_only; the authorizer lets only SELECT, the views and listed functions
// through; private tables may not even be named; rows, bytes and time are
// bounded.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "absl/cleanup/cleanup.h"
#include "common/base/status.h"
#include "server/store/reads.h"
#include "server/store/schema.h"

namespace kernelfleet::server {
namespace {

constexpr int kDefaultRows = 1000;
constexpr int kLargestRows = 100'000;
constexpr size_t kLargestAnswer = size_t{3} << 20;  // Under gRPC's 4 MiB.
constexpr size_t kLargestSql = 64 << 10;
constexpr double kDefaultSeconds = 5;
constexpr double kLargestSeconds = 60;
// Virtual machine steps between looks at the clock.
constexpr int kStepsPerLook = 10'000;

// From https://www.sqlite.org/lang_corefunc.html, lang_aggfunc.html,
// lang_datefunc.html, lang_mathfunc.html, windowfunctions.html and json1.html:
// those that neither load code nor show more than their arguments.
constexpr std::string_view kFunctions[] = {"abs",
                                           "avg",
                                           "ceil",
                                           "ceiling",
                                           "char",
                                           "coalesce",
                                           "count",
                                           "cume_dist",
                                           "date",
                                           "datetime",
                                           "dense_rank",
                                           "exp",
                                           "first_value",
                                           "floor",
                                           "format",
                                           "glob",
                                           "group_concat",
                                           "hex",
                                           "ifnull",
                                           "iif",
                                           "instr",
                                           "json",
                                           "json_array",
                                           "json_array_length",
                                           "json_each",
                                           "json_extract",
                                           "json_group_array",
                                           "json_group_object",
                                           "json_object",
                                           "json_quote",
                                           "json_tree",
                                           "json_type",
                                           "json_valid",
                                           "julianday",
                                           "lag",
                                           "last_value",
                                           "lead",
                                           "length",
                                           "like",
                                           "likelihood",
                                           "likely",
                                           "ln",
                                           "log",
                                           "log10",
                                           "log2",
                                           "lower",
                                           "ltrim",
                                           "max",
                                           "min",
                                           "mod",
                                           "nth_value",
                                           "ntile",
                                           "nullif",
                                           "percent_rank",
                                           "pow",
                                           "power",
                                           "printf",
                                           "quote",
                                           "rank",
                                           "replace",
                                           "round",
                                           "row_number",
                                           "rtrim",
                                           "sign",
                                           "sqrt",
                                           "strftime",
                                           "substr",
                                           "substring",
                                           "sum",
                                           "time",
                                           "total",
                                           "trim",
                                           "typeof",
                                           "unicode",
                                           "unixepoch",
                                           "unlikely",
                                           "upper",
                                           "->",
                                           "->>"};

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

int Authorize(void*, int action, const char* first, const char* second,
              const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_READ:
      // Private tables are read by the views alone: CheckWords() has seen to
      // it that the statement does not name one.
      return first && std::string_view(first).starts_with("sqlite_")
                 ? SQLITE_DENY
                 : SQLITE_OK;
    case SQLITE_FUNCTION:
      return second && Contains(kFunctions, Lower(second)) ? SQLITE_OK
                                                           : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

// No word of the statement, quoted or not, may be a private table or one of
// SQLite's own.
absl::Status CheckWords(const std::string& sql) {
  const std::string text = Lower(sql);
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = std::string_view(text).substr(i, end - i);
    if (Contains(PrivateTables(), word) || word.starts_with("sqlite_") ||
        word.starts_with("pragma_")) {
      return InvalidArgument(fmt::format(
          "{} is not one of the views: jobs, kernels, tasks, attempts, "
          "probes, isa, benchmarks, decisions, nodes",
          word));
    }
    i = std::max(end, i + 1);
  }
  return absl::OkStatus();
}

struct Deadline {
  Clock* clock;
  absl::Duration at;
};
int Late(void* deadline) {
  const auto* d = static_cast<const Deadline*>(deadline);
  return d->clock->Steady() >= d->at ? 1 : 0;
}

void SetValue(sqlite3_stmt* statement, int column, v1::QueryValue* value) {
  const auto bytes = [&](const void* data) {
    return std::string(
        static_cast<const char*>(data),
        static_cast<size_t>(sqlite3_column_bytes(statement, column)));
  };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return value->set_integer(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return value->set_real(sqlite3_column_double(statement, column));
    case SQLITE_TEXT: {
      std::string text = bytes(sqlite3_column_text(statement, column));
      return value->set_text(std::move(text));
    }
    case SQLITE_BLOB:
      return value->set_blob(bytes(sqlite3_column_blob(statement, column)));
    default:
      return value->set_null(true);
  }
}

}  // namespace

absl::StatusOr<v1::QueryResponse> Reads::Query(const v1::QueryRequest& request,
                                               Clock& clock) {
  if (request.sql().size() > kLargestSql) {
    return InvalidArgument("the statement is longer than 64 KiB");
  }
  if (request.sql().find('\0') != std::string::npos) {
    return InvalidArgument("the statement holds a zero byte");
  }
  KF_RETURN_IF_ERROR(CheckWords(request.sql()));
  const int rows = request.max_rows() <= 0
                       ? kDefaultRows
                       : std::min(request.max_rows(), kLargestRows);
  const double seconds = request.timeout_s() > 0
                             ? std::min(request.timeout_s(), kLargestSeconds)
                             : kDefaultSeconds;
  sqlite3* db = db_->handle();
  Deadline deadline{&clock, clock.Steady() + absl::Seconds(seconds)};
  sqlite3_set_authorizer(db, &Authorize, nullptr);
  sqlite3_progress_handler(db, kStepsPerLook, &Late, &deadline);
  sqlite3_stmt* statement = nullptr;
  const auto cleanup = absl::MakeCleanup([&] {
    sqlite3_finalize(statement);
    sqlite3_set_authorizer(db, nullptr, nullptr);
    sqlite3_progress_handler(db, 0, nullptr, nullptr);
  });
  const auto failure = [&](int code) {
    if ((code & 0xff) == SQLITE_INTERRUPT) {
      return Error(absl::StatusCode::kDeadlineExceeded,
                   fmt::format("the query took longer than {} s", seconds));
    }
    if ((code & 0xff) == SQLITE_AUTH) {
      return InvalidArgument(
          fmt::format("only SELECT over the documented views is allowed: {}",
                      sqlite3_errmsg(db)));
    }
    return InvalidArgument(fmt::format("SQL: {}", sqlite3_errmsg(db)));
  };
  const char* tail = nullptr;
  int code =
      sqlite3_prepare_v2(db, request.sql().c_str(), -1, &statement, &tail);
  if (code != SQLITE_OK) return failure(code);
  if (!statement) return InvalidArgument("the statement is empty");
  if (!sqlite3_stmt_readonly(statement)) {
    return InvalidArgument("only SELECT is allowed");
  }
  if (std::string_view(tail).find_first_not_of(" \t\r\n;") !=
      std::string_view::npos) {
    return InvalidArgument("one statement at a time");
  }
  v1::QueryResponse response;
  const int columns = sqlite3_column_count(statement);
  for (int i = 0; i < columns; ++i) {
    response.add_columns(sqlite3_column_name(statement, i));
  }
  size_t size = 0;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    if (response.rows_size() == rows || size > kLargestAnswer) {
      response.set_truncated(true);
      return response;
    }
    v1::QueryRow& row = *response.add_rows();
    for (int i = 0; i < columns; ++i) {
      SetValue(statement, i, row.add_values());
    }
    size += row.ByteSizeLong() + 8;
  }
  if (code != SQLITE_DONE) return failure(code);
  return response;
}

}  // namespace kernelfleet::server
