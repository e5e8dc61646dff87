# cmake/tests.cmake: one GoogleTest program for each folder of tests/unit, and the target `tests` that builds them all.
enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)

add_custom_target(tests)
file(GLOB suites CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests/unit ${PROJECT_SOURCE_DIR}/tests/unit/*)
foreach(suite IN LISTS suites)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/${suite}/*.cpp)
  if(sources)
    add_executable(test_${suite} EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(test_${suite} PRIVATE pardo_flags pardo_static GTest::gtest GTest::gtest_main)
    add_dependencies(tests test_${suite})
    gtest_discover_tests(test_${suite} TEST_PREFIX ${suite}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS ${suite} TIMEOUT 300)
  endif()
endforeach()
