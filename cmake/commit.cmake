# Writes the commit that the sources are at into OUTPUT, if it changed.    cmake -DOUTPUT=... -DSOURCE=... -DBUILD=... [-DCOMMIT=...] -P
#
# Runs in every build, so that the program never names an older commit than it was built from. Sources without a
# repository (an archive, an image) get COMMIT, else `unknown`. Changes that are not committed show as `-dirty`.
if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=40 --dirty --exclude=*
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR NOT COMMIT)
    set(COMMIT unknown)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "app/build_facts.h"

namespace reprieve {

const char* build_commit() { return "@COMMIT@"; }
const char* build_kind() { return "@BUILD@"; }

}  // namespace reprieve
]])
