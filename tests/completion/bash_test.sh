#!/bin/bash
# What bash offers at the end of a typed line.    bash_test.sh SCRIPT
set -uo pipefail
# shellcheck disable=SC1090
source "$1"
cd "$(dirname "$0")" || exit

failures=0

offers() {  # expected words, typed words...
    local expected=$1
    shift
    COMP_WORDS=(reprieve "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _reprieve
    if [[ "${COMPREPLY[*]}" != "$expected" ]]; then
        echo "after 'reprieve $*': offered '${COMPREPLY[*]}', expected '$expected'"
        failures=$((failures + 1))
    fi
}

offers 'plan explain run history replay export referee ui simulate check version schema completion --help --version' ''
offers 'plan' 'pl'
offers '--config' plan '--co'
offers '-f --filename --config --for --now -o --output --alternatives --strict --verify --record --at --cycle --help' plan '-'
offers 'table json yaml' plan --output ''
offers 'text json' explain -o ''
offers 'text json' version -o ''
offers 'plan config --help' schema ''
offers '--gang' explain '--g'
offers 'bash_test.sh' explain x --plan 'bash_'
offers 'fast real 10x' run --speed ''
offers 'bash_test.sh' plan --filename 'bash_'
offers 'table json yaml' plan -o ''
offers 'json' plan -f x.yaml -o 'j'
offers 'bash_test.sh' plan -f 'bash_'
offers '' plan --for ''
offers '--kubeconfig' run '--k'
offers '--in-cluster' run '--i'
offers 'manifests kwok perfetto swf' export --format ''
offers 'table json html' referee -o ''
offers 'table json' history x -o ''
offers 'bash_test.sh' replay --record 'bash_'
offers 'bash zsh fish --help' completion ''
offers 'bash_test.sh' check 'bash_'
# A file named like a command does not change which command was typed.
offers '--for' plan -f run '--fo'

exit "$((failures > 0))"
