# The page of the window: built by Node from ui/ where Node is, taken from ui/dist where a release brought it, else
# absent; then the program says so. Building the program never needs Node.
#
#   REPRIEVE_UI=AUTO   as above (default)
#   REPRIEVE_UI=ON     without a page the build fails
#   REPRIEVE_UI=OFF    no page
set(REPRIEVE_UI AUTO CACHE STRING "Build the page of the window: AUTO, ON or OFF")
set_property(CACHE REPRIEVE_UI PROPERTY STRINGS AUTO ON OFF)

set(page_folder ${CMAKE_BINARY_DIR}/page)
set(REPRIEVE_PAGE_BYTES ${page_folder}/page_bytes.cc)
file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ui/src/*)

add_custom_command(
  OUTPUT ${REPRIEVE_PAGE_BYTES}
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/build-window ${REPRIEVE_UI} ${page_folder}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${page_folder} -DOUTPUT=${REPRIEVE_PAGE_BYTES}
    -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${page_sources} ${PROJECT_SOURCE_DIR}/ui/build.mjs ${PROJECT_SOURCE_DIR}/ui/package-lock.json
    ${PROJECT_SOURCE_DIR}/scripts/build-window ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  COMMENT "Building the page of the window"
  VERBATIM)
