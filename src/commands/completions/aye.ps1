# Completions of aye for PowerShell: `aye completions powershell | Out-String | Invoke-Expression` in $PROFILE

Register-ArgumentCompleter -Native -CommandName aye -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words are passed as they are: nothing in them is evaluated.
    $words = @()
    foreach ($element in $commandAst.CommandElements) {
        if ($element.Extent.EndOffset -ge $cursorPosition) { break }
        if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
            $words += $element.Value
        } else {
            $words += $element.Extent.Text
        }
    }
    $previous = $env:AYE_COMPLETE
    $env:AYE_COMPLETE = 'powershell'
    try {
        # An empty last argument would be dropped by older versions, so it begins with a plus sign.
        $lines = @(& (Get-Command aye -CommandType Application | Select-Object -First 1) @words "+$wordToComplete" 2>$null)
    } catch {
        $lines = @()
    } finally {
        $env:AYE_COMPLETE = $previous
    }
    # The first line says what is added; the others are a value, a tab and a description.
    $lines | Select-Object -Skip 1 | ForEach-Object {
        $value, $description = $_ -split "`t", 2
        $text = $value
        if ($value -notmatch '^[A-Za-z0-9_./:=+-]+$') { $text = "'" + $value.Replace("'", "''") + "'" }
        if (-not $description) { $description = $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $description)
    }
    if ($lines.Count -gt 0 -and ($lines[0] -eq 'files' -or $lines[0] -eq 'folders')) {
        [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
    }
}
