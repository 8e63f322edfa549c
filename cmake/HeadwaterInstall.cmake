# Install and export, so that another project's find_package(headwater) works.
include(CMakePackageConfigHelpers)

install(TARGETS headwater EXPORT headwaterTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT headwaterTargets NAMESPACE headwater::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headwater)
get_target_property(headwater_type headwater TYPE)
configure_package_config_file(cmake/headwaterConfig.cmake.in headwaterConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headwater)
write_basic_package_version_file(headwaterConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/headwaterConfig.cmake
              ${PROJECT_BINARY_DIR}/headwaterConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headwater)
