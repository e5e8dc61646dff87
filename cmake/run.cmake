# cmake/run.cmake: libpardo_run.a, which runs exported programs without the rest of pardo: one object with the symbols of pardo/run.h alone.
set(run_dir ${PROJECT_BINARY_DIR}/run)
file(GLOB run_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/run/*.cpp ${PROJECT_SOURCE_DIR}/src/saved/*.cpp)
list(APPEND run_sources ${PROJECT_SOURCE_DIR}/src/emit/runtime/own_memory.cpp ${PROJECT_SOURCE_DIR}/src/emit/runtime/shared_loop.cpp
  ${PROJECT_SOURCE_DIR}/src/base/hash.cpp ${PROJECT_SOURCE_DIR}/src/base/scalar.cpp ${PROJECT_SOURCE_DIR}/src/base/dtype.cpp
  ${PROJECT_SOURCE_DIR}/src/base/sizing.cpp ${PROJECT_SOURCE_DIR}/src/base/status_text.cpp)
add_library(pardo_run_objects OBJECT ${run_sources})
target_link_libraries(pardo_run_objects PRIVATE pardo_flags)
# Small rather than fast: kernels are what takes time. The hash is compiled in.
target_compile_options(pardo_run_objects PRIVATE -Os -g0 -ffunction-sections -fdata-sections)
target_compile_definitions(pardo_run_objects PRIVATE XXH_INLINE_ALL)
set_target_properties(pardo_run_objects PROPERTIES UNITY_BUILD OFF CXX_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
set(run_symbols pardo_load pardo_unload pardo_run_error pardo_program_signature pardo_program_target pardo_program_inputs
  pardo_program_outputs pardo_run_shapes pardo_run pardo_run_free pardo_run_set_threads)
set(run_kept ${run_symbols})
list(TRANSFORM run_kept PREPEND -Wl,-u,)
set(run_global ${run_symbols})
list(TRANSFORM run_global PREPEND --keep-global-symbol=)
add_custom_command(OUTPUT ${run_dir}/libpardo_run.a
  COMMAND ${CMAKE_COMMAND} -E make_directory ${run_dir}
  COMMAND ${CMAKE_CXX_COMPILER} -nostdlib -r -o ${run_dir}/pardo_run.o -Wl,--gc-sections ${run_kept} $<TARGET_OBJECTS:pardo_run_objects>
  COMMAND ${CMAKE_OBJCOPY} ${run_global} --strip-unneeded ${run_dir}/pardo_run.o
  COMMAND ${CMAKE_COMMAND} -E rm -f ${run_dir}/libpardo_run.a
  COMMAND ${CMAKE_AR} qcD ${run_dir}/libpardo_run.a ${run_dir}/pardo_run.o
  DEPENDS pardo_run_objects $<TARGET_OBJECTS:pardo_run_objects>
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(pardo_run_library ALL DEPENDS ${run_dir}/libpardo_run.a)
