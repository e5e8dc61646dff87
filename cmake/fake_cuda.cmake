# cmake/fake_cuda.cmake: a CUDA driver without a GPU: what tests of the CUDA back end load in place of libcuda.so.1, and on what the programs run
# whose kernels the wheel brings (kernels.cmake).
include_guard(GLOBAL)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fake_cuda/*.cpp)
add_library(cuda_fake SHARED EXCLUDE_FROM_ALL ${sources})
target_link_libraries(cuda_fake PRIVATE pardo_flags)
set_target_properties(cuda_fake PROPERTIES CXX_VISIBILITY_PRESET default)
