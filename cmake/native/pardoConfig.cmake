# pardoConfig.cmake, of the wheel: gives the target pardo::native, the headers for native extensions, which link nothing of pardo, and pardo::run,
# which runs exported programs. The C++
# library has a package of this name too, with pardo::pardo and the same pardo::native: ask for the component `library` to have that one.
get_filename_component(pardo_package "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET pardo::native)
  add_library(pardo::native INTERFACE IMPORTED)
  set_target_properties(pardo::native PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${pardo_package}/include")
endif()
if(NOT TARGET pardo::run)
  add_library(pardo::run STATIC IMPORTED)
  set_target_properties(pardo::run PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${pardo_package}/include"
    IMPORTED_LOCATION "${pardo_package}/lib/libpardo_run.a" INTERFACE_LINK_LIBRARIES "stdc++;m;dl;pthread")
endif()
unset(pardo_package)
set(pardo_native_FOUND TRUE)
set(pardo_run_FOUND TRUE)
foreach(component IN LISTS pardo_FIND_COMPONENTS)
  if(pardo_FIND_REQUIRED_${component} AND NOT pardo_${component}_FOUND)
    set(pardo_FOUND FALSE)
    set(pardo_NOT_FOUND_MESSAGE "the wheel of pardo has the components native and run; ${component} is of the C++ library: cmake --install")
  endif()
endforeach()
