#include "common/kernel/tileir_configs.h"

#include <fmt/format.h>

#include <vector>

namespace kernelfleet::kernel {
namespace {

// Sources: [skill] the config templates of NVIDIA/TensorRT-LLM's TileIR skill;
// [helion] pytorch/helion's seeds for its tileir backend; [tilegym]
// NVIDIA/TileGym's autotuning skill, per architecture. Nothing was measured by
// us: the autotuner does that on the user's GPU.
//
// The skill's row 256x256x64, occupancy 2, 2 CTAs is left out: it fails at
// launch on sm_103 and poisons the context (flashinfer issue 4465). Its other
// 2-CTA rows, with larger tiles, are kept to sm_100 for the same reason.
constexpr TileConfig kDot[] = {
    // [skill]
    {100, 119, {256, 256, 64}, 1, 0, 4, 1},
    {100, 119, {256, 256, 64}, 2, 0, 4, 1},
    {100, 119, {256, 128, 64}, 2, 0, 4, 1},
    {100, 119, {256, 256, 64}, 2, 0, 6, 1},
    {100, 119, {128, 128, 64}, 4, 0, 4, 1},
    {100, 100, {256, 256, 128}, 2, 0, 4, 2},
    {100, 100, {256, 128, 128}, 2, 0, 6, 2},
    // [helion] large GEMM; start occupancy 1 to 2 with a dot.
    {100, 109, {128, 256, 64}, 2, 0, 4, 2},
    {100, 119, {128, 128, 32}, 2, 0, 4, 1},
    // [tilegym] sm_120: tiles 64 to 256, one CTA, occupancy 1 to 4.
    {120, 129, {128, 128, 64}, 1, 0, 4, 1},
    {120, 129, {128, 128, 64}, 2, 0, 4, 1},
    {120, 129, {128, 64, 64}, 2, 0, 4, 1},
    {120, 129, {64, 64, 64}, 4, 0, 4, 1},
    // [tilegym] sm_90: tiles 32 to 128, occupancy 2.
    {90, 99, {128, 128, 64}, 2, 0, 4, 1},
    {90, 99, {128, 128, 32}, 2, 0, 4, 1},
    {90, 99, {128, 64, 64}, 2, 0, 4, 1},
    // [tilegym] sm_80: at most 128x128, one CTA.
    {80, 89, {128, 128, 32}, 1, 0, 4, 1},
    {80, 89, {128, 64, 64}, 1, 0, 4, 1},
    {80, 89, {64, 64, 64}, 2, 0, 4, 1},
};

// [skill]; blocks above 2048 spill (TileGym: f32 tiles at 4 to 8 K elements).
constexpr TileConfig kElementwise[] = {
    {80, 129, {256, 0, 0}, 1, 4, 3, 1},  {80, 129, {256, 0, 0}, 2, 4, 3, 1},
    {80, 129, {512, 0, 0}, 2, 4, 3, 1},  {80, 129, {1024, 0, 0}, 2, 4, 4, 1},
    {80, 129, {1024, 0, 0}, 4, 4, 4, 1}, {80, 129, {2048, 0, 0}, 4, 8, 4, 1},
    {80, 129, {256, 0, 0}, 16, 2, 2, 1},
};

// [skill]; num_warps counts from toolchain 13.3 on.
constexpr TileConfig kRows[] = {
    {80, 129, {}, 1, 4, 3, 1}, {80, 129, {}, 1, 8, 3, 1},
    {80, 129, {}, 2, 4, 3, 1}, {80, 129, {}, 2, 8, 3, 1},
    {80, 129, {}, 4, 4, 3, 1}, {80, 129, {}, 4, 8, 3, 1},
};

struct Class {
  std::string_view name;
  std::span<const TileConfig> rows;
  int tile_rank;
};

constexpr Class kClasses[] = {
    {"dot-related", kDot, 3},
    {"norm-like", kRows, 0},
    {"element-wise", kElementwise, 1},
    {"reduction", kRows, 0},
};

const Class* Find(std::string_view name) {
  for (const Class& row : kClasses) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string Tuple(const TileConfig& row, int rank) {
  std::string out = "(";
  for (int i = 0; i < rank; ++i) out += fmt::format("{}, ", row.tile[i]);
  if (rank == 1) return out.substr(0, out.size() - 1) + ")";
  if (rank > 1) out.resize(out.size() - 2);
  return out + ")";
}

std::string RowsText(const Class& row) {
  std::string out = fmt::format("    \"{}\": (\n", row.name);
  for (const TileConfig& config : row.rows) {
    const std::string warps =
        config.num_warps == 0 ? "None" : fmt::format("{}", config.num_warps);
    out += fmt::format("        ({}, {}, {}, {}, {}, {}, {}),\n",
                       config.first_sm, config.last_sm,
                       Tuple(config, row.tile_rank), config.occupancy, warps,
                       config.num_stages, config.num_ctas);
  }
  return out + "    ),\n";
}

// Behind the rows. Asks for the backend's presence first, so that stock Triton
// never initialises a driver here: that would break programs that fork.
constexpr std::string_view kArch = R"py(}


def _kf_tileir_arch():
    """The GPU's sm number if TileIR is the active backend, else None."""
    try:
@IMPORT@        from triton.backends import backends

        if "tileir" not in backends:
            return None
        target = @TRITON@.runtime.driver.active.get_current_target()
        return int(target.arch) if target.backend == "tileir" else None
    except Exception:  # no Triton, no GPU or no driver
        return None


)py";

constexpr std::string_view kConfigs =
    R"py(def _kf_tileir_configs(kind, configs, pre_hook=None, blocks=(), widen_one=True, two_cta=True):
    """`configs`; on TileIR, followed by those of `kind` for this GPU."""
    arch = _kf_tileir_arch()
    if arch is None:
        return configs
    import copy

