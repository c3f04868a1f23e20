#!/usr/bin/env bash
# A training run whose gate is tightened twice and rolled back once while it runs, and audited afterwards.
# The last line is JSON: swaps, decisions, audited, differing, changed, flip_found.
#
#   examples/hot_swap/run.sh [FOLDER]      about two minutes on two cores, after `./dev build`
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
exec "$python" "$here/hot_swap.py" "$allot" "$here" "${1:-}"
