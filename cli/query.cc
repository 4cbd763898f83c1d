#include <fmt/format.h>

#include "cli/client.h"
#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/report/document.h"
#include "common/report/job_report.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--sql", "SQL", "The query; the same as the argument"},
    {"--format", "FORMAT", "How to print rows (table)", Repeat::kNo, "-f",
     "table json csv"},
    {"--limit", "N", "Rows at most (1000)", Repeat::kNo, "-n"},
    KERNELFLEET_SERVER_FLAGS,
};

constexpr double kTimeoutSeconds = 10;

std::string HexOf(std::string_view bytes) {
  std::string out = "x'";
  for (const char c : bytes) {
    out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  return out + "'";
}

report::Cell CellOf(const v1::QueryValue& value) {
  switch (value.value_case()) {
    case v1::QueryValue::kInteger:
      return {std::to_string(value.integer())};
    case v1::QueryValue::kReal:
      return {fmt::format("{}", value.real())};
    case v1::QueryValue::kText:
      return {value.text()};
    case v1::QueryValue::kBlob:
      return {HexOf(value.blob())};
    case v1::QueryValue::kNull:
    case v1::QueryValue::VALUE_NOT_SET:
      return {};
  }
  return {};
}

report::Table TableOf(const v1::QueryResponse& response) {
  report::Table table;
  for (int i = 0; i < response.columns_size(); ++i) {
    const bool number = !response.rows().empty() &&
                        i < response.rows(0).values_size() &&
                        (response.rows(0).values(i).has_integer() ||
                         response.rows(0).values(i).has_real());
    table.columns.push_back({response.columns(i), number
                                                      ? report::Align::kRight
                                                      : report::Align::kLeft});
  }
  for (const v1::QueryRow& row : response.rows()) {
    std::vector<report::Cell>& cells = table.rows.emplace_back();
    for (const v1::QueryValue& value : row.values()) {
      cells.push_back(CellOf(value));
    }
  }
  return table;
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  std::string sql = args.Get("--sql");
  if (sql.empty() == args.positional().empty()) {
    return InvalidArgument("usage: kernelfleet query SQL");
  }
  if (sql.empty()) sql = args.positional()[0];
  v1::QueryRequest request;
  request.set_sql(sql);
  KF_ASSIGN_OR_RETURN(const int64_t limit,
                      IntFlag(args, "--limit", 1000, 1, 1'000'000));
  request.set_max_rows(static_cast<int32_t>(limit));
  request.set_timeout_s(kTimeoutSeconds);
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  KF_ASSIGN_OR_RETURN(const v1::QueryResponse response, client.Query(request));
  const std::string format = args.Get("--format", "table");
  if (format == "json") {
    KF_ASSIGN_OR_RETURN(const std::string json, report::RowsToJson(response));
    terminal.Print(json);
  } else if (format == "csv") {
    terminal.Print(report::ToCsv(TableOf(response)));
  } else {
    terminal.Print(report::RowsToTerminal(
        TableOf(response), {terminal.width(), terminal.color()}));
  }
  if (response.truncated()) {
    terminal.Say("kernelfleet: there are more rows; --limit shows more\n");
  }
  return Exit::kYes;
}

}  // namespace

const Verb kQueryVerb = {
    "query",
    "SQL",
    "Ask the history in SQL, read-only",
    kFlags,
    0,
    1,
    "Views: kernels, probes, isa, benchmarks, decisions, nodes.",
    "  kernelfleet query 'SELECT * FROM probes LIMIT 5'\n"
    "  kernelfleet query \"SELECT kernel, target, outcome FROM probes WHERE "
    "spills > 0\" \\\n    --format csv\n",
    &Run};

}  // namespace kernelfleet::cli
