# Completions of aye for Elvish: `eval (aye completions elvish | slurp)` in ~/.config/elvish/rc.elv

use str

set edit:completion:arg-completer[aye] = {|@words|
    # The first line says what is added; the others are a value, a tab and a description.
    var lines = [(try { env AYE_COMPLETE=elvish aye $@words 2>/dev/null } catch { nop })]
    if (> (count $lines) 0) {
        for line $lines[1..] {
            var value description = (str:split &max=2 "\t" $line)
            if (eq $description '') {
                put $value
            } else {
                edit:complex-candidate $value &display=$value' ('$description')'
            }
        }
        if (has-value [files folders] $lines[0]) {
            edit:complete-filename $@words
        }
    }
}
