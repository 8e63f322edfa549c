# link_hdf5(TARGET): HDF5 and zlib into a shared object, from archives if there are any that can be
# used so, else as the libraries that CMake finds, which the user's machine then has to have.
#
# Debian's archive of HDF5 is compiled for executables that can be loaded anywhere. That is good
# enough for a shared object too, as long as every symbol is bound inside of it. Those of the archive
# are, since they are hidden, which also keeps them apart from the HDF5 of h5py. What is left are
# stdout and stderr, which belong to the C library: own_streams.cc has pointers to the same streams.
function(link_hdf5 target)
  find_library(HDF5_ARCHIVE NAMES libhdf5_serial.a libhdf5.a)
  find_library(SZIP_ARCHIVE NAMES libsz.a)
  find_library(AEC_ARCHIVE NAMES libaec.a)
  find_library(ZLIB_ARCHIVE NAMES libz.a)
  set(archives ${HDF5_ARCHIVE} ${SZIP_ARCHIVE} ${AEC_ARCHIVE} ${ZLIB_ARCHIVE})
  list(LENGTH archives found)
  if(found EQUAL 4 AND NOT archives MATCHES NOTFOUND AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_link_libraries(${target} PRIVATE ${archives} ${CMAKE_DL_LIBS} m)
    target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--defsym=stdout=own_stdout
                                          -Wl,--defsym=stderr=own_stderr)
  else()
    message(WARNING "No archive of HDF5 is installed: the module will need libhdf5 where it runs")
    target_link_libraries(${target} PRIVATE ${HDF5_C_LIBRARIES} ${ZLIB_LIBRARIES})
  endif()
endfunction()
