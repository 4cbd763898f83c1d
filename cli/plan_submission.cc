#include "cli/plan_submission.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cli/flags.h"
#include "cli/infer_kernel.h"
#include "cli/kernel_case.h"
#include "cli/source_files.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/kernel/analyze.h"
#include "common/workflow/target.h"
#include "common/workflow/workflow.h"

namespace kernelfleet::cli {
namespace {

// Compiled for when nobody says otherwise: the two generations of NVIDIA and
// the one of AMD that every Triton since 3.2 can compile for anywhere.
constexpr std::string_view kDefaultTargets[] = {"cuda:sm_90", "cuda:sm_100",
                                                "hip:gfx942"};
constexpr int64_t kMaxCaseBytes = 1 << 20;

class Planner {
 public:
  explicit Planner(const SubmissionRequest& request) : request_(request) {}
  absl::StatusOr<Submission> Plan();

 private:
  absl::Status ReadFlags();
  absl::StatusOr<std::vector<KernelCase>> CasesFor(const std::string& path);
  struct File {
    std::string path;
    std::string text;
    v1::SourceFacts facts;
    std::vector<KernelCase> cases;
  };
  absl::Status ReadFileOf(const std::string& path);
  absl::Status AddFile(const File& file);
  absl::Status AddKernel(const File& file, const v1::JitFunction& kernel);
  void LeaveOutHelpers();
  absl::StatusOr<std::vector<const v1::JitFunction*>> Choose(
      const std::string& path, const v1::SourceFacts& facts);
  absl::Status CheckNames(const std::string& path, const v1::SourceFacts& facts,
                          const std::vector<KernelCase>& cases) const;
  // Ends everything when one thing was asked for, else leaves this one out.
  absl::Status Refuse(const std::string& subject, const absl::Status& why);

