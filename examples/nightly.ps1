# A job for every night that reads the JSON report: nightly.sh in PowerShell.
$n = if ($env:N) { [int]$env:N } else { 8 }
$r = if ($env:R) { [int]$env:R } else { 100 }
$p99 = if ($env:P99_MS) { [double]::Parse($env:P99_MS, [cultureinfo]::InvariantCulture) } else { 100 }
$state = if ($env:STATE) { $env:STATE } else { 'nightly' }
. (Join-Path $PSScriptRoot 'connect.ps1')

$problems = @()
try {
    New-Item -ItemType Directory -Path $state -Force | Out-Null
    $file = Join-Path $out 'nightly.json'
    $last = Join-Path $state 'last.json'
    $where = if ($env:GOSTRESS_DATABASE) { @("-d$database") } else { @() }
    Invoke-Gostress @connect @where "-n$n" "-r$r" '-q' "-i$(Join-Path $PSScriptRoot 'sql/20-sum.sql')" "-o$(Join-Path $out 'nightly')" '--json' $file

    $report = Get-Content -Raw -Path $file | ConvertFrom-Json
    "$($report.batches) batches, $($report.failed_batches) failed, $([math]::Floor($report.batches_per_s))/s, p99 $($report.latency.batch.p99_us / 1000) ms"
    if ($report.failed_batches + $report.in_doubt + $report.connect_failed -gt 0) {
        $problems += "batches or connections failed: $($report.errors_by_number | ConvertTo-Json -Compress)"
    }
    if ($report.latency.batch.p99_us -gt $p99 * 1000) { $problems += "the 99th percentile is above $p99 ms" }
    if (Test-Path $last) {
        Invoke-Gostress compare $last $file
        $before = Get-Content -Raw -Path $last | ConvertFrom-Json
        if ($report.batches_per_s -lt 0.8 * $before.batches_per_s) { $problems += 'the rate fell by more than a fifth since the last good night' }
    }
    if ($problems.Count -eq 0) { Copy-Item -Path $file -Destination $last -Force }
} finally {
    Stop-Example
}
if ($problems.Count -gt 0) {
    $problems | ForEach-Object { [Console]::Error.WriteLine("FAILED: $_") }
    exit 1
}
