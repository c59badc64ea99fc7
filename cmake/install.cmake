# What `cmake --install` and `make install` bring: the program, its plug-ins (cmake/stacks.cmake),
# the data it reads, and what `tlscost stacks get` needs to build more plug-ins.
set(TLC_DATA ${CMAKE_INSTALL_DATADIR}/tlscost)

if(TARGET tlscost)
    install(TARGETS tlscost RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

foreach(folder plans components references recipes peers)
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
        install(DIRECTORY ${folder} DESTINATION ${TLC_DATA} USE_SOURCE_PERMISSIONS)
    endif()
endforeach()

install(PROGRAMS scripts/recipe DESTINATION ${TLC_DATA}/scripts)
install(DIRECTORY include/ DESTINATION ${TLC_DATA}/include)
install(DIRECTORY include/tlscost DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(plugin_sources)
foreach(part openssl awslc wolfssl mbedtls gnutls plain watch transport ticket_keys neutral)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/stacks/${part}*.[ch])
    list(APPEND plugin_sources ${sources})
endforeach()
install(FILES ${plugin_sources} src/stacks/plugin.map DESTINATION ${TLC_DATA}/src/stacks)
install(FILES src/base/names.c src/base/names.h src/base/error.c src/base/error.h src/base/isoc23.c
    DESTINATION ${TLC_DATA}/src/base)

file(GLOB manuals CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.1)
if(manuals)
    install(FILES ${manuals} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/*.json)
install(FILES ${documents} LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
