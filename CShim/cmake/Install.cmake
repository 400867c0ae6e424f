# What is installed, in two components: runtime, development. Packages: Packages.cmake.
set(kvo_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kvo)

if(TARGET kvo)
  install(TARGETS kvo EXPORT kvoSharedTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
  install(EXPORT kvoSharedTargets NAMESPACE kvo:: DESTINATION ${kvo_package_dir} COMPONENT development)
endif()
if(TARGET kvo_static)
  install(TARGETS kvo_static EXPORT kvoStaticTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT kvoStaticTargets NAMESPACE kvo:: DESTINATION ${kvo_package_dir} COMPONENT development)
endif()
install(DIRECTORY ${kvo_include_dir}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

configure_package_config_file(cmake/kvoConfig.cmake.in kvoConfig.cmake INSTALL_DESTINATION ${kvo_package_dir})
write_basic_package_version_file(kvoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kvoConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/kvoConfigVersion.cmake
              ${CMAKE_CURRENT_SOURCE_DIR}/cmake/kvoFFI.cmake
        DESTINATION ${kvo_package_dir} COMPONENT development)

# kvo.pc says where it is relative to itself, so that the folder can be moved. That is known at the installation: cmake --install --prefix.
foreach(variable PROJECT_VERSION CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_CURRENT_SOURCE_DIR CMAKE_CURRENT_BINARY_DIR)
  install(CODE "set(${variable} \"${${variable}}\")" COMPONENT development)
endforeach()
if(NOT TARGET kvo)
  install(CODE "set(kvo_is_static ON)" COMPONENT development)
endif()
install(SCRIPT cmake/InstallPkgConfig.cmake COMPONENT development)

# The manual pages that scripts/manual.sh has made, if any.
set(KVO_MANUAL "" CACHE PATH "The folder man3 of manual pages to install")
if(KVO_MANUAL)
  install(DIRECTORY ${KVO_MANUAL}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT development FILES_MATCHING PATTERN "*.3*")
endif()

if(kvo_is_top_level)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/Uninstall.cmake VERBATIM)
  include(cmake/Packages.cmake)
endif()
