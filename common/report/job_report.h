// What a job found, for its reader: the conclusion first, then a table of what
// came out, what failed and where, what was guessed, and what to try next.
//
//   fmt::print("{}", ToMarkdown(Describe(job)));
#ifndef KERNELFLEET_COMMON_REPORT_JOB_REPORT_H_
#define KERNELFLEET_COMMON_REPORT_JOB_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/report/document.h"
#include "google/protobuf/message.h"
#include "kernelfleet/v1/job.pb.h"
#include "kernelfleet/v1/service.pb.h"

namespace kernelfleet::report {

// kAll: every kernel of a batch. kNotable: of a large batch only those with
// something to say; the summary counts the others.
enum class Extent { kAll, kNotable };

Document Describe(const v1::JobDetail& job, Extent extent = Extent::kAll);

// Why a job or its tasks wait, failed or stopped: the server's reasons and the
// runner's own words.
Document Why(const v1::JobDetail& job);

// Any message as JSON with the field names of the proto files, indented.
absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message);

// The same on one line.
absl::StatusOr<std::string> ToJsonLine(
    const google::protobuf::Message& message);

// Rows of a query as an array of objects, columns by name.
absl::StatusOr<std::string> RowsToJson(const v1::QueryResponse& response);

}  // namespace kernelfleet::report

#endif  // KERNELFLEET_COMMON_REPORT_JOB_REPORT_H_
