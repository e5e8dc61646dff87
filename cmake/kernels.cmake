# cmake/kernels.cmake: kernels for CUDA that are compiled while the wheel is built, and the file beside the module that holds them
# (docs/design/first-calls.md). PARDO_KERNELS_NVRTC names the NVRTC that compiles them; `./dev build` fetches this version. Without it the wheel
# has no such file, and NVRTC compiles kernels where pardo runs.
set(PARDO_NVRTC_VERSION 12.9.86)
set(PARDO_KERNELS_NVRTC "" CACHE STRING "libnvrtc.so.12 that compiles kernels for the wheel; empty: none are compiled")
set(PARDO_KERNELS "usual" CACHE STRING "For which GPUs they are compiled: usual, or all, or a list such as sm_80,sm_90")
set(targets ${PARDO_KERNELS})
if(PARDO_KERNELS STREQUAL "usual")
  set(targets sm_80,sm_90)
elseif(PARDO_KERNELS STREQUAL "all")
  set(targets sm_75,sm_80,sm_90,sm_100,sm_120,compute_90)
endif()

add_custom_target(kernels)
if(NOT PARDO_KERNELS_NVRTC)
  message(STATUS "Kernels for CUDA: the wheel brings none, because PARDO_KERNELS_NVRTC names no NVRTC; they are compiled at first calls")
  return()
endif()
include(cmake/fake_cuda.cmake)
add_library(kernel_listing SHARED EXCLUDE_FROM_ALL cmake/kernels/listing.cpp src/base/hash.cpp)
target_link_libraries(kernel_listing PRIVATE pardo_flags ${PARDO_XXHASH})
set_target_properties(kernel_listing PROPERTIES CXX_VISIBILITY_PRESET default)

find_library(PARDO_ZSTD_SHARED NAMES libzstd.so.1 zstd REQUIRED)  # Python loads it
file(GLOB_RECURSE python_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/pardo/*.py)
set(pack ${PROJECT_BINARY_DIR}/kernels/kernels.pack)
add_custom_command(OUTPUT ${pack}
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/kernels/pack.py --nvrtc ${PARDO_KERNELS_NVRTC} --zstd ${PARDO_ZSTD_SHARED} --targets ${targets}
    --driver $<TARGET_FILE:cuda_fake> --listing $<TARGET_FILE:kernel_listing> --module $<TARGET_FILE:_core>
    --package ${PROJECT_SOURCE_DIR}/python/pardo --work ${PROJECT_BINARY_DIR}/kernels --kept ${PROJECT_SOURCE_DIR}/build/kernels --out ${pack}
  DEPENDS _core cuda_fake kernel_listing ${python_files} cmake/kernels/pack.py cmake/kernels/programs.py
  COMMENT "Kernels for CUDA" VERBATIM)
add_custom_target(kernel_pack DEPENDS ${pack})
add_dependencies(kernels kernel_pack)
install(FILES ${pack} DESTINATION pardo COMPONENT python)
