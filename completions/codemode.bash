# Completion of codemode for bash. `codemode __commands` prints what it must know; tests/e2e/cli.test.mjs compares.

_codemode_globals='--config --store --runtime --json --help -h --version'
declare -A _codemode_options=(
    [run]='--eval -e --snippet --input --limits'
    [serve]=''
    [tools]='--limit'
    [call]=''
    [executions]='--limit --watch'
    [pending]='--watch'
    [approve]='--args --hash --reason --yes -y'
    [reject]='--reason'
    [cancel]=''
    [rollback]='--again --done'
    [prune]='--keep --expire'
    [store]=''
    [snippets]='--description --schema'
    [check]='--trust'
    [types]='--schema --openapi --name'
    [normalize]='--eval -e'
)
declare -A _codemode_words=([tools]='search describe' [snippets]='save show delete' [executions]='delete' [store]='backup')

_codemode()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ -n ${COMP_WORDS[i]} && -v _codemode_options[${COMP_WORDS[i]}] ]]; then
            command=${COMP_WORDS[i]}
            break
        fi
    done
    case $previous in
        --config | --schema | --openapi)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return 0
            ;;
        --store)
            mapfile -t COMPREPLY < <(compgen -W 'sqlite: memory:' -- "$current")
            return 0
            ;;
        --runtime | --eval | -e | --snippet | --description | --input | --limits | --limit | --name | --keep | --args | --hash | --reason | --expire) return 0 ;;
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$_codemode_globals ${command:+${_codemode_options[$command]}}" -- "$current")
    elif [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${!_codemode_options[*]} help" -- "$current")
    else
        mapfile -t COMPREPLY < <(
            compgen -W "${_codemode_words[$command]:-}" -- "$current"
            compgen -f -- "$current"
        )
    fi
}
complete -o filenames -F _codemode codemode
