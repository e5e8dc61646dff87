# cmake/shared.cmake: libpardo.so for C++ programs, its headers, and the CMake package that finds them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The objects, not the archives: all of the public API belongs in, and --exclude-libs then hides only LLVM and other archives.
add_library(pardo SHARED ${PARDO_OBJECTS})
add_library(pardo::pardo ALIAS pardo)
target_link_libraries(pardo PRIVATE pardo_flags ${PARDO_DEPENDENCIES})
add_dependencies(pardo pardo_run_library)  # installed beside it
target_compile_features(pardo INTERFACE cxx_std_20)
target_include_directories(pardo INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_options(pardo PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,defs $<$<CONFIG:Release>:-Wl,-s>
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/libpardo.map)
set_target_properties(pardo PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/libpardo.map)
# Each minor version is another library to the loader, as to find_package below: C++ has no stable ABI (docs/design/native.md).
set_target_properties(pardo PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pardo)
# The headers alone, for extensions of Python: as the wheel's package has it.
add_library(pardo_native INTERFACE)
add_library(pardo::native ALIAS pardo_native)
target_include_directories(pardo_native INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(pardo_native PROPERTIES EXPORT_NAME native)
install(TARGETS pardo pardo_native EXPORT pardoTargets COMPONENT cpp
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp NAMELINK_COMPONENT cpp)
install(DIRECTORY include/pardo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp FILES_MATCHING REGEX "\\.(h|hpp|def)$")
# The same without the library, which need not be built for that.
install(DIRECTORY include/pardo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers EXCLUDE_FROM_ALL FILES_MATCHING REGEX "\\.(h|hpp|def)$")
install(FILES ${PROJECT_BINARY_DIR}/run/libpardo_run.a DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
install(EXPORT pardoTargets NAMESPACE pardo:: DESTINATION ${package_dir} COMPONENT cpp)
configure_package_config_file(cmake/pardoConfig.cmake.in pardoConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(pardoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pardoConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/pardoConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT cpp)
# The way from pardo.pc to the prefix: the tree may be moved.
file(RELATIVE_PATH pardo_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/pardo-library.pc.in pkgconfig/pardo.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pkgconfig/pardo.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT cpp)
