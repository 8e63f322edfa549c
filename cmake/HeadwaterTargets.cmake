option(HEADWATER_UNITY_BUILD "Compile the sources of a folder together, in half the time" ON)

# What every target of this project is compiled with.
function(headwater_configure target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # Contracting a*b+c into one rounding is left to the compiler by default, which makes results
  # depend on the compiler and the target: the same bits everywhere need it off.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  # CMake's -O3, which takes a third longer to compile, is for the library alone: what is around it holds
  # no loop. Not -O1: of an inline function that several sources compiled the linker keeps any one.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  # GCC looks for memory to use again before it has taken a gigabyte: a twentieth of its time.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=300;--param=ggc-min-heapsize=1000000>)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                           -Wnon-virtual-dtor -Wno-sign-conversion)
  if(HEADWATER_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(HEADWATER_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${HEADWATER_SANITIZE}
                                             -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${HEADWATER_SANITIZE})
  endif()
endfunction()

# Compiles the sources of a folder as one (a unity build): headers and templates, which compiling
# spends most of its time on, are then read once a folder. Names in unnamed namespaces must differ
# within a folder. Sources that are not listed are compiled alone. The presets debug and tidy compile
# every source by itself, which shows a missing #include.
function(headwater_compile_by_folder target)
  if(NOT HEADWATER_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes sources that are included for headers, in which unnamed namespaces would be a mistake.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  foreach(source ${ARGN})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
