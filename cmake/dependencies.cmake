# cmake/dependencies.cmake: the libraries that pardo is built from (docs/design/dependencies.md says why each).
find_package(LLVM 19.1 REQUIRED CONFIG)
llvm_map_components_to_libnames(PARDO_LLVM orcjit native passes)
find_package(TBB REQUIRED)
find_library(PARDO_SLEEF sleef REQUIRED)
find_library(PARDO_XXHASH NAMES libxxhash.a xxhash REQUIRED)
find_path(PARDO_ZSTD_HEADERS zstd.h REQUIRED)
find_library(PARDO_ZSTD NAMES libzstd.a zstd REQUIRED)
# Declarations only: the library is loaded at run time. CL/cl_icd.h came in 2020.
find_path(PARDO_OPENCL_HEADERS CL/cl_icd.h REQUIRED)
