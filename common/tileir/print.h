// Tile IR in memory to text for people.
#ifndef KERNELFLEET_COMMON_TILEIR_PRINT_H_
#define KERNELFLEET_COMMON_TILEIR_PRINT_H_

#include <string>

#include "common/tileir/tile_ir.h"

namespace kernelfleet::tileir {

// "tile<128x64xf16>", "token", "tensor_view<?x?xf16, strides=[?,1]>" …
std::string Spell(const TypeTable& types, TypeId id);

// One operation a line, nested blocks indented.
std::string Print(const Kernel& kernel);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_PRINT_H_
