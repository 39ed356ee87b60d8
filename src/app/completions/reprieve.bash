# bash completion for reprieve.    source <(reprieve completion bash)

_reprieve() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            plan | explain | run | check | version | completion)
                command=$word
                break
                ;;
        esac
    done
    COMPREPLY=()

    case $previous in
        -f | --filename | --config | --kubeconfig | --plan | --log)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            compopt -o filenames 2>/dev/null
            return
            ;;
        -o | --output)
            local formats='table json yaml'
            [[ $command == explain ]] && formats='text json'
            mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$current")
            return
            ;;
        --speed)
            mapfile -t COMPREPLY < <(compgen -W 'fast real 10x' -- "$current")
            return
            ;;
        --for | --now | --cycles | --ui | --seed) return ;;
    esac

    local words=''
    case $command in
        '') words='plan explain run check version completion --help --version' ;;
        plan) words='-f --filename --config --for --now -o --output --alternatives --strict --verify --help' ;;
        explain) words='-f --filename --plan --config --now --strict --gang -o --output --help' ;;
        run) words='-f --filename --kubeconfig --in-cluster --config --cycles --ui --log --dry-run --speed --now --seed --lease --lease-duration --allow-loopback-http --help' ;;
        version) words='--help' ;;
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
