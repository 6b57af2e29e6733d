# Completions of aye for fish: save this file as ~/.config/fish/completions/aye.fish

function __aye_complete
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l typed (commandline --current-token --cut-at-cursor)
    set -l current (string unescape -- $typed; or printf '%s\n' $typed)
    # The first line says what fish adds; the others are a value, a tab and a description.
    set -l lines (AYE_COMPLETE=fish command aye $words $current 2>/dev/null)
    set -q lines[1]; or return
    set -q lines[2]; and printf '%s\n' $lines[2..-1]
    set -l option (string match --regex '^--[^=]+=' -- $current)
    set -l path (string replace --regex '^--[^=]+=' '' -- $current)
    switch $lines[1]
        case files
            printf '%s\n' "$option"(__fish_complete_path $path)
        case folders
            printf '%s\n' "$option"(__fish_complete_directories $path)
    end
end

complete --command aye --no-files --keep-order --arguments '(__aye_complete)'
