# What is installed, and the Debian package of it. `make package` (scripts/package) builds all packages.
# Packaging builds the program and its pages, not the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

install(TARGETS reprieve RUNTIME DESTINATION bin)
# The same program under the name by which kubectl finds it, and what it asks for completion.
install(CODE "
  set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/kubectl-reprieve\")
  file(REMOVE \"\${link}\")
  file(CREATE_LINK reprieve \"\${link}\" SYMBOLIC)")
install(PROGRAMS deploy/package/kubectl_complete-reprieve DESTINATION bin)
install(FILES src/app/completions/reprieve.bash DESTINATION share/bash-completion/completions RENAME reprieve)
install(FILES src/app/completions/_reprieve DESTINATION share/zsh/vendor-completions)
install(FILES src/app/completions/reprieve.fish DESTINATION share/fish/vendor_completions.d)

# The pages are written from the program's own help; building the package builds them.
set(reprieve_man ${CMAKE_CURRENT_BINARY_DIR}/man)
add_custom_target(reprieve_man
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/man-pages --program $<TARGET_FILE:reprieve> ${reprieve_man}
  DEPENDS reprieve VERBATIM)
install(DIRECTORY ${reprieve_man}/ DESTINATION share/man COMPONENT package)

install(FILES deploy/package/config.yaml DESTINATION /etc/reprieve COMPONENT package)
install(FILES deploy/package/reprieve.service DESTINATION /lib/systemd/system COMPONENT package)
install(FILES LICENSE DESTINATION share/doc/reprieve RENAME copyright COMPONENT package)
install(FILES CHANGELOG.md README.md DESTINATION share/doc/reprieve COMPONENT package)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME reprieve)
set(CPACK_PACKAGE_CONTACT "The Reprieve maintainers <maintainers@reprieve.dev>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Kubernetes scheduler whose trade is preemption")
set(CPACK_PACKAGE_DESCRIPTION "When something important does not fit, Reprieve finds the least disruptive set of evictions
that makes room, says how good that set provably is, carries it out and can explain every decision. This package has the
program, the kubectl plugin (kubectl reprieve), shell completion, man pages and a systemd service.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_SOURCE_DIR}/build/package)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "passwd, ca-certificates")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "init-system-helpers")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/conffiles "/etc/reprieve/config.yaml\n")
set(scripts ${PROJECT_SOURCE_DIR}/deploy/package/debian)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${scripts}/postinst ${scripts}/prerm ${scripts}/postrm ${CMAKE_CURRENT_BINARY_DIR}/conffiles)
include(CPack)
