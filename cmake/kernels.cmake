# cmake/kernels.cmake: kernels that are compiled while the wheel is built, and the file beside the module that holds them
# (docs/design/first-calls.md). Those for CPUs the module's own LLVM compiles; those for CUDA the NVRTC that PARDO_KERNELS_NVRTC names, and
# `./dev build` fetches. What the wheel does not bring is compiled where pardo runs.
set(PARDO_NVRTC_VERSION 12.9.86)
set(PARDO_KERNELS_NVRTC "" CACHE STRING "libnvrtc.so.12 that compiles kernels for the wheel; empty: none for CUDA are compiled")
set(PARDO_KERNELS "usual" CACHE STRING "For what they are compiled: usual, all, off, or a list such as sm_80,sm_90,x86-64-v4")
set(cpus x86-64-v3,x86-64-v4)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(cpus armv8-a,neoverse-n1)
endif()
set(targets ${PARDO_KERNELS})
if(PARDO_KERNELS STREQUAL "usual")
  set(targets ${cpus},sm_80,sm_90)
elseif(PARDO_KERNELS STREQUAL "all")
  set(targets ${cpus},sm_75,sm_80,sm_90,sm_100,sm_120,compute_90)
elseif(PARDO_KERNELS STREQUAL "off")
  set(targets "")
endif()
string(REPLACE "," ";" targets "${targets}")
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64)$")
  list(FILTER targets INCLUDE REGEX "^(sm|compute)_")
endif()
if(NOT PARDO_KERNELS_NVRTC)
  message(STATUS "Kernels for CUDA: the wheel brings none, because PARDO_KERNELS_NVRTC names no NVRTC; they are compiled at first calls")
  list(FILTER targets EXCLUDE REGEX "^(sm|compute)_")
endif()

add_custom_target(kernels)
if(NOT targets)
  message(STATUS "The wheel brings no kernels (PARDO_KERNELS=${PARDO_KERNELS})")
  return()
endif()
set(for_cuda)
set(for_cuda_made)
if(PARDO_KERNELS_NVRTC)
  include(cmake/fake_cuda.cmake)
  add_library(kernel_listing SHARED EXCLUDE_FROM_ALL cmake/kernels/listing.cpp src/base/hash.cpp)
  target_link_libraries(kernel_listing PRIVATE pardo_flags ${PARDO_XXHASH})
  set_target_properties(kernel_listing PROPERTIES CXX_VISIBILITY_PRESET default)
  set(for_cuda --nvrtc ${PARDO_KERNELS_NVRTC} --driver $<TARGET_FILE:cuda_fake> --listing $<TARGET_FILE:kernel_listing>)
  set(for_cuda_made cuda_fake kernel_listing)
endif()

if(CMAKE_CROSSCOMPILING)
  set(PARDO_ZSTD_SHARED libzstd.so.1)  # this machine's
else()
  find_library(PARDO_ZSTD_SHARED NAMES libzstd.so.1 zstd REQUIRED)  # Python loads it
endif()
file(GLOB_RECURSE python_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/pardo/*.py)
set(pack ${PROJECT_BINARY_DIR}/kernels/kernels.pack)
list(JOIN targets "," joined)
add_custom_command(OUTPUT ${pack}
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/kernels/pack.py --targets ${joined} ${for_cuda} --zstd ${PARDO_ZSTD_SHARED}
    --python ${PARDO_TARGET_PYTHON} --module $<TARGET_FILE:_core> --package ${PROJECT_SOURCE_DIR}/python/pardo --work ${PROJECT_BINARY_DIR}/kernels
    --kept ${PROJECT_SOURCE_DIR}/build/kernels --out ${pack}
  DEPENDS _core ${for_cuda_made} ${python_files} cmake/kernels/pack.py cmake/kernels/programs.py cmake/kernels/cpu_programs.py
  COMMENT "Kernels that the wheel brings" VERBATIM)
add_custom_target(kernel_pack DEPENDS ${pack})
add_dependencies(kernels kernel_pack)
install(FILES ${pack} DESTINATION pardo COMPONENT python)
