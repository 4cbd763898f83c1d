#include <fmt/format.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "common/base/status.h"
#include "common/report/job_report.h"

namespace kernelfleet::report {
namespace {

absl::StatusOr<std::string> Json(const google::protobuf::Message& message,
                                 bool indented) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = indented;
  options.preserve_proto_field_names = true;
  std::string out;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &out, options);
  if (!status.ok()) {
    return Internal(
        fmt::format("cannot write JSON: {}", std::string(status.message())));
  }
  return out;
}

// A JSON number holds integers exactly up to 2^53; larger ones are strings, as
// in proto JSON.
constexpr int64_t kExact = int64_t{1} << 53;

google::protobuf::Value ValueOf(const v1::QueryValue& value) {
  google::protobuf::Value out;
  switch (value.value_case()) {
    case v1::QueryValue::kInteger:
      if (value.integer() > kExact || value.integer() < -kExact) {
        out.set_string_value(std::to_string(value.integer()));
      } else {
        out.set_number_value(static_cast<double>(value.integer()));
      }
      break;
    case v1::QueryValue::kReal:
      out.set_number_value(value.real());
      break;
    case v1::QueryValue::kText:
      out.set_string_value(value.text());
      break;
    case v1::QueryValue::kBlob:
      out.set_string_value(value.blob());
      break;
    case v1::QueryValue::kNull:
    case v1::QueryValue::VALUE_NOT_SET:
      out.set_null_value(google::protobuf::NULL_VALUE);
      break;
  }
  return out;
}

}  // namespace

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  return Json(message, true);
}

absl::StatusOr<std::string> ToJsonLine(
    const google::protobuf::Message& message) {
  return Json(message, false);
}

absl::StatusOr<std::string> RowsToJson(const v1::QueryResponse& response) {
  google::protobuf::ListValue rows;
  for (const v1::QueryRow& row : response.rows()) {
    auto& fields = *rows.add_values()->mutable_struct_value()->mutable_fields();
    for (int i = 0; i < row.values_size() && i < response.columns_size(); ++i) {
      fields[response.columns(i)] = ValueOf(row.values(i));
    }
  }
  KF_ASSIGN_OR_RETURN(std::string out, Json(rows, true));
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

}  // namespace kernelfleet::report
