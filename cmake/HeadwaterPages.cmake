# The pages of web/ (the report, the live page): bundled by esbuild, compiled into the library as bytes.
# Without npm, or where npm cannot fetch what web/package-lock.json lists, they are left out: everything
# else is built as ever, and the commands that need a page say so.
option(HEADWATER_BUILD_PAGES "Build the pages of headwater report and fit --serve (needs npm)" ON)
set(headwater_page_source ${PROJECT_BINARY_DIR}/pages/page_bytes.cc)

# headwater_fetch_web(RESULT): web/node_modules as the lock file has it; RESULT is empty, or says what
# is missing.
function(headwater_fetch_web result)
  set(web ${PROJECT_SOURCE_DIR}/web)
  find_program(HEADWATER_NODE NAMES node nodejs)
  find_program(HEADWATER_NPM npm)
  mark_as_advanced(HEADWATER_NODE HEADWATER_NPM)
  set(${result} "npm was not found" PARENT_SCOPE)
  if(NOT HEADWATER_NODE OR NOT HEADWATER_NPM)
    return()
  endif()
  set(what --omit=dev)
  set(last ${web}/node_modules/uplot)
  if(HEADWATER_BUILD_TESTS)
    set(what --include=dev)
    set(last ${web}/node_modules/playwright-core)
  endif()
  if(NOT EXISTS ${last}
     OR ${web}/package-lock.json IS_NEWER_THAN ${web}/node_modules/.package-lock.json)
    message(STATUS "Fetching what web/package-lock.json lists")
    execute_process(COMMAND ${HEADWATER_NPM} ci ${what} --silent WORKING_DIRECTORY ${web}
                    RESULT_VARIABLE failed OUTPUT_QUIET)
    if(failed)
      set(${result} "npm could not fetch what web/package-lock.json lists" PARENT_SCOPE)
      return()
    endif()
  endif()
  set(${result} "" PARENT_SCOPE)
endfunction()

set(headwater_pages_missing "HEADWATER_BUILD_PAGES is off")
if(HEADWATER_BUILD_PAGES)
  headwater_fetch_web(headwater_pages_missing)
endif()
if(headwater_pages_missing)
  message(STATUS "Pages are left out: ${headwater_pages_missing}")
  file(CONFIGURE OUTPUT ${headwater_page_source} CONTENT [[
#include "headwater/report/page.hpp"
std::string_view headwater::page_bytes() { return {}; }
]])
  add_custom_target(headwater_pages)
else()
  file(GLOB page_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*
                                         ${PROJECT_SOURCE_DIR}/web/src/*/*)
  add_custom_command(
    OUTPUT ${headwater_page_source}
    COMMAND ${HEADWATER_NODE} ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_BINARY_DIR}/pages
    DEPENDS ${page_parts} ${PROJECT_SOURCE_DIR}/web/build.mjs
            ${PROJECT_SOURCE_DIR}/web/package-lock.json
    COMMENT "Bundling the pages of web/" VERBATIM)
  add_custom_target(headwater_pages DEPENDS ${headwater_page_source})
endif()
