# cmake/tests.cmake: one GoogleTest program for each folder of tests/unit, and the target `tests` that builds them all.
enable_testing()
find_package(GTest REQUIRED)

# add_suite_run(NAME SUITE VARIABLE=VALUE…): all cases of a suite in one process, and a report in reports/ that tells them apart. On OpenCL
# the library's kernels are tested, also where the host would compute. The longest suites begin first, so that none runs alone at the end.
set(long_suites backend_opencl routines emit)
function(add_suite_run name suite)
  add_test(NAME ${name} COMMAND test_${suite} --gtest_brief=1 --gtest_output=xml:${PROJECT_BINARY_DIR}/reports/${name}.xml)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "PARDO_OPENCL_ROUTINES=kernels;${ARGN}" LABELS ${suite} TIMEOUT 3600)
  list(FIND long_suites ${suite} place)
  if(place GREATER -1)
    math(EXPR cost "1000 - ${place}")
    set_tests_properties(${name} PROPERTIES COST ${cost})
  endif()
endfunction()

add_custom_target(tests)
add_dependencies(tests layers)
file(GLOB suites CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests/unit ${PROJECT_SOURCE_DIR}/tests/unit/*)
foreach(suite IN LISTS suites)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/${suite}/*.cpp)
  if(sources)
    add_executable(test_${suite} EXCLUDE_FROM_ALL ${sources})
    compile_together(test_${suite} 4)
    target_link_libraries(test_${suite} PRIVATE pardo_flags pardo_static GTest::gtest GTest::gtest_main)
    # What compiles the tests takes a third less time so; all suites share one precompiled header, and so these options.
    target_compile_options(test_${suite} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
    add_dependencies(tests test_${suite})
    if(first)
      precompile_as(test_${suite} ${first})
    else()
      set(first test_${suite})
      precompile(${first} <gtest/gtest.h>)
    endif()
    if(suite STREQUAL "backend_cpu")
      # A child computes on one thread where other parts of the process use oneTBB, as tests of sub-devices do.
      add_suite_run(backend_cpu backend_cpu GTEST_FILTER=-Fork.*)
      add_suite_run(backend_cpu.fork backend_cpu GTEST_FILTER=Fork.*)
    else()
      add_suite_run(${suite} ${suite})
    endif()
  endif()
endforeach()

include(cmake/fake_cuda.cmake)
add_library(cublas_fake SHARED EXCLUDE_FROM_ALL tests/fake_cuda/cublas/fake_cublas.cpp)
add_library(cufft_fake SHARED EXCLUDE_FROM_ALL tests/fake_cuda/cufft/fake_cufft.cpp)
add_dependencies(tests cuda_fake cublas_fake cufft_fake)
if(TARGET test_backend_cuda)
  target_link_libraries(test_backend_cuda PRIVATE cuda_fake cublas_fake cufft_fake)
  target_include_directories(test_backend_cuda PRIVATE ${PROJECT_SOURCE_DIR}/tests/fake_cuda)
  target_compile_definitions(test_backend_cuda PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE:cuda_fake>"
    FAKE_CUBLAS_LIBRARY="$<TARGET_FILE:cublas_fake>" FAKE_CUFFT_LIBRARY="$<TARGET_FILE:cufft_fake>")
endif()

# The OpenCL suite once more for each way to memory; devices that lack it are skipped.
if(TARGET test_backend_opencl)
  foreach(path usm svm buffer)
    add_suite_run(backend_opencl.memory_${path} backend_opencl PARDO_OPENCL_MEMORY=${path})
  endforeach()
  # And with processors taken for GPUs.
  add_suite_run(backend_opencl.execution_groups backend_opencl PARDO_OPENCL_EXECUTION=groups)
endif()
