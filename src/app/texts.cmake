# Texts that the program prints. Writes app/completion_texts.h into the build folder from the files of completions/.
foreach(pair IN ITEMS BASH=reprieve.bash ZSH=_reprieve FISH=reprieve.fish)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 shell)
  list(GET pair 1 name)
  file(READ completions/${name} ${shell}_COMPLETION)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS completions/${name})
endforeach()
configure_file(completion_texts.h.in ${CMAKE_CURRENT_BINARY_DIR}/embedded/app/completion_texts.h @ONLY)

# Likewise app/schema_texts.h from schemas/.
file(READ schemas/plan.json PLAN_SCHEMA)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS schemas/plan.json)
configure_file(schema_texts.h.in ${CMAKE_CURRENT_BINARY_DIR}/embedded/app/schema_texts.h @ONLY)
