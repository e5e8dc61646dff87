# cmake/cold_build.cmake: what makes a build from nothing short. Headers of other projects are parsed once and not in every file, and files of a
# folder are compiled together, so that templates and inline functions are compiled once for all of them. Both save half of the processor's time.
#
# A header of ours is never precompiled: its change compiles what includes it and nothing else. Every file still includes what it uses and has
# names of its own: the build with the address sanitizer and clang-tidy take each file by itself. The thread sanitizer's takes files as the
# release does, which makes it three times as short.
option(PARDO_PRECOMPILED "Precompile the headers of the standard library, LLVM and nanobind" ON)
option(PARDO_UNITY "Compile several files together" ON)
if(PARDO_SANITIZE STREQUAL "address" OR PARDO_FUZZERS)
  set(PARDO_PRECOMPILED OFF)
  set(PARDO_UNITY OFF)
endif()

# ccache keeps no file that uses a precompiled header unless it is told that macros defined in it do not matter.
if(PARDO_PRECOMPILED AND CCACHE AND CMAKE_CXX_COMPILER_LAUNCHER STREQUAL CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

set(PARDO_STANDARD_HEADERS <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <complex> <condition_variable> <cstdint> <cstdlib>
  <cstring> <deque> <exception> <functional> <limits> <map> <memory> <mutex> <new> <numeric> <optional> <set> <span> <sstream> <stdexcept>
  <string> <string_view> <thread> <tuple> <type_traits> <unordered_map> <unordered_set> <utility> <variant> <vector>)

# GCC does not know of precompiled headers that they are the system's, and warns of what it takes from them into our functions.
if(PARDO_PRECOMPILED AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-array-bounds -Wno-maybe-uninitialized -Wno-stringop-overflow)
endif()

# precompile(TARGET HEADER…): the standard headers, and these.
function(precompile target)
  if(PARDO_PRECOMPILED)
    set(headers ${PARDO_STANDARD_HEADERS} ${ARGN})
    list(TRANSFORM headers REPLACE "<(.*)>" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")  # the module has files of C too
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()

# precompile_as(TARGET OWNER): those of the owner, which is compiled with the same options. -O2 and -O3 are the same here.
function(precompile_as target owner)
  if(PARDO_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# compile_together(TARGET COUNT): its files, COUNT at a time; those with options of their own stay alone.
function(compile_together target count)
  if(PARDO_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  endif()
endfunction()
