#!/bin/sh
# Fills the folder that a container has beside its Python: libraries, Sigla, its health check.
#
#   container/fill.sh FROM INTO      FROM holds container.txt and one wheel; PYTHON=python3 is that of the container
set -eu
from=$1 into=$2 python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
pip() { "$python" -m pip --quiet --disable-pip-version-check --no-cache-dir "$@"; }

pip install --no-compile --require-hashes --only-binary :all: --target "$into" --requirement "$from/container.txt"
pip install --no-compile --no-deps --target "$into" "$from"/sigla_registry-*.whl
cp "$here/healthy.py" "$into/"
rm -rf "$into/bin" # commands, of a Python that stands elsewhere
# Most of a compiled library is names for debuggers.
find "$into" -name '*.so' -exec strip --strip-unneeded {} +
# The root is read-only: what is not compiled now would be compiled at each start.
"$python" -m compileall -q --invalidation-mode unchecked-hash "$into"
