# cmake/options.cmake: compiler, flags, sanitizers, ccache: everything that holds for all targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
# -O2: -O3 makes this code larger and not faster, but for the loops of src/routines.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# --as-needed: LLVM's archives name libraries (z3) that nothing here calls. --build-id: a hash of the code, part of each key of the cache.
# Symbols are resolved and their table is closed when the library is loaded.
add_link_options(-Wl,--gc-sections -Wl,--as-needed -Wl,--build-id=sha1 -Wl,-z,relro -Wl,-z,now)

# The same bytes from every folder: no path of the build is in them. The last one that fits is taken.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
endif()

add_library(pardo_flags INTERFACE)
target_include_directories(pardo_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/include)
# -fno-plt: calls of libc go to it at once; recording and computing a small array makes some forty, 10 of 520 ns.
target_compile_options(pardo_flags INTERFACE -fno-plt
  -Wall -Wextra -Wno-missing-field-initializers -fno-math-errno -ffp-contract=off -ffunction-sections -fdata-sections)
target_compile_definitions(pardo_flags INTERFACE PARDO_VERSION="${PROJECT_VERSION}")

if(PARDO_SANITIZE STREQUAL "address")
  set(sanitize -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
    -fno-sanitize=vptr)  # the files that include LLVM have no run-time types
elseif(PARDO_SANITIZE STREQUAL "thread")
  set(sanitize -fsanitize=thread -fno-omit-frame-pointer)
elseif(PARDO_SANITIZE)
  message(FATAL_ERROR "PARDO_SANITIZE: 'address', 'thread' or empty, not '${PARDO_SANITIZE}'")
endif()
if(PARDO_SANITIZE)
  target_compile_options(pardo_flags INTERFACE ${sanitize})
  target_link_options(pardo_flags INTERFACE ${sanitize})
endif()
