#compdef aye
# Completions of aye for zsh: save this file as _aye in a folder of $fpath, or source it after compinit.

_aye() {
    local -a lines items
    local line value
    lines=("${(@f)$(AYE_COMPLETE=zsh command aye "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    # The first line says what zsh adds; the others are a value, a tab and a description.
    for line in "${(@)lines[2,-1]}"; do
        value=${line%%$'\t'*}
        value=${value//\\/\\\\}
        value=${value//:/\\:}
        [[ $line == *$'\t' ]] || value+=":${line#*$'\t'}"
        items+=("$value")
    done
    (( $#items )) && _describe -V aye items
    case $lines[1] in
        files|folders)
            [[ $PREFIX == --*=* ]] && compset -P '*='
            if [[ $lines[1] == files ]]; then
                _files
            else
                _files -/
            fi
            ;;
    esac
}

# The first call of an autoloaded function defines it; a sourced file registers it.
if [[ $funcstack[1] == _aye ]]; then
    _aye "$@"
elif (( $+functions[compdef] )); then
    compdef _aye aye
fi