  const SubmissionRequest& request_;
  std::vector<v1::KernelArg> flag_args_;
  bool batch_ = false;
  std::vector<File> files_;
  KernelInference inference_;
  // For each kernel of the job, module:name.
  std::vector<std::string> kernel_names_;
  std::set<std::string> helpers_;
  Submission out_;
};

absl::Status Planner::ReadFlags() {
  for (const std::string& text : request_.args) {
    KF_ASSIGN_OR_RETURN(v1::KernelArg arg, ParseArgFlag(text));
    flag_args_.push_back(std::move(arg));
  }
  for (const std::string& text : request_.constexprs) {
    KF_ASSIGN_OR_RETURN(v1::KernelArg arg, ParseConstFlag(text));
    flag_args_.push_back(std::move(arg));
  }
  for (const std::string& name : request_.targets) {
    KF_ASSIGN_OR_RETURN(*out_.spec.add_targets(), workflow::ParseTarget(name));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<KernelCase>> Planner::CasesFor(
    const std::string& path) {
  std::string case_path = request_.case_file;
  if (case_path.empty()) {
    case_path = CasePathFor(path);
    if (!PathExists(case_path)) return std::vector<KernelCase>{KernelCase()};
  }
  KF_ASSIGN_OR_RETURN(const std::string text,
                      ReadFile(case_path, kMaxCaseBytes));
  return ParseCaseFile(case_path, text);
}

absl::Status Planner::Refuse(const std::string& subject,
                             const absl::Status& why) {
  if (!batch_) return why;
  std::string reason = Text(why);
  const std::string prefix = subject + ": ";
  if (reason.starts_with(prefix)) reason = reason.substr(prefix.size());
  out_.skipped.push_back({subject, std::move(reason)});
  return absl::OkStatus();
}

std::string NamesOf(const v1::SourceFacts& facts) {
  std::vector<std::string> names;
  for (const v1::JitFunction& kernel : facts.kernels()) {
    if (names.size() == 20) {
      names.push_back("…");
      break;
    }
    names.push_back(Printable(kernel.name()));
  }
  return Join(names, ", ");
}

absl::StatusOr<std::vector<const v1::JitFunction*>> Planner::Choose(
    const std::string& path, const v1::SourceFacts& facts) {
  const std::string shown = Printable(path);
  if (!facts.problems().empty()) {
    const v1::SourceProblem& first = facts.problems(0);
    return InvalidArgument(fmt::format("{}:{}:{}: {}", shown, first.line(),
                                       first.column(),
                                       Printable(first.text())));
  }
  if (facts.kernels().empty()) {
    return InvalidArgument(
        fmt::format("{}: no @triton.jit function in this file", shown));
  }
  std::vector<const v1::JitFunction*> out;
  for (const v1::JitFunction& kernel : facts.kernels()) {
    const bool wanted = request_.kernel.empty()
                            ? kernel.is_entry()
                            : kernel.name() == request_.kernel;
    if (wanted) out.push_back(&kernel);
  }
  if (out.empty()) {
    std::vector<std::string_view> names;
    for (const auto& kernel : facts.kernels()) names.push_back(kernel.name());
    const auto nearest = DidYouMean(request_.kernel, names);
    return InvalidArgument(
        fmt::format("{}: no kernel '{}' in this file; {}", shown,
                    Shorten(Printable(request_.kernel), 80),
                    nearest ? fmt::format("did you mean {}?", *nearest)
                            : fmt::format("it has {}", NamesOf(facts))));
  }
  return out;
}

// A case that speaks of kernels or parameters which the file does not have is
// a typing error, whatever else is right.
absl::Status Planner::CheckNames(const std::string& path,
                                 const v1::SourceFacts& facts,
                                 const std::vector<KernelCase>& cases) const {
  const auto check_args = [&](const std::string& where, const auto& args,
                              std::string_view only) -> absl::Status {
    for (const v1::KernelArg& arg : args) {
      std::vector<std::string_view> names;
      for (const v1::JitFunction& kernel : facts.kernels()) {
        if (!only.empty() && kernel.name() != only) continue;
        for (const v1::Parameter& p : kernel.params()) {
          names.push_back(p.name());
        }
      }
      if (std::find(names.begin(), names.end(), arg.name()) != names.end()) {
        continue;
      }
      const auto nearest = DidYouMean(arg.name(), names);
      return InvalidArgument(fmt::format(
          "{}: no parameter '{}'{}", where, Printable(arg.name()),
          nearest ? fmt::format(": did you mean {}?", *nearest) : ""));
    }
    return absl::OkStatus();
  };
  for (const KernelCase& one : cases) {
    const bool known =
        one.kernel.empty() ||
        std::any_of(facts.kernels().begin(), facts.kernels().end(),
                    [&](const auto& k) { return k.name() == one.kernel; });
    if (!known) {
      return InvalidArgument(fmt::format(
          "{}: no kernel '{}' in {}; it has {}", one.place,
          Shorten(Printable(one.kernel), 80), Printable(path), NamesOf(facts)));
    }
    // A named table also inherits what stands above it, for other kernels.
    KF_RETURN_IF_ERROR(check_args(one.place, one.compile.args(), ""));
  }
  if (batch_) return absl::OkStatus();
  return check_args(Printable(path), flag_args_, request_.kernel);
}

const KernelCase* CaseOf(const std::vector<KernelCase>& cases,
                         const std::string& kernel) {
  const KernelCase* any = nullptr;
  for (const KernelCase& one : cases) {
    if (one.kernel == kernel) return &one;
    if (one.kernel.empty()) any = &one;
  }
  return any;
}

// Each inferred case under what the user said; one case when the user said all.
absl::Status AddCases(const std::string& path, const v1::JitFunction& kernel,
                      const v1::CompileCase& said,
                      const InferredKernel& inferred, v1::KernelSpec& spec) {
  std::set<std::string> seen;
  for (const v1::CompileCase& guess : inferred.cases) {
    v1::CompileCase joined = guess;
    for (const v1::KernelArg& arg : said.args()) PutArg(joined, arg);
    joined.mutable_options()->MergeFrom(said.options());
    absl::StatusOr<v1::CompileCase> made = CompleteCase(path, kernel, joined);
    if (!made.ok()) {
      if (spec.has_case_()) continue;
      return made.status();
    }
    if (!seen.insert(made->SerializeAsString()).second) continue;
    if (!spec.has_case_()) {
      *spec.mutable_case_() = *std::move(made);
    } else {
      *spec.add_alternatives() = *std::move(made);
    }
  }
  return absl::OkStatus();
}

absl::Status Planner::AddKernel(const File& file,
                                const v1::JitFunction& kernel) {
  const std::string& path = file.path;
  if (!kernel.scope().empty()) {
    return InvalidArgument(fmt::format(
        "{}:{}: kernel '{}' is defined inside '{}' and cannot be compiled on "
        "its own",
        Printable(path), kernel.line(), Printable(kernel.name()),
        Printable(kernel.scope(0))));
  }
  const KernelCase* found = CaseOf(file.cases, kernel.name());
  KernelCase said = found == nullptr ? KernelCase() : *found;
  for (const v1::KernelArg& arg : flag_args_) PutArg(said.compile, arg);
  KF_ASSIGN_OR_RETURN(const InferredKernel inferred,
                      inference_.Infer(path, file.text, kernel));
  v1::KernelSpec spec;
  KF_RETURN_IF_ERROR(AddCases(path, kernel, said.compile, inferred, spec));
  const std::string& text = inferred.slice.text;
  spec.set_name(kernel.name());
  spec.set_source_file(path);
  spec.set_module_digest(DigestOf(text));
  spec.set_file_sha256(Sha256Hex(file.text));
  for (const int32_t line : inferred.slice.source_lines) {
    spec.add_source_lines(line);
  }
  spec.set_classification(kernel::Classify(kernel).classification());
  // What is said on the command line counts for all.
  if (request_.targets.empty()) {
    for (const v1::Target& target : said.targets) *spec.add_targets() = target;
  }
  out_.modules[spec.module_digest()] = text;
  *out_.spec.add_kernels() = std::move(spec);
  kernel_names_.push_back(inferred.name);
  helpers_.insert(inferred.slice.functions.begin(),
                  inferred.slice.functions.end());
  return absl::OkStatus();
}

absl::Status Planner::ReadFileOf(const std::string& path) {
  File file;
  file.path = path;
  KF_ASSIGN_OR_RETURN(file.text, ReadSource(path));
  file.facts = kernel::Analyze(path, file.text);
  inference_.AddFacts(path, file.facts);
  KF_RETURN_IF_ERROR(Choose(path, file.facts).status());
  KF_ASSIGN_OR_RETURN(file.cases, CasesFor(path));
  KF_RETURN_IF_ERROR(CheckNames(path, file.facts, file.cases));
  files_.push_back(std::move(file));
  return absl::OkStatus();
}

// A function that a kernel of the job calls, or passes to a scan, is no kernel
// of its own, in whichever file it stands.
void Planner::LeaveOutHelpers() {
  auto& kernels = *out_.spec.mutable_kernels();
  for (int i = kernels.size() - 1; i >= 0; --i) {
    if (helpers_.contains(kernel_names_[static_cast<size_t>(i)])) {
      kernels.DeleteSubrange(i, 1);
    }
  }
}

absl::Status Planner::AddFile(const File& file) {
  const std::string& path = file.path;
  KF_ASSIGN_OR_RETURN(const auto kernels, Choose(path, file.facts));
  const bool one = kernels.size() == 1;
  for (const v1::JitFunction* kernel : kernels) {
    const absl::Status status = AddKernel(file, *kernel);
    if (status.ok()) continue;
    if (one) return status;
    // One kernel of several: the others go on.
    out_.skipped.push_back({Printable(path), Text(status)});
  }
  return absl::OkStatus();
}

absl::StatusOr<Submission> Planner::Plan() {
  out_.spec = request_.base;
  KF_RETURN_IF_ERROR(ReadFlags());
  KF_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                      FindSources(request_.paths));
  const bool folder =
      std::any_of(request_.paths.begin(), request_.paths.end(), &IsFolder);
  batch_ = files.size() > 1 || folder;
  for (const std::string& path : files) {
    const absl::Status status = ReadFileOf(path);
    if (!status.ok()) KF_RETURN_IF_ERROR(Refuse(Printable(path), status));
  }
  // Launches in one file are evidence for the kernels of another.
  for (const File& file : files_) {
    const absl::Status status = AddFile(file);
    if (!status.ok()) KF_RETURN_IF_ERROR(Refuse(Printable(file.path), status));
  }
  if (request_.kernel.empty()) LeaveOutHelpers();
  if (out_.spec.kernels().empty()) {
    return InvalidArgument(
        out_.skipped.empty()
            ? "nothing to submit"
            : fmt::format("nothing to submit: {}: {}{}",
                          out_.skipped[0].subject, out_.skipped[0].reason,
                          out_.skipped.size() == 1
                              ? ""
                              : fmt::format(" (and {} more)",
                                            out_.skipped.size() - 1)));
  }
  const bool assumed =
      request_.targets.empty() &&
      std::any_of(out_.spec.kernels().begin(), out_.spec.kernels().end(),
                  [](const auto& k) { return k.targets().empty(); });
  if (assumed) {
    for (const std::string_view name : kDefaultTargets) {
      KF_ASSIGN_OR_RETURN(*out_.spec.add_targets(),
                          workflow::ParseTarget(name));
    }
    out_.notes.push_back(
        "no target was named: compiling for cuda:sm_90, "
        "cuda:sm_100 and hip:gfx942");
  }
  KF_RETURN_IF_ERROR(workflow::ValidateJob(out_.spec));
  out_.key = SubmissionKey(out_.spec, "");
  return std::move(out_);
}

}  // namespace

std::string SubmissionKey(const v1::JobSpec& spec, std::string_view after) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    // Maps in order: equal specs give equal bytes.
    coded.SetSerializationDeterministic(true);
    (void)spec.SerializeToCodedStream(&coded);
  }
  return fmt::format("content-{}",
                     Sha256Hex(fmt::format("{}\n{}", after, bytes)));
}

absl::StatusOr<Submission> PlanSubmission(const SubmissionRequest& request) {
  return Planner(request).Plan();
}

}  // namespace kernelfleet::cli
