# cmake/ducc.cmake: Fourier transforms by ducc0, from the source archive of its Python package, which ./dev fetches. It is unpacked into the build
# folder, and compiled for two precisions and for instruction sets that are chosen at run time (src/routines/cpu/fft).
set(PARDO_DUCC_VERSION 0.42.0)
set(PARDO_DUCC_SHA256 4e11c59b53a43355b053aebb2a62ee16eebeed026575f7d216cf09d437ce52ef)
source_archive(DUCC ducc0 "*/src/ducc0/fft/*" "*/src/ducc0/infra/*" "*/src/ducc0/math/*")
set(ducc ${PROJECT_BINARY_DIR}/ducc0-${PARDO_DUCC_VERSION}/src)

# add_transforms(SET OPTION…): pardo_fft_SET_float and pardo_fft_SET_double.
function(add_transforms set)
  foreach(real float double)
    set(name pardo_fft_${set}_${real})
    add_library(${name} OBJECT src/routines/cpu/fft/ducc.cpp)
    target_link_libraries(${name} PRIVATE pardo_flags)
    target_include_directories(${name} SYSTEM PRIVATE ${ducc})
    target_compile_definitions(${name} PRIVATE DUCC0_NAMESPACE=ducc0_${set}_${real} PARDO_FFT_REAL=${real} PARDO_FFT_NAME=${name})
    target_compile_options(${name} PRIVATE ${ARGN})
  endforeach()
endfunction()

# Where AVX2 comes as well, the other one need not be fast, but is to compile fast.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT PARDO_SANITIZE AND NOT PARDO_FUZZERS)
  add_transforms(portable -DDUCC0_NO_SIMD $<$<CONFIG:Release>:-O1>)
  add_transforms(avx2 -mavx2 -mfma -fno-gnu-unique $<$<CONFIG:Release>:-O3>)
  target_compile_definitions(pardo_routines PRIVATE PARDO_FFT_AVX2)
  # Nothing but the one function of each is seen from outside: inline functions of the standard library that were compiled for AVX2 must not be
  # taken in place of those that run on every processor. What GCC makes unique would stay seen.
  foreach(real float double)
    set(name pardo_fft_avx2_${real})
    set(object ${PROJECT_BINARY_DIR}/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object}.all $<TARGET_OBJECTS:${name}>
      COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=${name} ${object}.all ${object}
      DEPENDS $<TARGET_OBJECTS:${name}> COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_objects(${object})
  endforeach()
else()
  add_transforms(portable $<$<CONFIG:Release>:-O3>)
endif()
add_objects($<TARGET_OBJECTS:pardo_fft_portable_float> $<TARGET_OBJECTS:pardo_fft_portable_double>)
