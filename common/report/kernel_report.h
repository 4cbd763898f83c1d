// One kernel's part of a report. Private to this folder.
#ifndef KERNELFLEET_COMMON_REPORT_KERNEL_REPORT_H_
#define KERNELFLEET_COMMON_REPORT_KERNEL_REPORT_H_

#include <map>
#include <string>
#include <vector>

#include "common/report/document.h"
#include "kernelfleet/v1/job.pb.h"

namespace kernelfleet::report {

struct KernelFindings {
  std::vector<const v1::TaskRecord*> tasks;
  std::vector<const v1::Decision*> decisions;
};

// By kernel index, tasks in the order of the plan.
std::map<int, KernelFindings> GroupByKernel(const v1::JobDetail& job);

// Something failed, is unknown or spills.
bool IsNotable(const KernelFindings& findings);

void AddKernel(const v1::JobDetail& job, int kernel,
               const KernelFindings& findings, Document& out);

// "Built on node-a with Triton 3.9.0", one for each pair that occurs.
std::vector<std::string> NodesOf(const v1::JobDetail& job);

}  // namespace kernelfleet::report

#endif  // KERNELFLEET_COMMON_REPORT_KERNEL_REPORT_H_
