# Compiling through ccache, so that a second checkout or a second build folder costs seconds, not minutes. Paths below
# the source folder are hashed as relative ones; they are also mapped away in the objects, which keeps the place of a
# build out of its bytes.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=locale ${CCACHE})
endif()
