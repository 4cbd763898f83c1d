#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/tileir/ttir_parse.h"
#include "common/tileir/ttir_syntax.h"
#include "fmt/format.h"

namespace kernelfleet::tileir::ttir {
namespace {

constexpr int64_t kMaxResults = 256;

// "cf.cond_br"(%c, %a, %b)[^bb1, ^bb2] has its blocks' arguments among its
// operands; the pretty form has them with the blocks.
void MoveBranchOperands(Op* op) {
  if (op->name == "cf.br" && op->successors.size() == 1) {
    op->successors.front().arguments = std::move(op->operands);
    op->operands.clear();
  }
  const Attribute* sizes = op->Find("operandSegmentSizes");
  if (op->name != "cf.cond_br" || op->successors.size() != 2 ||
      sizes == nullptr || sizes->items.size() != 3) {
    return;
  }
  const auto given = static_cast<int64_t>(op->operands.size());
  const int64_t first = sizes->items[1].integer;
  const int64_t second = sizes->items[2].integer;
  if (first < 0 || second < 0 || first > given || second > given ||
      1 + first + second != given) {
    return;
  }
  const auto middle = op->operands.begin() + 1 + first;
  op->successors[0].arguments.assign(op->operands.begin() + 1, middle);
  op->successors[1].arguments.assign(middle, op->operands.end());
  op->operands.resize(1);
}

}  // namespace

absl::Status Reader::ReadResults(Parts* parts) {
  if (scan_.Peek() != '%') return absl::OkStatus();
  do {
    Result result;
    int64_t part = 0;
    result.name = scan_.TakeValueName(&part);
    if (result.name.empty()) return scan_.Fail("expected a result");
    if (scan_.Accept(":")) {
      KF_ASSIGN_OR_RETURN(result.count, scan_.TakeInteger());
      if (result.count < 1 || result.count > kMaxResults) {
        return scan_.Fail("expected a number of results");
      }
    }
    parts->results.push_back(result);
  } while (scan_.Accept(","));
  return scan_.Expect("=");
}

absl::Status Reader::ReadOp(Block* block, BlockNames* names) {
  Parts parts;
  Op op;
  KF_RETURN_IF_ERROR(ReadResults(&parts));
  if (scan_.Peek() == '"') {
    KF_ASSIGN_OR_RETURN(op.name, scan_.TakeString());
    KF_RETURN_IF_ERROR(ReadGeneric(&op, &parts, names));
  } else {
    op.name = scan_.TakeWord();
    if (op.name.empty()) return scan_.Fail("expected an operation");
    if (op.name == "scf.for") {
      KF_RETURN_IF_ERROR(ReadFor(&op, &parts));
    } else if (op.name == "scf.if") {
      KF_RETURN_IF_ERROR(ReadIf(&op, &parts));
    } else if (op.name == "scf.while") {
      KF_RETURN_IF_ERROR(ReadWhile(&op, &parts));
    } else if (op.name == "arith.constant") {
      KF_RETURN_IF_ERROR(ReadConstant(&op));
    } else {
      KF_RETURN_IF_ERROR(ReadFlat(&op, &parts, names));
    }
  }
  KF_ASSIGN_OR_RETURN(op.location, scan_.TakeLocation());
  for (auto& [key, value] : op.attributes) {
    if (value.kind != Attribute::Kind::kInteger) continue;
    const std::string_view word = EnumeratorWord(op.name, key, value.integer);
    if (word.empty()) continue;
    value.kind = Attribute::Kind::kWord;
    value.text = word;
  }
  KF_RETURN_IF_ERROR(MakeResults(&op, parts));
  block->ops.push_back(std::move(op));
  return absl::OkStatus();
}

// (%a)[^bb1] <{properties}> ({region}, …) {attributes} : (types) -> types
absl::Status Reader::ReadGeneric(Op* op, Parts* parts, BlockNames* names) {
  KF_RETURN_IF_ERROR(scan_.Expect("("));
  KF_RETURN_IF_ERROR(ReadOperandList(")", &op->operands));
  if (scan_.Accept("[")) {
    do {
      KF_RETURN_IF_ERROR(ReadSuccessor(op, names));
    } while (scan_.Accept(","));
    KF_RETURN_IF_ERROR(scan_.Expect("]"));
  }
  if (scan_.Accept("<")) {
    KF_RETURN_IF_ERROR(scan_.TakeDictionary(&op->attributes));
    KF_RETURN_IF_ERROR(scan_.Expect(">"));
  }
  if (scan_.Accept("(")) {
    do {
      op->regions.emplace_back();
      Region region;
      KF_RETURN_IF_ERROR(ReadRegion(&region));
      op->regions.back() = std::move(region);
    } while (scan_.Accept(","));
    KF_RETURN_IF_ERROR(scan_.Expect(")"));
  }
  if (scan_.Peek() == '{') {
    KF_RETURN_IF_ERROR(scan_.TakeDictionary(&op->attributes));
  }
  KF_RETURN_IF_ERROR(scan_.Expect(":"));
  KF_ASSIGN_OR_RETURN(parts->types, scan_.TakeTypeList());
  KF_RETURN_IF_ERROR(scan_.Expect("->"));
  KF_ASSIGN_OR_RETURN(parts->result_types, scan_.TakeTypeList());
  parts->arrow = true;
  MoveBranchOperands(op);
  return absl::OkStatus();
}

absl::Status Reader::ReadSuccessor(Op* op, BlockNames* names) {
  const std::string_view name = scan_.TakeBlockName();
  if (name.empty() || current_region_ == nullptr) {
    return scan_.Fail("expected a block");
  }
  Successor successor;
  successor.block = BlockNumber(name, current_region_, names);
  if (scan_.Accept("(")) {
    do {
      KF_ASSIGN_OR_RETURN(const ValueId value, ReadUse());
      successor.arguments.push_back(value);
    } while (scan_.Accept(","));
    if (scan_.Accept(":")) {
      do {
        KF_ASSIGN_OR_RETURN(const Type ignored, scan_.TakeType());
        (void)ignored;
      } while (scan_.Accept(","));
    }
    KF_RETURN_IF_ERROR(scan_.Expect(")"));
  }
  op->successors.push_back(std::move(successor));
  return absl::OkStatus();
}

// [%a, %b]: the order of the text is that of the operands.
absl::Status Reader::ReadBracketed(Op* op) {
  KF_RETURN_IF_ERROR(scan_.Expect("["));
  return ReadOperandList("]", &op->operands);
}

// A bare word: the next enumerator of the row, key = value, or a flag.
absl::Status Reader::ReadFlatWord(Op* op, Parts* parts) {
  const std::string_view word = scan_.TakeWord();
  if (word.empty()) return scan_.Fail("expected a word");
  const auto& words = SyntaxOf(op->name).words;
  const auto index = static_cast<size_t>(parts->words);
  if (scan_.Accept("=")) {
    KF_ASSIGN_OR_RETURN(Attribute value, scan_.TakeAttributeValue());
    op->attributes.emplace_back(word, std::move(value));
  } else if (index < words.size() && !words[index].empty()) {
    Attribute value;
    value.kind = Attribute::Kind::kWord;
    value.text = word;
    op->attributes.emplace_back(words[index], std::move(value));
    ++parts->words;
  } else if (word == "scale") {
    parts->scales.push_back(op->operands.size());
  } else {
    if (scan_.Peek() == '<') {  // fastmath<contract>, overflow<nsw>
      KF_ASSIGN_OR_RETURN(const std::string_view ignored, scan_.SkipGroup());
      (void)ignored;
    }
    op->attributes.emplace_back(word, Attribute{});
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadFlatItem(Op* op, Parts* parts, BlockNames* names) {
  switch (scan_.Peek()) {
    case '%': {
      KF_ASSIGN_OR_RETURN(const ValueId value, ReadUse());
      op->operands.push_back(value);
      return absl::OkStatus();
    }
    case '[':
      return ReadBracketed(op);
    case '(':
      KF_RETURN_IF_ERROR(scan_.Expect("("));
      return ReadOperandList(")", &op->operands);
    case '^':
      return ReadSuccessor(op, names);
    case '{':
      return scan_.TakeDictionary(&op->attributes);
    case '"':
    case '@': {
      KF_ASSIGN_OR_RETURN(Attribute value, scan_.TakeAttributeValue());
      op->attributes.emplace_back("", std::move(value));
      return absl::OkStatus();
    }
    default:
      return ReadFlatWord(op, parts);
  }
}

// %a, %b word {attributes} : types -> types
absl::Status Reader::ReadFlat(Op* op, Parts* parts, BlockNames* names) {
  while (true) {
    const char next = scan_.Peek();
    if (next == '}' || next == '\0' || scan_.AtLocation()) break;
    if (scan_.Accept(",")) continue;
    if (scan_.Accept("->")) {  // Types without a colon: inline assembly.
      KF_ASSIGN_OR_RETURN(parts->result_types, scan_.TakeTypeList());
      parts->arrow = true;
      break;
    }
    if (scan_.Accept(":")) {
      if (scan_.Peek() == '%') continue;  // tt.print has operands after it.
      KF_RETURN_IF_ERROR(
          scan_.TakeTypes(&parts->types, &parts->result_types, &parts->arrow));
      break;
    }
    // Without locations an operation ends where the next one begins.
    if (scan_.AtStatement()) break;
    KF_RETURN_IF_ERROR(ReadFlatItem(op, parts, names));
  }
  // The operands' order is that of the operation's definition.
  if ((op->name == "tt.descriptor_store" ||
       op->name == "tt.descriptor_reduce") &&
      op->operands.size() > 1) {
    std::rotate(op->operands.begin() + 1, op->operands.end() - 1,
                op->operands.end());
  }
  std::vector<ValueId> scales;
  for (size_t i = parts->scales.size(); i-- > 0;) {
    const size_t place = parts->scales[i];
    if (place >= op->operands.size()) return scan_.Fail("expected a scale");
    op->attributes.emplace_back(place == 1 ? "a_scale" : "b_scale",
                                Attribute{});
    const auto at = op->operands.begin() + static_cast<ptrdiff_t>(place);
    scales.insert(scales.begin(), *at);
    op->operands.erase(at);
  }
  op->operands.insert(op->operands.end(), scales.begin(), scales.end());
  return absl::OkStatus();
}

absl::Status Reader::ReadConstant(Op* op) {
  if (scan_.Peek() == '{') {
    KF_RETURN_IF_ERROR(scan_.TakeDictionary(&op->attributes));
  }
  KF_ASSIGN_OR_RETURN(Attribute value, scan_.TakeAttribute());
  op->attributes.emplace_back("value", std::move(value));
  return absl::OkStatus();
}

// iter_args(%a = %b, …), or the (%a = %b) of a while.
absl::Status Reader::ReadBindings(std::vector<std::string_view>* names,
                                  std::vector<ValueId>* initial) {
  KF_RETURN_IF_ERROR(scan_.Expect("("));
  if (scan_.Accept(")")) return absl::OkStatus();
  do {
    int64_t part = 0;
    names->push_back(scan_.TakeValueName(&part));
    KF_RETURN_IF_ERROR(scan_.Expect("="));
    KF_ASSIGN_OR_RETURN(const ValueId value, ReadUse());
    initial->push_back(value);
  } while (scan_.Accept(","));
  return scan_.Expect(")");
}

// unsigned? %i = %a to %b step %c iter_args(…) -> (types) : type {…}
absl::Status Reader::ReadFor(Op* op, Parts* parts) {
  if (scan_.AcceptWord("unsigned")) {
    op->attributes.emplace_back("unsignedCmp", Attribute{});
  }
  int64_t part = 0;
  std::vector<std::string_view> names = {scan_.TakeValueName(&part)};
  for (const std::string_view word : {"=", "to", "step"}) {
    KF_RETURN_IF_ERROR(scan_.Expect(word));
    KF_ASSIGN_OR_RETURN(const ValueId value, ReadUse());
    op->operands.push_back(value);
  }
  if (scan_.AcceptWord("iter_args")) {
    KF_RETURN_IF_ERROR(ReadBindings(&names, &op->operands));
    KF_RETURN_IF_ERROR(scan_.Expect("->"));
    KF_ASSIGN_OR_RETURN(parts->result_types, scan_.TakeTypeList());
  }
  parts->arrow = true;
  if (scan_.Accept(":")) {
    KF_ASSIGN_OR_RETURN(const Type ignored, scan_.TakeType());
    (void)ignored;
  }
  std::vector<ValueId> like = {op->operands.front()};
  like.insert(like.end(), op->operands.begin() + 3, op->operands.end());
  KF_RETURN_IF_ERROR(ReadBody(op, names, like));
  if (scan_.Peek() == '{') {
    KF_RETURN_IF_ERROR(scan_.TakeDictionary(&op->attributes));
  }
  return absl::OkStatus();
}

// A region whose arguments are named before it, typed like other values.
absl::Status Reader::ReadBody(Op* op,
                              const std::vector<std::string_view>& names,
                              const std::vector<ValueId>& like) {
  const size_t mark = undo_.size();
  std::vector<ValueId> arguments;
  for (size_t i = 0; i < names.size() && i < like.size(); ++i) {
    arguments.push_back(Define(names[i], Type(module_.TypeOf(like[i]))));
    Bind(names[i], arguments.back(), 1);
  }
  Region region;
  const absl::Status status = ReadRegion(&region);
  Unbind(mark);
  KF_RETURN_IF_ERROR(status);
  if (!region.blocks.empty()) region.blocks.front().arguments = arguments;
  op->regions.push_back(std::move(region));
  return absl::OkStatus();
}

// %c -> (types) {…} else {…}
absl::Status Reader::ReadIf(Op* op, Parts* parts) {
  KF_ASSIGN_OR_RETURN(const ValueId condition, ReadUse());
  op->operands.push_back(condition);
  parts->arrow = true;
  if (scan_.Accept("->")) {
    KF_ASSIGN_OR_RETURN(parts->result_types, scan_.TakeTypeList());
  }
  KF_RETURN_IF_ERROR(ReadBody(op, {}, {}));
  if (scan_.AcceptWord("else")) {
    KF_RETURN_IF_ERROR(ReadBody(op, {}, {}));
  } else {
    op->regions.emplace_back();
  }
  if (scan_.Peek() == '{') {
    KF_RETURN_IF_ERROR(scan_.TakeDictionary(&op->attributes));
  }
  return absl::OkStatus();
}

// (%a = %b) : (types) -> types {…} do {…} attributes {…}
absl::Status Reader::ReadWhile(Op* op, Parts* parts) {
  std::vector<std::string_view> names;
  if (scan_.Peek() == '(') {
    KF_RETURN_IF_ERROR(ReadBindings(&names, &op->operands));
  }
  KF_RETURN_IF_ERROR(scan_.Expect(":"));
  KF_ASSIGN_OR_RETURN(parts->types, scan_.TakeTypeList());
  KF_RETURN_IF_ERROR(scan_.Expect("->"));
  KF_ASSIGN_OR_RETURN(parts->result_types, scan_.TakeTypeList());
  parts->arrow = true;
  KF_RETURN_IF_ERROR(ReadBody(op, names, op->operands));
  if (!scan_.AcceptWord("do")) return scan_.Fail("expected 'do'");
  Region after;
  KF_RETURN_IF_ERROR(ReadRegion(&after));
  op->regions.push_back(std::move(after));
  if (scan_.AcceptWord("attributes")) {
    KF_RETURN_IF_ERROR(scan_.TakeDictionary(&op->attributes));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Type>> Reader::ResultTypes(const Op& op,
                                                      const Parts& parts) {
  const Results rule = SyntaxOf(op.name).results;
  if (rule == Results::kConstant) {
    const Attribute* value = op.Find("value");
    if (value == nullptr) return scan_.Fail("expected a constant");
    Type type = value->type;
    if (type.kind == Type::Kind::kNone) {  // true and false print no type.
      type.kind = Type::Kind::kValue;
      type.scalar = Scalar::kI1;
    }
    return std::vector<Type>{type};
  }
  if (parts.arrow) {
    if (rule == Results::kPair && parts.result_types.size() == 1) {
      return std::vector<Type>(2, parts.result_types.front());
    }
    return parts.result_types;
  }
  if (rule == Results::kNone || parts.types.empty()) return std::vector<Type>();
  Type type = parts.types.front();
  switch (rule) {
    case Results::kLast:
      type = parts.types.back();
      break;
    case Results::kPointee:
      type.pointer = false;
      break;
    case Results::kTruth:
      type.scalar = Scalar::kI1;
      type.pointer = false;
      break;
    case Results::kElement:
      type.tensor = false;
      type.shape.clear();
      break;
    case Results::kPair:
      return std::vector<Type>(2, type);
    case Results::kUsual:
    case Results::kNone:
    case Results::kConstant:
      break;
  }
  return std::vector<Type>{type};
}

absl::Status Reader::MakeResults(Op* op, const Parts& parts) {
  KF_ASSIGN_OR_RETURN(const std::vector<Type> types, ResultTypes(*op, parts));
  int64_t named = 0;
  for (const Result& result : parts.results) named += result.count;
  // An operation that nobody knows may print its types as it likes.
  std::vector<Type> made = types;
  if (named != 0 && static_cast<int64_t>(made.size()) != named) {
    Type unknown;
    unknown.kind = Type::Kind::kOther;
    unknown.text = "unknown";
    made.assign(static_cast<size_t>(named), unknown);
  }
  for (const Type& type : made) op->results.push_back(Define("", type));
  size_t next = 0;
  for (const Result& result : parts.results) {
    Bind(result.name, op->results[next], result.count);
    module_.values[static_cast<size_t>(op->results[next])].name = result.name;
    next += static_cast<size_t>(result.count);
  }
  return absl::OkStatus();
}

}  // namespace kernelfleet::tileir::ttir
