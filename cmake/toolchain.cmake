# Compiler cache, fast linker, warnings and sanitizers: once, for everything.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the tree, so that two clones share the cache.
  foreach(lang C CXX)
    set(CMAKE_${lang}_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
        CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=time_macros "${CCACHE_PROGRAM}")
  endforeach()
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# -Wrestrict is wrong about std::string + in g++ 12 at -O2 (GCC bug 105651).
add_library(kernelfleet_warnings INTERFACE)
target_compile_options(kernelfleet_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wconversion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Werror=thread-safety>
  $<$<BOOL:${KERNELFLEET_WERROR}>:-Werror>)

if(KERNELFLEET_SANITIZE)
  add_compile_options(-fsanitize=${KERNELFLEET_SANITIZE}
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KERNELFLEET_SANITIZE})
endif()

# Debian's python3 is pinned: another one may stand first on PATH, and the
# embedded runtime must match the environment that holds Triton.
set(Python3_EXECUTABLE "/usr/bin/python3" CACHE FILEPATH
    "Python whose headers and library the runner embeds")
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Embed)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

if(KERNELFLEET_FUZZ)
  # Coverage in everything that a fuzz target calls.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
