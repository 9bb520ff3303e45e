# Where the examples run: dot-sourced by each of them, not run by itself. The
# environment variables are those of connect.sh.

$ErrorActionPreference = 'Stop'
$gostress = if ($env:GOSTRESS) { $env:GOSTRESS } else { 'gostress' }
$database = if ($env:GOSTRESS_DATABASE) { $env:GOSTRESS_DATABASE } else { 'gostress_example' }
$out = if ($env:GOSTRESS_OUTPUT) { $env:GOSTRESS_OUTPUT } else { 'results' }
$work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory -Path $work | Out-Null
New-Item -ItemType Directory -Path $out -Force | Out-Null
$engine = $null

# Runs gostress; a status other than 0 ends the script.
function Invoke-Gostress {
    & $gostress @args
    if ($LASTEXITCODE -ne 0) { throw "gostress ended with status $LASTEXITCODE" }
}

# Each example calls it at its end, whatever happened.
function Stop-Example {
    if ($engine -and -not $engine.HasExited) {
        Stop-Process -Id $engine.Id
        $engine.WaitForExit()
    }
    Remove-Item -Recurse -Force $work
}

function Start-Engine {
    $env:SQLCMDPASSWORD = [Guid]::NewGuid().ToString('N')
    $env:GOSTRESS_SERVE_PASSWORD = $env:SQLCMDPASSWORD
    $log = Join-Path $work 'serve.log'
    $script:engine = Start-Process -FilePath $gostress -ArgumentList 'serve', '--listen', '127.0.0.1:0' `
        -RedirectStandardOutput $log -RedirectStandardError (Join-Path $work 'serve.err') -PassThru -NoNewWindow
    while ($true) {
        $line = Select-String -Path $log -Pattern '^listening on (.+):(\d+)$' -ErrorAction SilentlyContinue
        if ($line) {
            $groups = $line.Matches[0].Groups
            return @("-S$($groups[1].Value),$($groups[2].Value)", '-Usa')
        }
        if ($engine.HasExited) { throw "the embedded engine ended with status $($engine.ExitCode)" }
        Start-Sleep -Milliseconds 100
    }
}

if ($env:GOSTRESS_SERVER) {
    $connect = @("-S$($env:GOSTRESS_SERVER)")
    if ($env:GOSTRESS_USER) {
        $connect += "-U$($env:GOSTRESS_USER)"
        if ($env:GOSTRESS_PASSWORD) { $env:SQLCMDPASSWORD = $env:GOSTRESS_PASSWORD }
    } else {
        $connect += '-E'
    }
} else {
    $connect = Start-Engine
}
