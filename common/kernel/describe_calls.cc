#include <string_view>

#include "common/kernel/describe.h"

namespace kernelfleet::kernel {
namespace {

v1::Operation::Kind KindOf(Effect effect) {
  switch (effect) {
    case Effect::kDot:
      return v1::Operation::dot;
    case Effect::kReduce:
    case Effect::kNormalize:
      return v1::Operation::reduction;
    case Effect::kScan:
      return v1::Operation::scan;
    case Effect::kPermuteLanes:
    case Effect::kHistogram:
      return v1::Operation::cross_lane;
    case Effect::kMakeBlockPointer:
      return v1::Operation::make_block_pointer;
    case Effect::kMakeDescriptor:
      return v1::Operation::make_descriptor;
    case Effect::kInlineAsm:
      return v1::Operation::inline_asm;
    case Effect::kLibdevice:
      return v1::Operation::libdevice;
    case Effect::kRandom:
      return v1::Operation::random;
    case Effect::kBarrier:
      return v1::Operation::barrier;
    case Effect::kDebug:
      return v1::Operation::debug;
    default:
      return v1::Operation::math;
  }
}

void AddHint(const SourceFile& source, const NotableCall& call,
             v1::JitFunction& out) {
  const Syntax& syntax = source.syntax;
  v1::Hint* hint = out.add_hints();
  hint->set_kind(call.name);
  hint->set_line(syntax.line(call.node));
  const NodeId arguments = syntax.Child(call.node, Field::kArguments);
  if (arguments == kNoNode) return;
  const NodeId subject = syntax.first_child(arguments);
  if (subject == kNoNode) return;
  hint->set_subject(Quote(syntax, subject));
  if (const NodeId value = syntax.next_sibling(subject); value != kNoNode) {
    hint->set_value(Quote(syntax, value));
  }
}

}  // namespace

void DescribeCalls(const SourceFile& source, const Flow& flow,
                   v1::JitFunction& out) {
  const Syntax& syntax = source.syntax;
  for (const NotableCall& call : flow.calls) {
    if (call.inlined) continue;
    if (call.effect == Effect::kHint) {
      AddHint(source, call, out);
      continue;
    }
    v1::Operation* operation = out.add_operations();
    operation->set_kind(KindOf(call.effect));
    operation->set_name(call.name);
    operation->set_line(syntax.line(call.node));
    operation->set_loop_depth(flow.loops[call.loop].depth);
    operation->set_text(Quote(syntax, call.node));
    SetRange(syntax, call.node, operation->mutable_range());
  }
}

}  // namespace kernelfleet::kernel
