#include <fmt/format.h>

#include <algorithm>

#include "cli/client.h"
#include "cli/verbs.h"
#include "common/base/clock.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/report/document.h"
#include "common/report/job_report.h"
#include "common/report/words.h"
#include "common/workflow/target.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--reason", "TEXT", "Why a node is cordoned or drained"},
    {"--json", "", "Print JSON"},
    KERNELFLEET_SERVER_FLAGS,
};

struct Action {
  std::string_view verb;
  std::string_view state;
  std::string_view done;
};
constexpr Action kActions[] = {
    {"cordon", "cordoned", "takes no new work"},
    {"uncordon", "online", "takes work again"},
    {"drain", "draining", "finishes what it has and takes no new work"},
};

std::string TargetsOf(const v1::NodeFacts& facts, bool runs) {
  std::vector<std::string> names;
  for (const v1::Environment& environment : facts.environments()) {
    for (const v1::TargetCapability& one : environment.targets()) {
      const std::string name = workflow::TargetName(one.target());
      const bool has = runs ? one.runs() : one.compiles();
      if (has && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return Join(names, " ");
}

report::Table TableOf(const v1::ListNodesResponse& response) {
  const double now =
      absl::ToDoubleSeconds(RealClock().Now() - absl::UnixEpoch());
  report::Table table;
  table.columns = {{"node"},
                   {"state"},
                   {"seen", report::Align::kRight},
                   {"busy", report::Align::kRight},
                   {"GPUs"},
                   {"Triton"},
                   {"runs"},
                   {"compiles"},
                   {"reason"}};
  for (const v1::NodeStatus& node : response.nodes()) {
    std::vector<std::string> gpus;
    for (const v1::Gpu& gpu : node.facts().gpus()) gpus.push_back(gpu.name());
    std::vector<std::string> tritons;
    for (const v1::Environment& one : node.facts().environments()) {
      tritons.push_back(one.triton_version());
    }
    const bool online = node.state() == "online";
    table.rows.push_back(
        {node.facts().node_id(),
         {node.state(), online ? report::Tone::kGood : report::Tone::kAdvice},
         report::DurationText(std::max(0.0, now - node.last_seen_s())) + " ago",
         node.held() == 0 ? "" : std::to_string(node.held()),
         Join(gpus, ", "),
         Join(tritons, ", "),
         TargetsOf(node.facts(), true),
         TargetsOf(node.facts(), false),
         node.reason()});
  }
  return table;
}

absl::StatusOr<Exit> SetState(Client& client, const Action& action,
                              const Arguments& args, Terminal& terminal) {
  if (args.positional().size() != 2) {
    return InvalidArgument(
        fmt::format("usage: kernelfleet nodes {} NODE", action.verb));
  }
  v1::SetNodeStateRequest request;
  request.set_node_id(args.positional()[1]);
  request.set_state(std::string(action.state));
  request.set_reason(args.Get("--reason"));
  KF_RETURN_IF_ERROR(client.SetNodeState(request));
  terminal.Print(
      fmt::format("Node {} {}\n", Printable(request.node_id()), action.done));
  return Exit::kYes;
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  const std::string verb =
      args.positional().empty() ? "list" : args.positional()[0];
  const Action* action = nullptr;
  for (const Action& one : kActions) {
    if (one.verb == verb) action = &one;
  }
  if (action == nullptr && verb != "list") {
    constexpr std::string_view kWords[] = {"list", "cordon", "uncordon",
                                           "drain"};
    const auto nearest = DidYouMean(verb, kWords);
    return InvalidArgument(
        fmt::format("nodes '{}': {}", Shorten(Printable(verb), 40),
                    nearest ? fmt::format("did you mean {}?", *nearest)
                            : "expected list, cordon, uncordon or drain"));
  }
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  if (action != nullptr) return SetState(client, *action, args, terminal);
  KF_ASSIGN_OR_RETURN(const v1::ListNodesResponse response, client.ListNodes());
  if (args.Has("--json")) {
    KF_ASSIGN_OR_RETURN(const std::string json, report::ToJson(response));
    terminal.Print(json);
  } else if (response.nodes().empty()) {
    terminal.Print(
        "No node has registered yet: start kernelfleet-agent "
        "--server " +
        Printable(client.address()) + "\n");
  } else {
    terminal.Print(report::ToTerminal(TableOf(response),
                                      {terminal.width(), terminal.color()}));
  }
  return Exit::kYes;
}

}  // namespace

const Verb kNodesVerb = {
    "nodes",
    "[list | cordon NODE | uncordon NODE | drain NODE]",
    "List nodes and what they can do, or take one out of service",
    kFlags,
    0,
    2,
    "",
    "  kernelfleet nodes\n"
    "  kernelfleet nodes drain gpu-7 --reason 'new driver'\n",
    &Run};

}  // namespace kernelfleet::cli
