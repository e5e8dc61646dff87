# cmake/vkfft.cmake: Fourier transforms of OpenCL devices by VkFFT, whose headers are in the source archive of the Python package pyvkfft, which
# ./dev fetches. One file includes them; it makes texts for devices, so its size counts and its speed does not.
set(PARDO_VKFFT_VERSION 2025.1.1)
set(PARDO_VKFFT_SHA256 359648e089cac0e3c82fc685dc7b8a9e1a249b338dcd7c94677d68207c9842bb)
source_archive(VKFFT pyvkfft "*/src/VkFFT/vkFFT/*")

add_library(pardo_vkfft OBJECT src/routines/opencl/vkfft.cpp)
target_link_libraries(pardo_vkfft PRIVATE pardo_flags)
target_include_directories(pardo_vkfft SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/pyvkfft-${PARDO_VKFFT_VERSION}/src/VkFFT/vkFFT)
target_compile_options(pardo_vkfft PRIVATE $<$<CONFIG:Release>:-Os>)
add_objects($<TARGET_OBJECTS:pardo_vkfft>)
