#!/usr/bin/env bash
# Runs every .sql file of a directory, one after the other in the order of their
# names, and fails if one of them does. A file's first error ends it (-b); the
# others are run all the same.
#
#   sql-dir.sh [directory]     default: the directory sql beside this script
set -euo pipefail
. "$(dirname "$0")/connect.sh"
dir=${1:-$(dirname "$0")/sql}

failed=()
for file in "$dir"/*.sql; do
  [ -e "$file" ] || { echo "there is no .sql file in $dir" >&2; exit 1; }
  name=$(basename "$file" .sql)
  "$gostress" "${connect[@]}" ${GOSTRESS_DATABASE:+"-d$database"} -b "-i$file" "-o$out/$name" || failed+=("$file")
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo "All files of $dir ran without an error."
