// What a reader could try, from the decisions. Private to this folder.
#ifndef KERNELFLEET_COMMON_REPORT_NEXT_STEPS_H_
#define KERNELFLEET_COMMON_REPORT_NEXT_STEPS_H_

#include "common/report/document.h"
#include "kernelfleet/v1/job.pb.h"

namespace kernelfleet::report {

void AddNextSteps(const v1::JobDetail& job, Document& out);

}  // namespace kernelfleet::report

#endif  // KERNELFLEET_COMMON_REPORT_NEXT_STEPS_H_
