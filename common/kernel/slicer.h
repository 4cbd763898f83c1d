// How MakeSlice works: names are followed from the entry until nothing is left
// to follow; then the statements found are written, dependencies first.
// Private to the room.
#ifndef KERNELFLEET_COMMON_KERNEL_SLICER_H_
#define KERNELFLEET_COMMON_KERNEL_SLICER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/kernel/slice.h"
#include "common/kernel/slice_module.h"

namespace kernelfleet::kernel {

// What a name stands for.
struct Ref {
  enum class Kind {
    // A builtin, or nothing that the package defines.
    kNone,
    // `path` can be imported wherever Triton is installed.
    kImport,
    // Needs a package that a bare node lacks.
    kForeign,
    // A module of the package.
    kModule,
    // `name` at module level of `module`.
    kDefined,
  };
  Kind kind = Kind::kNone;
  int module = -1;
  std::string name;
  std::string path;
  // For a chain such as utils.op.exp: the outermost attribute it covers.
  NodeId node = kNoNode;
};

class Slicer {
 public:
  explicit Slicer(const SliceRequest& request) : request_(request) {}
  absl::StatusOr<Slice> Make();

 private:
  using Key = std::pair<int, NodeId>;
  struct Edit {
    ByteRange range;
    std::string text;
  };

  // Names (slice_names.cc).
  int Load(const std::string& name);
  Ref Resolve(int module, std::string_view name, int depth = 0);
  Ref ResolveImport(int module, const Binding& binding, int depth);
  Ref ResolveNode(int module, NodeId identifier);
  Ref Member(Ref ref, int module, NodeId identifier);
  std::string OutName(const Ref& ref, std::string_view wanted);
  bool IsClean(int module, NodeId root);
  bool IsCleanRef(const Ref& ref, int module, NodeId node);
  bool IsJit(int module, NodeId statement) const;

  // What cannot be asked is guessed (slice_guess.cc).
  bool GuessTruth(int module, NodeId expression);
  std::string GuessValue(int module, NodeId expression, std::string_view name);
  void NoteGuess(int module, NodeId node, std::string_view value);

  // Following (slicer.cc).
  void Need(const Ref& ref, std::vector<Key>& dependencies);
  void AddStatement(int module, const Binding& binding);
  void AddNames(int module, NodeId root, std::vector<Key>& dependencies);
  void AddConditions(int module, const Binding& binding,
                     std::vector<Key>& dependencies);
  std::vector<NodeId> PartsOf(int module, NodeId statement);

  // Writing (slice_write.cc).
  void WriteUnit(Key unit);
  void WriteStatement(int module, NodeId statement, int indent);
  void WriteBlock(int module, NodeId block, int indent);
  void WriteClause(int module, NodeId clause, int indent);
  void WriteImport(int module, NodeId statement, int indent);
  void WriteFunction(int module, NodeId statement, int indent);
  void WriteAssignment(int module, NodeId statement, int indent);
  void WriteText(int module, ByteRange range, int indent,
                 std::vector<Edit> edits);
  std::vector<Edit> Renames(int module, const std::vector<NodeId>& roots);
  void WriteLine(const std::string& line, int source_line);
  std::string Edited(int module, NodeId node);
  bool IsNeeded(int module, NodeId node) const;
  bool HasForeignImport(int module, NodeId block);

  const ModuleScope& Scope(int module) const {
    return *modules_[static_cast<size_t>(module)];
  }

  const SliceRequest& request_;
  std::vector<std::unique_ptr<ModuleScope>> modules_;
  std::map<std::string, int> module_index_;
  std::map<std::string, std::string> out_names_;
  std::set<std::string> taken_;
  // Import lines of the head, in order of first use.
  std::vector<std::string> head_;
  std::set<Key> needed_;
  std::map<Key, std::vector<Key>> dependencies_;
  std::set<Key> written_;
  std::map<Key, bool> decided_;
  std::map<Key, bool> clean_;
  std::set<std::string> needed_names_;
  Slice out_;
};

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_SLICER_H_
