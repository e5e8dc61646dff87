# cmake/native.cmake: what the wheel brings for native code: headers, a CMake package with pardo::native and pardo::run, files for pkg-config.
include(CMakePackageConfigHelpers)
set(native_dir ${PROJECT_BINARY_DIR}/native)
write_basic_package_version_file(${native_dir}/pardoConfigVersion.cmake COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
configure_file(${PROJECT_SOURCE_DIR}/cmake/native/pardo.pc.in ${native_dir}/pardo.pc @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/native/pardo-run.pc.in ${native_dir}/pardo-run.pc @ONLY)
install(FILES ${PROJECT_SOURCE_DIR}/include/pardo/c_api.h ${PROJECT_SOURCE_DIR}/include/pardo/run.h ${PROJECT_SOURCE_DIR}/include/pardo/native.hpp
  ${PROJECT_SOURCE_DIR}/include/pardo/nanobind.h ${PROJECT_SOURCE_DIR}/include/pardo/pybind11.h
  DESTINATION pardo/include/pardo COMPONENT python)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pardo/native DESTINATION pardo/include/pardo COMPONENT python)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/native/pardoConfig.cmake ${native_dir}/pardoConfigVersion.cmake
  DESTINATION pardo/share/cmake/pardo COMPONENT python)
install(FILES ${PROJECT_BINARY_DIR}/run/libpardo_run.a DESTINATION pardo/lib COMPONENT python)
install(FILES ${native_dir}/pardo.pc ${native_dir}/pardo-run.pc DESTINATION pardo/share/pkgconfig COMPONENT python)
