# What every target of this project is compiled with.
function(headwater_configure target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # Contracting a*b+c into one rounding is left to the compiler by default, which makes results
  # depend on the compiler and the target: the same bits everywhere need it off.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
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
