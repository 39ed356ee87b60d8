# bash completion for reprieve.    source <(reprieve completion bash)

_reprieve() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            plan | run | explain | simulate | check | version | completion)
                command=$word
                break
                ;;
        esac
    done
    COMPREPLY=()

    case $previous in
        -f | --config | --kubeconfig)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            compopt -o filenames 2>/dev/null
            return
            ;;
        -o)
            mapfile -t COMPREPLY < <(compgen -W 'table json yaml' -- "$current")
            return
            ;;
        --for | --now | --cycles | --ui) return ;;
    esac

    local words=''
    case $command in
        '') words='plan run explain simulate check version completion --help' ;;
        plan) words='-f --config --for --now -o --help' ;;
        run) words='-f --kubeconfig --in-cluster --config --cycles --ui --dry-run --lease --lease-duration --allow-loopback-http --help' ;;
        explain) words='-f --config --now --help' ;;
        simulate) words='-f --config --help' ;;
        version) words='--help' ;;
        completion) words='bash zsh fish' ;;
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
