# Runs every .sql file of a directory and fails if one of them does: sql-dir.sh in
# PowerShell.
param([string]$Directory = (Join-Path $PSScriptRoot 'sql'))
. (Join-Path $PSScriptRoot 'connect.ps1')

$failed = @()
try {
    $files = @(Get-ChildItem -Path $Directory -Filter *.sql | Sort-Object Name)
    if ($files.Count -eq 0) { throw "there is no .sql file in $Directory" }
    $where = if ($env:GOSTRESS_DATABASE) { @("-d$database") } else { @() }
    foreach ($file in $files) {
        & $gostress @connect @where '-b' "-i$($file.FullName)" "-o$(Join-Path $out $file.BaseName)"
        if ($LASTEXITCODE -ne 0) { $failed += $file.FullName }
    }
} finally {
    Stop-Example
}
if ($failed.Count -gt 0) {
    $failed | ForEach-Object { [Console]::Error.WriteLine("FAILED: $_") }
    exit 1
}
"All files of $Directory ran without an error."