    configs = list(configs)
    if not configs or (len(configs) == 1 and not widen_one):
        return configs
    bases = []  # every meta-parameter survives: added configs start from these
    for config in configs:
        if all(config.kwargs != base.kwargs for base in bases):
            bases.append(config)
    # Only block sizes that the user's own configs vary are ours to choose.
    varied = [name for name in blocks if any(c.kwargs.get(name) != bases[0].kwargs.get(name) for c in bases)]
    added = []
    for base in bases[:: (len(bases) + 3) // 4]:
        for first, last, tile, occupancy, num_warps, num_stages, num_ctas in _KF_TILEIR_ROWS[kind]:
            if not first <= arch <= last:
                continue
            config = copy.copy(base)
            config.kwargs = kwargs = dict(base.kwargs)
            kwargs.update((name, size) for name, size in zip(blocks, tile) if name in varied)
            if num_ctas > 1:
                area = [kwargs.get(name) for name in blocks[:2]]
                if not two_cta or len(area) < 2 or None in area or area[0] * area[1] < 256 * 128:
                    continue
                if any(name.startswith("GROUP") and size % num_ctas for name, size in kwargs.items()):
                    continue
                if "NUM_CTAS" in kwargs:
                    kwargs["NUM_CTAS"] = num_ctas
                if "NUM_SMS" in kwargs:
                    kwargs["NUM_SMS"] //= num_ctas
            if hasattr(config, "occupancy"):
                config.occupancy = occupancy
            else:
                kwargs["occupancy"] = occupancy
            config.num_warps = num_warps or bases[0].num_warps
            config.num_stages, config.num_ctas = num_stages, num_ctas
            config.pre_hook = pre_hook or base.pre_hook
            if all(vars(config) != vars(other) for other in added):
                added.append(config)
    return configs + added[:16]
)py";

constexpr std::string_view kAutotune = R"py(

def _kf_tileir_autotune(kind, **options):
    """`triton.autotune` on TileIR; elsewhere the kernel stays as it is."""
    if _kf_tileir_arch() is None:
        return lambda kernel: kernel
@IMPORT4@    return @TRITON@.autotune(configs=_kf_tileir_configs(kind, [@TRITON@.Config({})]), **options)
)py";

std::string Fill(std::string_view text, std::string_view triton) {
  struct Slot {
    std::string_view name;
    std::string value;
  };
  const bool imports = triton.empty();
  const Slot slots[] = {
      {"@IMPORT@", imports ? "        import triton\n" : ""},
      {"@IMPORT4@", imports ? "    import triton\n\n" : ""},
      {"@TRITON@", std::string(imports ? "triton" : triton)},
  };
  std::string out(text);
  for (const Slot& slot : slots) {
    for (size_t at = 0; (at = out.find(slot.name, at)) != std::string::npos;) {
      out.replace(at, slot.name.size(), slot.value);
    }
  }
  return out;
}

}  // namespace

std::span<const TileConfig> TileConfigsOf(std::string_view classification) {
  const Class* row = Find(classification);
  return row == nullptr ? std::span<const TileConfig>() : row->rows;
}

int TileRankOf(std::string_view classification) {
  const Class* row = Find(classification);
  return row == nullptr ? 0 : row->tile_rank;
}

std::string ConfigBlock(const std::set<std::string>& classes,
                        std::string_view triton, Decorator decorator) {
  std::string out(kBlockBegin);
  out +=
      "\n# (first sm, last sm, blocks, occupancy, num_warps, num_stages, "
      "num_ctas)\n_KF_TILEIR_ROWS = {\n";
  for (const Class& row : kClasses) {
    if (classes.contains(std::string(row.name))) out += RowsText(row);
  }
  out += Fill(kArch, triton);
  out += kConfigs;
  if (decorator == Decorator::kInclude) out += Fill(kAutotune, triton);
  out += kBlockEnd;
  out += '\n';
  return out;
}

}  // namespace kernelfleet::kernel
