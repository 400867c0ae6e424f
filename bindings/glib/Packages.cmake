# Debian packages by cpack: libkvo-glib0 and libkvo-glib-dev. For Debian's folders configure with -DCMAKE_INSTALL_PREFIX=/usr.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kvo-glib)
set(CPACK_PACKAGE_CONTACT "The swift-kvo authors <maintainers@users.noreply.example>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE kvo-glib)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libkvo-glib0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libkvo1 (>= ${PROJECT_VERSION}), libglib2.0-0 (>= 2.68)")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
    "Key-Value Observing for GLib: the shared library
Windows that follow a model: widgets are bound to the properties of KVO
objects, which are also GObjects and, in lists, items of a GListModel.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkvo-glib-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libkvo-glib0 (= ${PROJECT_VERSION}), libkvo-dev, libglib2.0-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
    "Key-Value Observing for GLib: header and introspection
What programs that use libkvo-glib are built with: the header, the file for
pkg-config and, if they were made, the data for introspection.")
include(CPack)
