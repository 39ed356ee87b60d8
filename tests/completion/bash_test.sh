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

offers 'plan run explain simulate check version completion --help' ''
offers 'plan' 'pl'
offers '--config' plan '--c'
offers '-f --config --for --now -o --help' plan '-'
offers 'table json yaml' plan -o ''
offers 'json' plan -f x.yaml -o 'j'
offers 'bash_test.sh' plan -f 'bash_'
offers '' plan --for ''
offers '--kubeconfig' run '--k'
offers '--in-cluster' run '--i'
offers 'bash zsh fish' completion ''
offers 'bash_test.sh' check 'bash_'
# A file named like a command does not change which command was typed.
offers '--for' plan -f run '--fo'

exit "$((failures > 0))"
