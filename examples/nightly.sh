#!/usr/bin/env bash
# A job for every night: runs a query from many connections, reads the JSON
# report, and fails when a batch failed, when the 99th percentile is too long, or
# when the rate fell by more than a fifth since the last good night. It needs jq.
#
#   N  connections (default 8)                R       iterations (default 100)
#   P99_MS  longest 99th percentile (100)     STATE   directory kept from night to
#                                                     night (default ./nightly)
set -euo pipefail
. "$(dirname "$0")/connect.sh"
command -v jq >/dev/null || { echo "this example needs jq" >&2; exit 1; }
n=${N:-8} r=${R:-100} p99_ms=${P99_MS:-100} state=${STATE:-nightly}
report=$out/nightly.json last=$state/last.json
mkdir -p "$state"

"$gostress" "${connect[@]}" ${GOSTRESS_DATABASE:+"-d$database"} "-n$n" "-r$r" -q "-i$(dirname "$0")/sql/20-sum.sql" "-o$out/nightly" --json "$report"

jq -r '"\(.batches) batches, \(.failed_batches) failed, \(.batches_per_s | floor)/s, p99 \(.latency.batch.p99_us / 1000) ms"' "$report"
problems=0
problem() { echo "FAILED: $*" >&2; problems=$((problems + 1)); }

if jq -e '.failed_batches + .in_doubt + .connect_failed > 0' "$report" >/dev/null; then
  problem "batches or connections failed: $(jq -c .errors_by_number "$report")"
fi
if jq -e --argjson most "$p99_ms" '.latency.batch.p99_us > $most * 1000' "$report" >/dev/null; then
  problem "the 99th percentile is above $p99_ms ms"
fi
if [ -e "$last" ]; then
  "$gostress" compare "$last" "$report"
  if jq -e --slurpfile last "$last" '.batches_per_s < 0.8 * $last[0].batches_per_s' "$report" >/dev/null; then
    problem "the rate fell by more than a fifth since the last good night"
  fi
fi
[ "$problems" -eq 0 ] || exit 1
cp "$report" "$last"
