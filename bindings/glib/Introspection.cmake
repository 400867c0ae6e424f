# Makes KvoGlib-1.0.gir and its typelib, by which Python, Vala and others call the library.
find_program(GIR_SCANNER g-ir-scanner REQUIRED)
find_program(GIR_COMPILER g-ir-compiler REQUIRED)
set(kvo_glib_gir ${CMAKE_CURRENT_BINARY_DIR}/KvoGlib-1.0.gir)
set(kvo_glib_typelib ${CMAKE_CURRENT_BINARY_DIR}/KvoGlib-1.0.typelib)
list(TRANSFORM kvo_glib_sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE kvo_glib_scanned)
get_target_property(kvo_include kvo::kvo INTERFACE_INCLUDE_DIRECTORIES)
add_custom_command(
  OUTPUT ${kvo_glib_gir}
  COMMAND ${CMAKE_COMMAND} -E env "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:kvo::kvo>" ${GIR_SCANNER} --quiet --warn-all --namespace=KvoGlib --nsversion=1.0 --identifier-prefix=KvoGlib
          --symbol-prefix=kvo_glib --include=GObject-2.0 --include=Gio-2.0 --pkg=gobject-2.0 --pkg=gio-2.0 --pkg-export=kvo-glib --c-include=kvo/kvo_glib.h
          -I${CMAKE_CURRENT_SOURCE_DIR} -I${CMAKE_CURRENT_SOURCE_DIR}/include -I${kvo_include} --library=kvo-glib -L$<TARGET_FILE_DIR:kvo_glib> --library-path=$<TARGET_FILE_DIR:kvo_glib>
          --output=${kvo_glib_gir} ${CMAKE_CURRENT_SOURCE_DIR}/include/kvo/kvo_glib.h ${kvo_glib_scanned}
  DEPENDS kvo_glib ${kvo_glib_scanned} include/kvo/kvo_glib.h VERBATIM)
add_custom_command(OUTPUT ${kvo_glib_typelib} COMMAND ${GIR_COMPILER} ${kvo_glib_gir} --output=${kvo_glib_typelib} DEPENDS ${kvo_glib_gir} VERBATIM)
add_custom_target(kvo_glib_introspection ALL DEPENDS ${kvo_glib_typelib})
install(FILES ${kvo_glib_gir} DESTINATION ${CMAKE_INSTALL_DATADIR}/gir-1.0 COMPONENT development)
install(FILES ${kvo_glib_typelib} DESTINATION ${CMAKE_INSTALL_LIBDIR}/girepository-1.0 COMPONENT development)
