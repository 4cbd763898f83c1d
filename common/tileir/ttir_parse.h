// The TTIR reader's insides: ttir_reader.cc reads modules, functions, regions
// and names; ttir_op_reader.cc reads operations.
#ifndef KERNELFLEET_COMMON_TILEIR_TTIR_PARSE_H_
#define KERNELFLEET_COMMON_TILEIR_TTIR_PARSE_H_

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/tileir/ttir.h"
#include "common/tileir/ttir_scan.h"

namespace kernelfleet::tileir::ttir {

class Reader {
 public:
  explicit Reader(std::string_view text) : scan_(text) {}

  absl::StatusOr<Module> Run();

 private:
  struct Result {
    std::string_view name;
    int64_t count = 1;
  };
  // What an operation's text said before its results are made.
  struct Parts {
    std::vector<Result> results;
    std::vector<Type> types;         // before the arrow
    std::vector<Type> result_types;  // after it
    bool arrow = false;
    int words = 0;
    // dot_scaled: places of the operands after the word "scale".
    std::vector<size_t> scales;
  };
  using BlockNames = std::vector<std::pair<std::string_view, int>>;

  absl::Status ReadAlias();
  absl::Status ReadFunction(bool generic);
  absl::Status ReadFunctionHead(Function* function);
  absl::Status ReadGenericFunction(Function* function);
  absl::Status ReadRegion(Region* region);
  absl::Status ReadBlocks(Region* region);
  absl::StatusOr<size_t> ReadBlockLabel(Region* region, BlockNames* names);
  absl::Status ReadOp(Block* block, BlockNames* names);
  absl::Status ReadResults(Parts* parts);
  absl::Status ReadGeneric(Op* op, Parts* parts, BlockNames* names);
  absl::Status ReadFlat(Op* op, Parts* parts, BlockNames* names);
  absl::Status ReadFlatItem(Op* op, Parts* parts, BlockNames* names);
  absl::Status ReadFlatWord(Op* op, Parts* parts);
  absl::Status ReadBracketed(Op* op);
  absl::Status ReadConstant(Op* op);
  absl::Status ReadFor(Op* op, Parts* parts);
  absl::Status ReadIf(Op* op, Parts* parts);
  absl::Status ReadWhile(Op* op, Parts* parts);
  absl::Status ReadBody(Op* op, const std::vector<std::string_view>& names,
                        const std::vector<ValueId>& like);
  absl::Status ReadBindings(std::vector<std::string_view>* names,
                            std::vector<ValueId>* initial);
  absl::Status ReadSuccessor(Op* op, BlockNames* names);
  absl::Status ReadOperandList(std::string_view close,
                               std::vector<ValueId>* to);
  absl::StatusOr<ValueId> ReadUse();
  absl::Status MakeResults(Op* op, const Parts& parts);
  absl::StatusOr<std::vector<Type>> ResultTypes(const Op& op,
                                                const Parts& parts);

  ValueId Define(std::string_view name, Type type);
  void Bind(std::string_view name, ValueId first, int64_t count);
  // Undoes the bindings made since `mark`.
  void Unbind(size_t mark);
  int BlockNumber(std::string_view name, Region* region, BlockNames* names);

  // A name and what it hid, so that a region's end can undo its bindings.
  struct Binding {
    ValueId first = 0;
    int64_t count = 0;
  };
  struct Undo {
    std::string_view name;
    Binding before;
  };

  Scanner scan_;
  Module module_;
  std::unordered_map<std::string_view, Binding> bindings_;
  std::vector<Undo> undo_;
  Region* current_region_ = nullptr;
  int depth_ = 0;
};

}  // namespace kernelfleet::tileir::ttir

#endif  // KERNELFLEET_COMMON_TILEIR_TTIR_PARSE_H_
