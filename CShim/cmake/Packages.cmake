# Debian packages by cpack -G DEB: libkvo1 and libkvo-dev; and a source archive of CShim by cpack --config CPackSourceConfig.cmake.
# For Debian's folders configure with -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_BUILD_TYPE=Release; scripts/check-packages.sh does.
set(CPACK_PACKAGE_NAME kvo)
set(CPACK_PACKAGE_CONTACT "The swift-kvo authors <maintainers@users.noreply.example>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME kvo-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES "^${CMAKE_CURRENT_SOURCE_DIR}/(build|\\..*)" "^${CMAKE_CURRENT_BINARY_DIR}/")

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE kvo)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libkvo${kvo_abi_number})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
    "Key-Value Observing for C: the shared library
Programs and language bindings observe properties of objects by key path:
the library calls an observer at each change of a value on the path, by any
setter. Misuse is reported with its cause.")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/packages/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/packages/triggers)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/WithoutLdconfig.cmake)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkvo-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libkvo${kvo_abi_number} (= ${PROJECT_VERSION}), libffi-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
    "Key-Value Observing for C: headers and static library
What programs that use libkvo are built with: headers, the static library,
and files for pkg-config and CMake.")

# What Debian asks of each package: its licence and its changes.
find_program(KVO_GZIP gzip)
if(KVO_GZIP)
  string(TIMESTAMP date "%a, %d %b %Y 00:00:00 +0000" UTC)
  foreach(package libkvo${kvo_abi_number} libkvo-dev)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/packages/${package})
    file(WRITE ${folder}/changelog "kvo (${PROJECT_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md in the source repository.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
    execute_process(COMMAND ${KVO_GZIP} -9nf ${folder}/changelog)
    configure_file(cmake/copyright ${folder}/copyright COPYONLY)
  endforeach()
  foreach(pair "runtime;libkvo${kvo_abi_number}" "development;libkvo-dev")
    list(GET pair 0 component)
    list(GET pair 1 package)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/packages/${package}/changelog.gz
                  ${CMAKE_CURRENT_BINARY_DIR}/packages/${package}/copyright
            DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
endif()
include(CPack)
