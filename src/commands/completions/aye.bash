# Completions of aye for bash 3.2 and newer: source this file in ~/.bashrc, or save it as
# ~/.local/share/bash-completion/completions/aye

_aye() {
    COMPREPLY=()
    local line kind=
    # The first line says what bash adds; the others are quoted already.
    while IFS= read -r line; do
        if [[ -z $kind ]]; then
            kind=$line
        else
            COMPREPLY+=("$line")
        fi
    done < <(AYE_COMPLETE=bash command aye \
        "$COMP_LINE" "$COMP_POINT" "$COMP_TYPE" "$COMP_WORDBREAKS" "${COLUMNS:-80}" 2>/dev/null)
    case $kind in
        files) ;;
        folders) compopt -o dirnames +o default 2>/dev/null ;;
        *) compopt +o default 2>/dev/null ;;
    esac
}

complete -o default -o nosort -F _aye aye 2>/dev/null || complete -o default -F _aye aye
