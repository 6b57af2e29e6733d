# Completions of aye for nushell: save this file as ~/.config/nushell/aye.nu, and add `use aye.nu` at the end of config.nu

# The text of a word as aye receives it. The word at the cursor may lack the closing quote.
def unquote []: string -> string {
    let word = $in
    if $word !~ "^[\"'`]" { return $word }
    let quote = ($word | str substring 0..0)
    if $quote == '"' {
        try { return ($word | from nuon) }
    }
    let text = ($word | str substring 1..)
    if ($text | str ends-with $quote) { $text | str substring 0..<(($text | str length) - 1) } else { $text }
}

# A value as a word of a command line. Strings in double quotes hold no variables, paths or patterns, and without an
# exclamation mark nothing of the history is inserted.
def quote-value []: string -> string {
    if $in =~ '^[A-Za-z0-9_./:=,+-]+$' { $in } else { $in | to nuon | str replace --all '!' '\u{21}' }
}

# The files, or only the folders, whose path completes the value of `--option=path`.
def complete-path [word: string, added: string] {
    let fields = ($word | parse --regex '^(?<option>--[^=]+=)(?<folder>(?:.*/)?)(?<name>[^/]*)$' | first)
    let folder = (if $fields.folder == '' { '.' } else { $fields.folder | path expand })
    try { ls --all --short-names $folder } catch { [] }
    | where {|file| ($file.name | str starts-with $fields.name) and ($file.type == dir or $added == files) }
    | each {|file|
        let end = (if $file.type == dir { '/' } else { '' })
        {value: ($fields.option + $fields.folder + $file.name + $end | quote-value), description: ''}
    }
}

# Null lets nushell complete the names of files.
def complete-aye [spans: list<string>] {
    let words = ($spans | skip 1 | each { unquote })
    let lines = (with-env {AYE_COMPLETE: nushell} { try { ^aye aye ...$words | complete | get stdout | lines } catch { [] } })
    # The first line says what nushell adds; the others are a value, a tab and a description.
    let added = ($lines | get --optional 0 | default none)
    let values = ($lines | skip 1 | each {|line|
        let fields = ($line | split row --number 2 "\t")
        {value: ($fields.0 | quote-value), description: ($fields | get --optional 1 | default '')}
    })
    if $added == none or ($values | is-not-empty) {
        $values
    } else if ($words | last) =~ '^--[^=]+=' {
        complete-path ($words | last) $added
    } else {
        null
    }
}

export-env {
    # Completions of other programs stay as they are.
    let previous = ($env.config.completions.external.completer)
    $env.config.completions.external.completer = {|spans|
        if ($spans.0 | path basename) == aye {
            complete-aye $spans
        } else if $previous != null {
            do $previous $spans
        }
    }
}
