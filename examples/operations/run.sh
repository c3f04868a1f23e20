#!/usr/bin/env bash
# The sessions of docs/operations.md, played again against a run that trains; --write puts what they print into the page.
#
#   examples/operations/run.sh [--write]      about three minutes on two cores, after `./dev build`
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
allot=${ALLOT:-$root/build/allot}
python=python3
if [ -x "$root/.venv/bin/python" ]; then python=$root/.venv/bin/python; fi
if [ ! -x "$allot" ]; then
  echo "run.sh: there is no $allot; build it first: ./dev build" >&2
  exit 2
fi
exec "$python" "$here/run.py" "$allot" "$@"
