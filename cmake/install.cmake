# SPDX-License-Identifier: Apache-2.0
# `cmake --install` gives headers, both libraries, the CMake package and libdl.pc. A wheel takes
# only its own part: wrappers/python/CMakeLists.txt.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(LIBDL_LIBFUZZER)
  install(CODE "message(FATAL_ERROR \"This build is the fuzzer's: install that of another preset\")")
elseif(NOT SKBUILD AND NOT LIBDL_CORE_ARCHIVE)
  set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/libdl)
  install(DIRECTORY include/libdl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h")
  # What plugins share with the core, under the names that it has here; docs/plugins.md.
  set(plugin_includes ${CMAKE_INSTALL_INCLUDEDIR}/libdl-plugin)
  install(FILES libdl/device/backend.h DESTINATION ${plugin_includes}/device)
  install(DIRECTORY kernels DESTINATION ${plugin_includes}
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "cpu" EXCLUDE PATTERN "cuda" EXCLUDE)
  install(FILES ${libdl_generated}/build_info.h DESTINATION ${plugin_includes})
  install(FILES ${libdl_cpp_folder}/libdl.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS libdlcore libdlcpp EXPORT libdl
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES $<TARGET_FILE:libdlcore_static> DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT libdl NAMESPACE libdl:: FILE libdl-core.cmake DESTINATION ${package_folder})
  configure_package_config_file(cmake/libdl-config.cmake.in libdl-config.cmake
    INSTALL_DESTINATION ${package_folder}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
  # Before 1.0 a minor version is the unit of compatibility.
  write_basic_package_version_file(libdl-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/libdl-config.cmake
                ${PROJECT_BINARY_DIR}/libdl-config-version.cmake
          DESTINATION ${package_folder})
  # Relative, so that the prefix may move.
  file(RELATIVE_PATH prefix_from_pc /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
  configure_file(cmake/libdl.pc.in libdl.pc @ONLY)
  configure_file(cmake/libdl-static.pc.in libdl-static.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/libdl.pc ${PROJECT_BINARY_DIR}/libdl-static.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
          FILES_MATCHING PATTERN "*.c" PATTERN "*.cc" PATTERN "*.hpp" PATTERN "*.rs"
          PATTERN "*.py" PATTERN "CMakeLists.txt")
  install(FILES cmake/libdl.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/libdl)
  option(LIBDL_INSTALL_STRIPPED "Install libraries stripped, with debug files apart" ON)
  if(LIBDL_INSTALL_STRIPPED AND CMAKE_OBJCOPY AND CMAKE_STRIP)
    configure_file(cmake/strip_installed.cmake.in strip_installed.cmake.in @ONLY)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/strip_installed.cmake
         INPUT ${PROJECT_BINARY_DIR}/strip_installed.cmake.in)
    install(SCRIPT ${PROJECT_BINARY_DIR}/strip_installed.cmake)
  endif()
endif()
