# Where the examples run: sourced by each of them, not run by itself.
#
#   GOSTRESS           the program (default gostress, from the PATH)
#   GOSTRESS_SERVER    the server, as behind -S; without it gostress's embedded
#                      engine is started, and stopped at the end
#   GOSTRESS_USER      SQL login; without it integrated authentication (-E)
#   GOSTRESS_PASSWORD  its password, which no command line shows
#   GOSTRESS_DATABASE  database (default gostress_example)
#   GOSTRESS_OUTPUT    directory for results (default ./results)
#
# It sets gostress, connect (switches), database, out and work (a directory that
# goes at the end).

gostress=${GOSTRESS:-gostress}
database=${GOSTRESS_DATABASE:-gostress_example}
out=${GOSTRESS_OUTPUT:-results}
work=$(mktemp -d)
engine=

finish() {
  if [ -n "$engine" ]; then
    kill "$engine" 2>/dev/null || true
    wait "$engine" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -n "${GOSTRESS_SERVER:-}" ]; then
  connect=("-S$GOSTRESS_SERVER")
  if [ -n "${GOSTRESS_USER:-}" ]; then
    connect+=("-U$GOSTRESS_USER")
    if [ -n "${GOSTRESS_PASSWORD:-}" ]; then export SQLCMDPASSWORD=$GOSTRESS_PASSWORD; fi
  else
    connect+=(-E)
  fi
else
  SQLCMDPASSWORD=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  export SQLCMDPASSWORD
  GOSTRESS_SERVE_PASSWORD=$SQLCMDPASSWORD "$gostress" serve --listen 127.0.0.1:0 >"$work/serve.log" 2>&1 &
  engine=$!
  until grep -q '^listening on ' "$work/serve.log"; do
    if ! kill -0 "$engine" 2>/dev/null; then
      cat "$work/serve.log" >&2
      exit 1
    fi
    sleep 0.1
  done
  address=$(sed -n 's/^listening on //p' "$work/serve.log")
  connect=("-S${address%:*},${address##*:}" -Usa)
fi
mkdir -p "$out"
