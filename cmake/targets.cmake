# Three verbs for the folders:
#
#   kernelfleet_library(NAME SRCS a.cc b.cc [PUBLIC dep…] [PRIVATE dep…])
#   kernelfleet_program(NAME SRCS main.cc [DEPS dep…])
#   kernelfleet_test(NAME SRCS x_test.cc [LABELS unit…] [DEPS dep…]
#                    [TIMEOUT seconds])
#
# A library is called after its folder: common/isa is kernelfleet_isa.
include(GoogleTest)

function(kernelfleet_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC}
                        PRIVATE kernelfleet_warnings ${ARG_PRIVATE})
endfunction()

function(kernelfleet_program name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE kernelfleet_warnings ${ARG_DEPS})
  # A bundle keeps the libraries beside the programs. RPATH, not RUNPATH: it
  # also serves the libraries' own needs.
  set_target_properties(${name} PROPERTIES BUILD_RPATH "$ORIGIN/../lib")
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)
endfunction()

function(kernelfleet_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SRCS;LABELS;DEPS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE kernelfleet_warnings ${ARG_DEPS}
                        GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  # One ctest entry per program: two cores, so process start-up counts.
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES
    LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    SKIP_REGULAR_EXPRESSION "^\\[SKIP-ALL\\]"
    ENVIRONMENT "KERNELFLEET_SOURCE_DIR=${CMAKE_SOURCE_DIR};KERNELFLEET_BIN_DIR=${CMAKE_BINARY_DIR}/bin;KERNELFLEET_VENV=${KERNELFLEET_VENV}")
endfunction()
