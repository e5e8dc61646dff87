# cmake/portable.cmake: makes the module run on Linux as old as manylinux_2_28 says, whatever the one that it is built on.
set(stubs ${PROJECT_BINARY_DIR}/glibc)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/glibc/stubs.py)
set(sysroot)
if(CMAKE_SYSROOT)
  set(sysroot --sysroot=${CMAKE_SYSROOT})
endif()
execute_process(COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/glibc/stubs.py ${stubs} ${CMAKE_CXX_COMPILER}
    ${sysroot}
  COMMAND_ERROR_IS_FATAL ANY)

# link_portably(TARGET): binds its symbols to old versions, and brings along what came later.
function(link_portably target)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/glibc/compat.c)
  target_link_options(${target} PRIVATE -L${stubs})  # no link directory: that would go into the run path of the build tree
endfunction()
