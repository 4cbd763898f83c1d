// What the verbs that read kernel source offline have in common.
#ifndef KERNELFLEET_CLI_KERNEL_SOURCE_H_
#define KERNELFLEET_CLI_KERNEL_SOURCE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/terminal.h"
#include "google/protobuf/message.h"
#include "kernelfleet/v1/kernel.pb.h"

namespace kernelfleet::cli {

// The facts of a file. NOT_FOUND, INVALID_ARGUMENT.
absl::StatusOr<v1::SourceFacts> AnalyzeFile(const std::string& path);

// Keeps only the functions of this name. NOT_FOUND with the names there are.
absl::Status KeepKernel(const std::string& name, v1::SourceFacts& facts);

// A message as indented JSON with the documented field names, absent values
// included.
absl::Status PrintJson(const google::protobuf::Message& message,
                       Terminal& terminal);

// "FILE:LINE:COLUMN: text" for each problem, to standard error.
void SayProblems(const v1::SourceFacts& facts, Terminal& terminal);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_KERNEL_SOURCE_H_
