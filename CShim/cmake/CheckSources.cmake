# Fails when the list of sources in CMakeLists.txt is not what SwiftPM would compile: all *.c below src.
file(GLOB_RECURSE found RELATIVE "${folder}" "${folder}/src/*.c")
list(SORT found)
list(SORT listed)
if(NOT "${found}" STREQUAL "${listed}")
  message(FATAL_ERROR "CMakeLists.txt lists\n  ${listed}\nbut the folder has\n  ${found}")
endif()
