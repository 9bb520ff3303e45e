# Memory-optimized against disk-based tables: inmem-compare.sh in PowerShell.
$n = if ($env:N) { [int]$env:N } else { 10 }
$r = if ($env:R) { [int]$env:R } else { 50 }
. (Join-Path $PSScriptRoot 'connect.ps1')

try {
    Invoke-Gostress workload install inmem-oltp @connect "-d$database"
    foreach ($form in 'inmem', 'ondisk') {
        Invoke-Gostress workload reset inmem-oltp @connect "-d$database"
        $file = Join-Path $work "$form.sql"
        Invoke-Gostress workload show "inmem-oltp/$form" | Set-Content -Path $file -Encoding utf8
        Invoke-Gostress "-n$n" "-r$r" @connect "-d$database" '-q' "-i$file" "-o$(Join-Path $out $form)" '--json' (Join-Path $out "$form.json")
        Invoke-Gostress workload verify inmem-oltp @connect "-d$database" '--only' $form '--orders' ($n * $r * 20)
    }
    Invoke-Gostress workload uninstall inmem-oltp @connect "-d$database"
    Invoke-Gostress compare (Join-Path $out 'inmem.json') (Join-Path $out 'ondisk.json')
} finally {
    Stop-Example
}
