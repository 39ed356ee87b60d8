# fish completion for reprieve.    reprieve completion fish > ~/.config/fish/completions/reprieve.fish

set -l commands plan explain run check version completion

complete -c reprieve -f
complete -c reprieve -l help -d 'Help'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -l version -d 'Print the version'

complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a plan -d 'What would be decided now; changes nothing'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a explain -d 'What a plan means for a pod or gang, and why'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a run -d 'Schedule a cluster, or the embedded one'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a check -d 'Read a configuration and say what is wrong with it'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a version -d 'Print the version'
complete -c reprieve -n "not __fish_seen_subcommand_from $commands" -a completion -d 'Print a completion script'

complete -c reprieve -n '__fish_seen_subcommand_from plan explain run' -s f -l filename -r -F -d 'Manifests: a file, a folder, or - for standard input'
complete -c reprieve -n '__fish_seen_subcommand_from plan explain run' -l config -r -F -d 'Scheduler configuration'
complete -c reprieve -n '__fish_seen_subcommand_from plan' -l for -x -d 'Plan only for this pod or gang'
complete -c reprieve -n '__fish_seen_subcommand_from plan explain run' -l now -x -d 'The moment to plan for, or to start at'
complete -c reprieve -n '__fish_seen_subcommand_from plan' -s o -l output -x -a 'table json yaml' -d 'Output'
complete -c reprieve -n '__fish_seen_subcommand_from plan' -l alternatives -d 'What other aims would cost'
complete -c reprieve -n '__fish_seen_subcommand_from plan explain' -l strict -d 'Unknown fields are errors'
complete -c reprieve -n '__fish_seen_subcommand_from plan' -l verify -d 'Fail if it does not come to rest'
complete -c reprieve -n '__fish_seen_subcommand_from explain' -l plan -r -F -d 'A plan or a log of plans'
complete -c reprieve -n '__fish_seen_subcommand_from explain' -l gang -d 'The name is that of a gang'
complete -c reprieve -n '__fish_seen_subcommand_from explain' -s o -l output -x -a 'text json' -d 'Output'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l log -r -F -d 'Append plans to this file'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l kubeconfig -r -F -d 'The cluster to schedule'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l in-cluster -d 'Use the service account of this pod'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l cycles -x -d 'Stop after so many cycles'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l ui -x -d 'Serve the web interface here'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l dry-run -d 'Plan and log only'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l lease -x -d 'The Lease that decides which replica acts'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l lease-duration -x -d 'After so long others take over'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l allow-loopback-http -d 'Plain HTTP to this machine'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l speed -x -a 'fast real 10x' -d 'Speed of the embedded cluster'
complete -c reprieve -n '__fish_seen_subcommand_from run' -l seed -x -d 'Chooses the names of new pods'
complete -c reprieve -n '__fish_seen_subcommand_from check' -F
complete -c reprieve -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
