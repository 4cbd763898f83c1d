// Every verb's definition, for the table.
#ifndef KERNELFLEET_CLI_VERBS_H_
#define KERNELFLEET_CLI_VERBS_H_

#include "cli/verb.h"

namespace kernelfleet::cli {

extern const Verb kSubmitVerb;
extern const Verb kWatchVerb;
extern const Verb kJobsVerb;
extern const Verb kShowVerb;
extern const Verb kWhyVerb;
extern const Verb kReportVerb;
extern const Verb kArtifactsVerb;
extern const Verb kGetVerb;
extern const Verb kLogsVerb;
extern const Verb kCancelVerb;
extern const Verb kNodesVerb;
extern const Verb kQueryVerb;
extern const Verb kDevVerb;
extern const Verb kScanIsaVerb;
extern const Verb kCheckEnvVerb;
extern const Verb kInspectVerb;
extern const Verb kClassifyVerb;
extern const Verb kLowerTileIrVerb;
extern const Verb kTransformVerb;
extern const Verb kCompletionVerb;
extern const Verb kPlanVerb;
extern const Verb kVersionVerb;
extern const Verb kHelpVerb;

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_VERBS_H_
