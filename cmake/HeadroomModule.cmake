# headroom_module(NAME ...): one static library per folder of src/, with its unit tests beside it.
#
#   SOURCES  files of the library            TESTS  unit test files (one executable headroom_NAME_test)
#   DEPS     Headroom modules it may include (public); ./dev lint checks every include against this list
#   LIBS     third-party targets, private    TEST_LIBS  extra targets the tests need
add_library(headroom_options INTERFACE)
target_include_directories(headroom_options INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_options(headroom_options INTERFACE
  -Wall -Wextra -Wpedantic -Wno-missing-field-initializers -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${HEADROOM_WERROR}>:-Werror>)
target_compile_definitions(headroom_options INTERFACE HEADROOM_VERSION="${PROJECT_VERSION}")

function(headroom_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;DEPS;LIBS;TEST_LIBS" ${ARGN})
  add_library(headroom_${name} STATIC ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS PREPEND headroom_ OUTPUT_VARIABLE deps)
  target_link_libraries(headroom_${name} PUBLIC headroom_options Threads::Threads ${deps} PRIVATE ${ARG_LIBS})
  if(ARG_TESTS)
    add_executable(headroom_${name}_test ${ARG_TESTS})
    target_link_libraries(headroom_${name}_test PRIVATE headroom_${name} ${ARG_LIBS} ${ARG_TEST_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
    add_test(NAME unit.${name} COMMAND headroom_${name}_test WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
  endif()
endfunction()
