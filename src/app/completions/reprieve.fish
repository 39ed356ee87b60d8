# fish completion for reprieve.    reprieve completion fish > ~/.config/fish/completions/reprieve.fish

set -l commands plan run explain simulate check version completion

complete -c reprieve -f
complete -c reprieve -l help -d 'Help'

complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a plan -d 'What would be decided now; changes nothing'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a run -d 'Schedule a cluster, or the embedded one'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a explain -d 'Why a pod or gang was evicted, spared or left waiting'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a simulate -d 'Compare policies on a trace'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a check -d 'Read a configuration and say what is wrong with it'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a version -d 'Print the version'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a completion -d 'Print a completion script'

complete -c reprieve -n '__fish_seen_subcommand_from plan run explain simulate' -s f -r -F -d 'Manifests: a file, a folder, or - for standard input'
complete -c reprieve -n '__fish_seen_subcommand_from plan run explain simulate' -l config -r -F -d 'Scheduler configuration'
complete -c reprieve -n '__fish_seen_subcommand_from plan' -l for -x -d 'Plan only for this pod or gang'
complete -c reprieve -n '__fish_seen_subcommand_from plan explain' -l now -x -d 'The moment to plan for'
complete -c reprieve -n '__fish_seen_subcommand_from plan' -s o -x -a 'table json yaml' -d 'Output'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l kubeconfig -r -F -d 'The cluster to schedule'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l in-cluster -d 'Use the service account of this pod'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l cycles -x -d 'Stop after so many cycles'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l ui -x -d 'Serve the web interface here'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l dry-run -d 'Plan and log only'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l lease -x -d 'The Lease that decides which replica acts'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l lease-duration -x -d 'After so long others take over'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l allow-loopback-http -d 'Plain HTTP to this machine'
complete -c reprieve -n '__fish_seen_subcommand_from check' -F
complete -c reprieve -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
