// What check-env asks an interpreter. Versions come from the package metadata:
// only torch is imported, and only for its devices.
#ifndef KERNELFLEET_CLI_CHECK_ENV_PYTHON_H_
#define KERNELFLEET_CLI_CHECK_ENV_PYTHON_H_

namespace kernelfleet::cli {

inline constexpr char kCheckEnvPython[] = R"py(
import importlib.util, json, os, platform, sys
from importlib import metadata

def version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

def has(module):
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False

def backends():
    spec = importlib.util.find_spec("triton") if has("triton") else None
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = os.path.join(place, "backends")
        if os.path.isdir(folder):
            return sorted(n for n in os.listdir(folder)
                          if os.path.isfile(os.path.join(folder, n,
                                                         "compiler.py")))
    return []

names = backends()
out = {
    "python": platform.python_version(),
    "executable": sys.executable,
    "triton": {"version": version("triton") or version("pytorch-triton"),
               "backends": names},
    "triton_installed": has("triton"),
    "nvtriton_installed": "tileir" in names,
    "tileir_active": "tileir" in names and os.environ.get("ENABLE_TILE") == "1",
    "blackwell_gpu": False,
    "gpu_capability": None,
    "torch": {"version": version("torch"), "hip": None,
              "cuda_available": False, "device_count": 0, "devices": []},
}
if out["torch"]["version"]:
    try:
        import torch
        about = out["torch"]
        about["hip"] = getattr(torch.version, "hip", None)
        about["cuda_available"] = bool(torch.cuda.is_available())
        count = torch.cuda.device_count() if about["cuda_available"] else 0
        about["device_count"] = count
        for i in range(count):
            p = torch.cuda.get_device_properties(i)
            about["devices"].append({
                "index": i, "name": p.name,
                "gcn_arch": getattr(p, "gcnArchName", None),
                "total_memory_mb": p.total_memory // (1 << 20),
                "compute_units": p.multi_processor_count})
        if count:
            arch = about["devices"][0]["gcn_arch"]
            major, minor = torch.cuda.get_device_capability(0)
            out["primary_arch"] = (arch.split(":")[0] if arch and about["hip"]
                                   else "sm_%d%d" % (major, minor))
            if not about["hip"]:
                out["gpu_capability"] = [major, minor]
                out["blackwell_gpu"] = major >= 10
    except Exception as error:
        out["torch"]["error"] = "%s: %s" % (type(error).__name__, error)
print(json.dumps(out))
)py";

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_CHECK_ENV_PYTHON_H_
