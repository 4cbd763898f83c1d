#include "common/tileir/ttir_reader.h"

#include <utility>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/tileir/ttir_parse.h"
#include "fmt/format.h"

namespace kernelfleet::tileir::ttir {
namespace {

// Regions nest this deep at most.
constexpr int kMaxDepth = 64;

}  // namespace

ValueId Reader::Define(std::string_view name, Type type) {
  const auto id = static_cast<ValueId>(module_.values.size());
  module_.values.push_back(Value{std::move(type), name});
  return id;
}

void Reader::Bind(std::string_view name, ValueId first, int64_t count) {
  Binding& binding = bindings_[name];
  undo_.push_back({name, binding});
  binding = {first, count};
}

void Reader::Unbind(size_t mark) {
  while (undo_.size() > mark) {
    bindings_[undo_.back().name] = undo_.back().before;
    undo_.pop_back();
  }
}

absl::StatusOr<ValueId> Reader::ReadUse() {
  int64_t part = 0;
  const std::string_view name = scan_.TakeValueName(&part);
  if (name.empty()) return scan_.Fail("expected a value");
  const auto found = bindings_.find(name);
  if (found == bindings_.end() || part < 0 || part >= found->second.count) {
    return scan_.Fail(fmt::format("%{} is not defined here", Printable(name)));
  }
  return found->second.first + static_cast<ValueId>(part);
}

absl::Status Reader::ReadOperandList(std::string_view close,
                                     std::vector<ValueId>* to) {
  if (scan_.Accept(close)) return absl::OkStatus();
  do {
    KF_ASSIGN_OR_RETURN(const ValueId value, ReadUse());
    to->push_back(value);
  } while (scan_.Accept(","));
  return scan_.Expect(close);
}

absl::Status Reader::ReadAlias() {
  KF_RETURN_IF_ERROR(scan_.Expect("#"));
  const size_t start = scan_.position() - 1;
  if (scan_.TakeWord().empty()) return scan_.Fail("expected an alias");
  const std::string_view name = scan_.Since(start);
  KF_RETURN_IF_ERROR(scan_.Expect("="));
  KF_ASSIGN_OR_RETURN(const std::string_view location, scan_.TakeLocation());
  if (location.empty()) {
    KF_ASSIGN_OR_RETURN(const Attribute ignored, scan_.TakeAttribute());
    (void)ignored;
  } else {
    module_.locations.emplace(name, location);
  }
  return absl::OkStatus();
}

absl::StatusOr<Module> Reader::Run() {
  bool in_module = false;
  while (!scan_.AtEnd()) {
    const char next = scan_.Peek();
    if (next == '#') {
      KF_RETURN_IF_ERROR(ReadAlias());
    } else if (!in_module && scan_.AcceptWord("module")) {
      if (scan_.Accept("@")) scan_.TakeWord();
      if (scan_.AcceptWord("attributes")) {
        NamedAttributes ignored;
        KF_RETURN_IF_ERROR(scan_.TakeDictionary(&ignored));
      }
      KF_RETURN_IF_ERROR(scan_.Expect("{"));
      in_module = true;
    } else if (!in_module && scan_.Accept("\"builtin.module\"()")) {
      if (scan_.Peek() == '<') {
        KF_ASSIGN_OR_RETURN(const std::string_view ignored, scan_.SkipGroup());
        (void)ignored;
      }
      KF_RETURN_IF_ERROR(scan_.Expect("("));
      KF_RETURN_IF_ERROR(scan_.Expect("{"));
      in_module = true;
    } else if (in_module && next == '^') {  // The generic form labels it.
      scan_.TakeBlockName();
      KF_RETURN_IF_ERROR(scan_.Expect(":"));
    } else if (in_module && scan_.AcceptWord("tt.func")) {
      KF_RETURN_IF_ERROR(ReadFunction(false));
    } else if (in_module && scan_.Accept("\"tt.func\"")) {
      KF_RETURN_IF_ERROR(ReadFunction(true));
    } else if (in_module && scan_.Accept("}")) {
      if (scan_.Accept(")")) {
        if (scan_.Peek() == '{') {
          NamedAttributes ignored;
          KF_RETURN_IF_ERROR(scan_.TakeDictionary(&ignored));
        }
        KF_RETURN_IF_ERROR(scan_.Expect(": () -> ()"));
      }
      KF_ASSIGN_OR_RETURN(const std::string_view ignored, scan_.TakeLocation());
      (void)ignored;
      in_module = false;
    } else {
      return scan_.Fail(in_module ? "expected tt.func or the module's end"
                                  : "expected a TTIR module");
    }
  }
  if (in_module) return scan_.Fail("the module does not end");
  if (module_.functions.empty()) return scan_.Fail("no tt.func in the text");
  return std::move(module_);
}

absl::Status Reader::ReadFunctionHead(Function* function) {
  if (scan_.AcceptWord("public")) function->is_public = true;
  if (!function->is_public) scan_.AcceptWord("private");
  KF_ASSIGN_OR_RETURN(const Attribute name, scan_.TakeAttribute());
  if (name.kind != Attribute::Kind::kSymbol) {
    return scan_.Fail("expected the function's name");
  }
  function->name = std::string(name.text);
  KF_RETURN_IF_ERROR(scan_.Expect("("));
  if (!scan_.Accept(")")) {
    do {
      int64_t part = 0;
      const std::string_view argument = scan_.TakeValueName(&part);
      if (argument.empty()) return scan_.Fail("expected an argument");
      KF_RETURN_IF_ERROR(scan_.Expect(":"));
      KF_ASSIGN_OR_RETURN(Type type, scan_.TakeType());
      Argument made;
      made.value = Define(argument, std::move(type));
      Bind(argument, made.value, 1);
      if (scan_.Peek() == '{') {
        KF_RETURN_IF_ERROR(scan_.TakeDictionary(&made.attributes));
      }
      KF_ASSIGN_OR_RETURN(const std::string_view ignored, scan_.TakeLocation());
      (void)ignored;
      function->arguments.push_back(std::move(made));
    } while (scan_.Accept(","));
    KF_RETURN_IF_ERROR(scan_.Expect(")"));
  }
  if (scan_.Accept("->")) {
    KF_ASSIGN_OR_RETURN(function->results, scan_.TakeTypeList());
  }
  if (scan_.AcceptWord("attributes")) {
    NamedAttributes ignored;
    KF_RETURN_IF_ERROR(scan_.TakeDictionary(&ignored));
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadFunction(bool generic) {
  Function function;
  const size_t mark = undo_.size();
  if (generic) {
    KF_RETURN_IF_ERROR(ReadGenericFunction(&function));
  } else {
    KF_RETURN_IF_ERROR(ReadFunctionHead(&function));
    if (scan_.Peek() == '{') KF_RETURN_IF_ERROR(ReadRegion(&function.body));
  }
  KF_ASSIGN_OR_RETURN(function.location, scan_.TakeLocation());
  Unbind(mark);
  module_.functions.push_back(std::move(function));
  return absl::OkStatus();
}

// "tt.func"() <{arg_attrs = [{…}], function_type = …, sym_name = …}> ({…})
absl::Status Reader::ReadGenericFunction(Function* function) {
  KF_RETURN_IF_ERROR(scan_.Expect("()"));
  std::vector<NamedAttributes> argument_attributes;
  KF_RETURN_IF_ERROR(scan_.Expect("<{"));
  do {
    const std::string_view key = scan_.TakeWord();
    KF_RETURN_IF_ERROR(scan_.Expect("="));
    if (key == "arg_attrs" && scan_.Accept("[")) {
      while (!scan_.Accept("]")) {
        argument_attributes.emplace_back();
        KF_RETURN_IF_ERROR(scan_.TakeDictionary(&argument_attributes.back()));
        scan_.Accept(",");
      }
      continue;
    }
    KF_ASSIGN_OR_RETURN(const Attribute value, scan_.TakeAttribute());
    if (key == "sym_name") function->name = std::string(value.string());
    if (key == "sym_visibility") function->is_public = value.text == "public";
  } while (scan_.Accept(","));
  KF_RETURN_IF_ERROR(scan_.Expect("}>"));
  KF_RETURN_IF_ERROR(scan_.Expect("("));
  KF_RETURN_IF_ERROR(ReadRegion(&function->body));
  KF_RETURN_IF_ERROR(scan_.Expect(")"));
  if (scan_.Peek() == '{') {
    NamedAttributes ignored;
    KF_RETURN_IF_ERROR(scan_.TakeDictionary(&ignored));
  }
  KF_RETURN_IF_ERROR(scan_.Expect(": () -> ()"));
  if (function->body.blocks.empty()) return absl::OkStatus();
  size_t index = 0;
  for (const ValueId value : function->body.blocks.front().arguments) {
    Argument argument{value, {}};
    if (index < argument_attributes.size()) {
      argument.attributes = std::move(argument_attributes[index]);
    }
    ++index;
    function->arguments.push_back(std::move(argument));
  }
  function->body.blocks.front().arguments.clear();
  return absl::OkStatus();
}

absl::Status Reader::ReadRegion(Region* region) {
  if (depth_ >= kMaxDepth) return scan_.Fail("regions nest too deep");
  ++depth_;
  const size_t mark = undo_.size();
  Region* const outer = std::exchange(current_region_, region);
  const absl::Status status = ReadBlocks(region);
  current_region_ = outer;
  Unbind(mark);
  --depth_;
  return status;
}

int Reader::BlockNumber(std::string_view name, Region* region,
                        BlockNames* names) {
  for (const auto& [known, number] : *names) {
    if (known == name) return number;
  }
  const int number = static_cast<int>(region->blocks.size());
  region->blocks.emplace_back();
  names->emplace_back(name, number);
  return number;
}

// ^bb1(%x: i32 loc(…)):
absl::StatusOr<size_t> Reader::ReadBlockLabel(Region* region,
                                              BlockNames* names) {
  const std::string_view name = scan_.TakeBlockName();
  const int number = BlockNumber(name, region, names);
  std::vector<ValueId> arguments;
  if (scan_.Accept("(") && !scan_.Accept(")")) {
    do {
      int64_t part = 0;
      const std::string_view argument = scan_.TakeValueName(&part);
      KF_RETURN_IF_ERROR(scan_.Expect(":"));
      KF_ASSIGN_OR_RETURN(Type type, scan_.TakeType());
      arguments.push_back(Define(argument, std::move(type)));
      Bind(argument, arguments.back(), 1);
      KF_ASSIGN_OR_RETURN(const std::string_view ignored, scan_.TakeLocation());
      (void)ignored;
    } while (scan_.Accept(","));
    KF_RETURN_IF_ERROR(scan_.Expect(")"));
  }
  const auto place = static_cast<size_t>(number);
  region->blocks[place].arguments = std::move(arguments);
  KF_RETURN_IF_ERROR(scan_.Expect(":"));
  return place;
}

absl::Status Reader::ReadBlocks(Region* region) {
  KF_RETURN_IF_ERROR(scan_.Expect("{"));
  BlockNames names;
  size_t current = 0;
  // A region's first block has a label only when it has arguments.
  if (scan_.Peek() != '^') region->blocks.emplace_back();
  while (!scan_.Accept("}")) {
    if (scan_.Peek() == '^') {
      KF_ASSIGN_OR_RETURN(current, ReadBlockLabel(region, &names));
      continue;
    }
    // Read into a block of its own: a successor's name may grow `blocks`.
    Block block = std::move(region->blocks[current]);
    const absl::Status status = ReadOp(&block, &names);
    region->blocks[current] = std::move(block);
    KF_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::StatusOr<Module> Read(std::string_view text) {
  return Reader(text).Run();
}

}  // namespace kernelfleet::tileir::ttir
