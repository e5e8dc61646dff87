# cmake/bill.cmake: the bill of materials of the wheel: what of others' code it contains, in which version and under which licence, by the linker's
# own list (licenses/components.toml, cmake/bill.py).

# header_version(VARIABLE FILE MACRO…): of numbers that a header defines.
function(header_version variable file)
  set(numbers "")
  foreach(macro IN LISTS ARGN)
    file(STRINGS ${file} line REGEX "^ *# *define +${macro} +[0-9]+")
    string(REGEX MATCH "${macro} +([0-9]+)" line "${line}")
    list(APPEND numbers ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN numbers "." joined)
  set(${variable} ${joined} PARENT_SCOPE)
endfunction()

find_path(PARDO_XXHASH_HEADERS xxhash.h REQUIRED)
header_version(PARDO_ZSTD_VERSION ${PARDO_ZSTD_HEADERS}/zstd.h ZSTD_VERSION_MAJOR ZSTD_VERSION_MINOR ZSTD_VERSION_RELEASE)
header_version(PARDO_XXHASH_VERSION ${PARDO_XXHASH_HEADERS}/xxhash.h XXH_VERSION_MAJOR XXH_VERSION_MINOR XXH_VERSION_RELEASE)
file(REAL_PATH ${PARDO_SLEEF} sleef)
string(REGEX MATCH "[0-9][0-9.]*$" PARDO_SLEEF_VERSION ${sleef})
# These headers have no version but the newest of OpenCL that they know.
file(STRINGS ${PARDO_OPENCL_HEADERS}/CL/cl_version.h versions REGEX "define CL_VERSION_[0-9]+_[0-9]+")
string(REGEX MATCHALL "[0-9]+_[0-9]+" versions "${versions}")
list(SORT versions COMPARE NATURAL ORDER DESCENDING)
list(GET versions 0 newest)
string(REPLACE "_" "." PARDO_OPENCL_HEADERS_VERSION ${newest})
execute_process(COMMAND ${Python_EXECUTABLE} -c "import os; print(os.confstr('CS_GNU_LIBC_VERSION').split()[1])"
  OUTPUT_VARIABLE PARDO_GLIBC_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

set(components ${PROJECT_SOURCE_DIR}/licenses/components.toml)
file(STRINGS ${components} rows REGEX "^version = ")
set(versions "")
foreach(row IN LISTS rows)
  string(REGEX MATCH "\"(.*)\"" row "${row}")
  list(APPEND versions ${CMAKE_MATCH_1}=${${CMAKE_MATCH_1}})
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${components})

set(bill ${PROJECT_BINARY_DIR}/pardo.cdx.json)
add_custom_command(TARGET _core POST_BUILD
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/bill.py --map ${PROJECT_BINARY_DIR}/_core.map --components ${components}
    --product ${PROJECT_VERSION} --out ${bill} ${versions}
  BYPRODUCTS ${bill} VERBATIM)
if(SKBUILD_METADATA_DIR)
  install(FILES ${bill} DESTINATION ${SKBUILD_METADATA_DIR}/sboms COMPONENT python)
endif()
