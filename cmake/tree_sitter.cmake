# tree-sitter and its Python grammar, compiled from the source distributions
# that scripts/fetch_grammar.py fetches once per user (pinned, hash-checked).
set(KERNELFLEET_GRAMMAR_DIR "" CACHE PATH
    "A folder filled by scripts/fetch_grammar.py, for machines without network")
set(_grammar_dir "${KERNELFLEET_GRAMMAR_DIR}")
if(NOT _grammar_dir)
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(_grammar_cache "$ENV{XDG_CACHE_HOME}/kernelfleet")
  else()
    set(_grammar_cache "$ENV{HOME}/.cache/kernelfleet")
  endif()
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/scripts/fetch_grammar.py"
            "${_grammar_cache}"
    OUTPUT_VARIABLE _grammar_dir ERROR_VARIABLE _grammar_error
    RESULT_VARIABLE _grammar_failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(_grammar_failed)
    message(FATAL_ERROR "${_grammar_error}")
  endif()
endif()

add_library(kernelfleet_tree_sitter STATIC
  "${_grammar_dir}/core/src/lib.c"
  "${_grammar_dir}/grammar/parser.c"
  "${_grammar_dir}/grammar/scanner.c")
target_include_directories(kernelfleet_tree_sitter SYSTEM
  PUBLIC "${_grammar_dir}/core/include"
  PRIVATE "${_grammar_dir}/core/src" "${_grammar_dir}/grammar")
# Generated tables and other people's code: always optimised, never warned on.
target_compile_options(kernelfleet_tree_sitter PRIVATE -O2 -w)
target_compile_definitions(kernelfleet_tree_sitter PRIVATE
  _POSIX_C_SOURCE=200112L _DEFAULT_SOURCE NDEBUG)
