// Findings in a few words, the same in every report and listing.
#ifndef KERNELFLEET_COMMON_REPORT_WORDS_H_
#define KERNELFLEET_COMMON_REPORT_WORDS_H_

#include <string>

#include "common/report/document.h"
#include "kernelfleet/v1/job.pb.h"

namespace kernelfleet::report {

// "softmax_kernel hip:gfx942 buffer_ops=1".
std::string TaskLabel(const v1::JobSpec& job, const v1::TaskSpec& task);

// "compiled", "compile error", "waiting"; what a reader wants first.
Cell OutcomeCell(const v1::TaskRecord& task);

// "32" on NVIDIA; "12 v, 4 a, 20 s" on AMD. Empty: the tools did not say.
std::string RegistersText(const v1::Resources& resources);

// "0", "24 B", "3 registers"; empty: the tools did not say.
std::string SpillsText(const v1::Resources& resources);

// "2 × global 16 B, 1 × buffer 4 B". `direction` as in MemoryCount; spills are
// apart.
std::string MemoryText(const v1::IsaKernel& code, std::string_view direction);

// "24 × global 16 B, 2 × tma load": copies that run beside the program.
std::string AsyncText(const v1::IsaKernel& code);

// "16 × mfma".
std::string MatrixText(const v1::IsaKernel& code);

// "4 × global atomic, 1 × CAS loop".
std::string AtomicsText(const v1::IsaKernel& code);

// "48 B", "16 KiB".
std::string BytesText(int64_t bytes);

// "52 ms", "1.9 s", "3 min 20 s", "2 d 4 h".
std::string DurationText(double seconds);

// Seconds since the epoch; 0: not set.
double Seconds(const google::protobuf::Timestamp& stamp);

}  // namespace kernelfleet::report

#endif  // KERNELFLEET_COMMON_REPORT_WORDS_H_
