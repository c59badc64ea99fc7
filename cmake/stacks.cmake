# Stack plug-ins: shared objects with one visible symbol under build/stacks.

# tlc_stack_plugin(ID SOURCES a.c ... [PREFIX folder | LIBRARIES target ...] [MANIFEST file])
# Builds stacks/ID.so. PREFIX names a prefix with OpenSSL's static archives, so that one source
# serves several versions side by side; MANIFEST says where the library came from.
function(tlc_stack_plugin id)
    cmake_parse_arguments(STACK "" "PREFIX;MANIFEST" "SOURCES;LIBRARIES" ${ARGN})
    set(target stack_${id})
    add_library(${target} MODULE ${STACK_SOURCES} ${PROJECT_SOURCE_DIR}/src/base/names.c
        ${PROJECT_SOURCE_DIR}/src/base/error.c)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${id} C_VISIBILITY_PRESET hidden
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stacks
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/stacks/plugin.map)
    if(STACK_PREFIX)
        tlc_openssl_prefix(${target} ${STACK_PREFIX})
        list(APPEND STACK_LIBRARIES ${target}_libssl)
        if(NOT STACK_MANIFEST AND EXISTS ${STACK_PREFIX}/manifest.json)
            set(STACK_MANIFEST ${STACK_PREFIX}/manifest.json)
        endif()
    endif()
    target_link_libraries(${target} PRIVATE ${STACK_LIBRARIES})
    # The version script leaves tlc_stack alone visible; -Bsymbolic binds the library's own calls
    # to itself even where another copy of it is loaded.
    target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,--gc-sections
        -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/stacks/plugin.map)
    if(STACK_MANIFEST)
        configure_file(${STACK_MANIFEST} ${CMAKE_BINARY_DIR}/stacks/${id}.json COPYONLY)
    endif()
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tlscost/stacks)
    if(STACK_MANIFEST)
        install(FILES ${CMAKE_BINARY_DIR}/stacks/${id}.json
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/tlscost/stacks)
    endif()
endfunction()
