# bash completion for reprieve.    source <(reprieve completion bash)

_reprieve() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            plan | explain | run | history | replay | export | referee | ui | simulate | check | version | schema | completion)
                command=$word
                break
                ;;
        esac
    done
    COMPREPLY=()

    case $previous in
        -f | --filename | --config | --kubeconfig | --plan | --log | --ui-dir | --trace | --record | --out)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            compopt -o filenames 2>/dev/null
            return
            ;;
        -o | --output)
            local formats='table json yaml'
            [[ $command == history || $command == replay ]] && formats='table json'
            [[ $command == referee ]] && formats='table json html'
            [[ $command == explain || $command == version ]] && formats='text json'
            mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$current")
            return
            ;;
        --format)
            mapfile -t COMPREPLY < <(compgen -W 'manifests kwok perfetto swf' -- "$current")
            return
            ;;
        --speed)
            mapfile -t COMPREPLY < <(compgen -W 'fast real 10x' -- "$current")
            return
            ;;
        --log-format)
            mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$current")
            return
            ;;
        --log-level)
            mapfile -t COMPREPLY < <(compgen -W 'debug info warn error' -- "$current")
            return
            ;;
        --policy)
            mapfile -t COMPREPLY < <(compgen -W 'reprieve none kube volcano koordinator fifo-backfill' -- "$current")
            return
            ;;
        --at | --cycle | --since | --action | --from | --to | --record-keep | --record-max | --scheduler | --start-within | --for | --now | --cycles | --ui | --seed | --seeds | --until | --grace | --failures | --context | --listen) return ;;
    esac

    local words=''
    case $command in
        '') words='plan explain run history replay export referee ui simulate check version schema completion --help --version' ;;
        plan) words='-f --filename --config --for --now -o --output --alternatives --strict --verify --record --at --cycle --help' ;;
        explain) words='-f --filename --plan --config --now --strict --gang -o --output --record --at --cycle --help' ;;
        run) words='-f --filename --kubeconfig --context --in-cluster --config --cycles --ui --ui-open --ui-scope --log --log-format --log-level --record --record-keep --record-max --dry-run --speed --now --seed --lease --lease-duration --allow-loopback-http --help' ;;
        ui)
            if [[ $current != -* ]]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
                compopt -o filenames 2>/dev/null
                return
            fi
            words='-f --filename --record --config --now --listen --ui-open --ui-dir --help'
            ;;
        simulate) words='-f --filename --trace --policy --seeds --until --grace --failures --out -j --processes --help' ;;
        history) words='--record --since --action -o --output --help' ;;
        replay) words='--record --from --to --config -o --output --help' ;;
        export) words='--record --format --at --cycle --from --to --out --help' ;;
        referee) words='--kubeconfig --context --in-cluster --allow-loopback-http --record --scheduler --for --start-within --config --ui -o --output --help' ;;
        version) words='-o --output --help' ;;
        schema) words='plan config --help' ;;
        completion) words='bash zsh fish --help' ;;
        check)
            if [[ $current != -* ]]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
                compopt -o filenames 2>/dev/null
                return
            fi
            words='--help'
            ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _reprieve reprieve
