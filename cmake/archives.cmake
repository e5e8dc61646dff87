# cmake/archives.cmake: source archives of Python packages, which ./dev fetches: what is compiled of them is no file of this repository.

# source_archive(VARIABLE NAME PATTERN…): checks the archive of PARDO_<VARIABLE>_VERSION by PARDO_<VARIABLE>_SHA256, and unpacks what matches into
# the build folder. PARDO_<VARIABLE>_ARCHIVE names another file.
function(source_archive variable name)
  set(version ${PARDO_${variable}_VERSION})
  set(PARDO_${variable}_ARCHIVE "${PROJECT_SOURCE_DIR}/build/archives/${name}-${version}.tar.gz" CACHE FILEPATH "Source archive of ${name}")
  set(archive "${PARDO_${variable}_ARCHIVE}")
  if(NOT EXISTS "${archive}")
    message(FATAL_ERROR "PARDO_${variable}_ARCHIVE: there is no ${archive}. `./dev build` fetches it; so does "
      "`pip download --no-deps --no-binary ${name} ${name}==${version}`")
  endif()
  file(SHA256 "${archive}" sum)
  if(NOT sum STREQUAL PARDO_${variable}_SHA256)
    message(FATAL_ERROR "PARDO_${variable}_ARCHIVE: ${archive} is not ${name} ${version}: its SHA-256 is ${sum}")
  endif()
  if(NOT EXISTS ${PROJECT_BINARY_DIR}/${name}-${version})
    file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION ${PROJECT_BINARY_DIR} PATTERNS ${ARGN})
  endif()
endfunction()

# add_objects(OBJECT…): to the library's layer, and to libpardo.so.
macro(add_objects)
  target_sources(pardo_routines PRIVATE ${ARGN})
  list(APPEND PARDO_OBJECTS ${ARGN})
endmacro()
