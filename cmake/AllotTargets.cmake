# One place for the flags of every target of ours.
#
#   allot_library(NAME SOURCES ... [PUBLIC ...] [PRIVATE ...])   a static library
#   allot_test(NAME SOURCES ... [LINK ...])                      a Catch2 program, one ctest per case

add_library(allot_flags INTERFACE)
# No contraction and no fast-math: the evaluator and the machine code must agree bit for bit.
target_compile_options(allot_flags INTERFACE
  -Wall -Wextra
  $<$<CXX_COMPILER_ID:GNU>:-Werror>  # clang, which makes the fuzzers alone, warns of other things
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # gcc 12 takes "text" + std::string for an overlap (its bug 105651)
  -ffp-contract=off -fno-fast-math -fvisibility=hidden -fvisibility-inlines-hidden)
target_include_directories(allot_flags INTERFACE "${CMAKE_SOURCE_DIR}")
# Debian's fmt stands beside the one in LibTorch's headers: header-only, each target sees exactly one.
target_compile_definitions(allot_flags INTERFACE FMT_HEADER_ONLY=1)
if(ALLOT_SANITIZE)
  target_compile_options(allot_flags INTERFACE
    -fsanitize=${ALLOT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # gcc 12 takes <regex> for uninitialised once AddressSanitizer has rewritten it.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(allot_flags INTERFACE -fsanitize=${ALLOT_SANITIZE})
endif()

if(ALLOT_FUZZ)
  target_compile_options(allot_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(ALLOT_CCACHE ccache)
if(ALLOT_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${ALLOT_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ALLOT_CCACHE}")
endif()
find_program(ALLOT_LLD ld.lld)
if(ALLOT_LLD)
  add_link_options(-fuse-ld=lld)
endif()

function(allot_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC allot_flags ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()

if(ALLOT_TESTS)
  find_package(Catch2 2 REQUIRED)
  include(Catch)
  add_library(allot_test_main OBJECT EXCLUDE_FROM_ALL "${CMAKE_SOURCE_DIR}/tests/main.cpp")
  # What is inline is taken from any object: one that a sanitizer was not told of makes it see races that are none.
  target_link_libraries(allot_test_main PRIVATE allot_flags)
  target_link_libraries(allot_test_main PUBLIC Catch2::Catch2)
endif()

function(allot_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES} $<TARGET_OBJECTS:allot_test_main>)
  target_link_libraries(${name} PRIVATE allot_flags Catch2::Catch2 ${arg_LINK})
  # Only the files that ask for the folder know it, so that one compiler cache serves every checkout.
  foreach(source IN LISTS arg_SOURCES)
    file(STRINGS "${source}" asks REGEX "ALLOT_SOURCE_DIR" LIMIT_COUNT 1)
    if(asks)
      set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_DEFINITIONS "ALLOT_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
    endif()
  endforeach()
  catch_discover_tests(${name} TEST_PREFIX "${name}: ")
endfunction()
