// What AMD's tools say about a kernel's resources, from three places of the
// same assembly text, the last one winning: `.amdhsa_` directives, the
// compiler's closing comments ("; NumVgprs: 9") and the metadata document
// (`amdhsa.kernels:`). Every key is optional: old DTK writes fewer.
#ifndef KERNELFLEET_COMMON_ISA_AMD_RESOURCES_H_
#define KERNELFLEET_COMMON_ISA_AMD_RESOURCES_H_

#include <map>
#include <string>
#include <string_view>

#include "kernelfleet/v1/probe.pb.h"

namespace kernelfleet::isa {

struct AmdKernel {
  v1::Resources resources;
  // First scalar register of the kernel-argument pointer; -1: not stated.
  int kernarg_sgpr = -1;
};

// Fed line by line; keeps views into the text.
class AmdResources {
 public:
  // Any line of the text; what it does not know it ignores.
  void Line(std::string_view line);
  // After the last line.
  void Finish() { FlushItem(); }

  // True inside the metadata document, where lines are not assembly.
  bool in_document() const { return in_kernels_; }
  // Nothing for a symbol that no directive and no metadata names.
  const AmdKernel* Find(std::string_view symbol) const;
  const std::map<std::string_view, AmdKernel>& kernels() const {
    return kernels_;
  }
  // The first one named by the text.
  std::string_view first() const { return first_; }

 private:
  AmdKernel& Named(std::string_view symbol);
  void Directive(std::string_view line);
  void Comment(std::string_view line);
  void DocumentLine(std::string_view line);
  void DocumentKey(std::string_view key, std::string_view value);
  void FlushItem();

  std::map<std::string_view, AmdKernel> kernels_;
  std::string_view first_;
  // Of the directives and comments being read.
  AmdKernel* current_ = nullptr;
  int user_sgprs_ = 0;
  // Of the metadata item being read.
  bool in_kernels_ = false;
  int item_indent_ = -1;
  std::string_view item_symbol_;
  v1::Resources item_;
  int item_threads_ = 0;
  int item_wave_ = 0;
};

// "gfx942" from "amdgcn-amd-amdhsa--gfx942:xnack-"; empty: none in there.
std::string_view GfxNameIn(std::string_view text);

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_AMD_RESOURCES_H_
