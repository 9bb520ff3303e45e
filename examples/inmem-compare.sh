#!/usr/bin/env bash
# Memory-optimized against disk-based tables: installs the order workload, runs
# ostress's command line on each kind from the same start, checks what it left,
# and puts the two results side by side. Then everything is removed.
#
#   N  connections (default 10)        R  iterations of each (default 50)
#
# connect.sh says which server; without one the embedded engine is started. There
# both kinds of table live in memory, so that only real servers tell them apart.
set -euo pipefail
. "$(dirname "$0")/connect.sh"
n=${N:-10} r=${R:-50}

workload() { "$gostress" workload "$1" inmem-oltp "${connect[@]}" "-d$database" "${@:2}"; }

workload install
for form in inmem ondisk; do
  workload reset
  "$gostress" workload show "inmem-oltp/$form" >"$work/$form.sql"
  "$gostress" "-n$n" "-r$r" "${connect[@]}" "-d$database" -q "-i$work/$form.sql" "-o$out/$form" --json "$out/$form.json"
  workload verify --only "$form" --orders "$((n * r * 20))"
done
workload uninstall
"$gostress" compare "$out/inmem.json" "$out/ondisk.json"
