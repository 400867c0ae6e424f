# Finds libffi and makes the target kvo::ffi: in the build of libkvo, and where kvo::static is used. FFI_INCLUDE_DIR and FFI_LIBRARY, if set,
# say where it is; otherwise pkg-config does, or CMake's search paths.
if(TARGET kvo::ffi)
  return()
endif()
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND AND NOT FFI_LIBRARY)
  pkg_check_modules(KVO_PC_FFI QUIET libffi)
endif()
find_path(FFI_INCLUDE_DIR ffi.h HINTS ${KVO_PC_FFI_INCLUDE_DIRS} DOC "The folder of ffi.h")
find_library(FFI_LIBRARY NAMES ffi HINTS ${KVO_PC_FFI_LIBRARY_DIRS} DOC "libffi")
mark_as_advanced(FFI_INCLUDE_DIR FFI_LIBRARY)
if(FFI_INCLUDE_DIR AND FFI_LIBRARY)
  add_library(kvo::ffi UNKNOWN IMPORTED)
  set_target_properties(kvo::ffi PROPERTIES IMPORTED_LOCATION "${FFI_LIBRARY}"
                                            INTERFACE_INCLUDE_DIRECTORIES "${FFI_INCLUDE_DIR}")
endif()
