#!/bin/sh
# Brings .venv to one of the locked sets: `runtime` (what `sigla serve` needs) or `dev` (everything; contains runtime).
#
#   requirements/install.sh runtime|dev
#
# Asks nothing of the machine but Python 3.11 or newer: `dev` brings Node.js where the machine has none, or an old one. A
# stamp in .venv holds a checksum of all that decides its content, so that a second call costs milliseconds.
# PYTHON=/path/to/python chooses the interpreter; VENV another place.
set -eu
cd "$(dirname "$0")/.."
group=${1:?which set: runtime or dev}
venv=${VENV:-.venv}

# What decides the content: the locks, the project's own name, version and entry points, and where it stands (an editable
# install knows its absolute path, so a moved or copied tree installs anew).
told="pyproject.toml layers/sigla/python/sigla/__init__.py requirements/bootstrap.txt requirements/node.txt"
wanted=$({ pwd; cat $told "requirements/$group.txt" "$0"; } | cksum)
runs() { "$venv/bin/python" -c '' 2>/dev/null; }
[ "$(cat "$venv/.$group" 2>/dev/null)" = "$wanted" ] && runs && exit 0
# The whole contains the part: with `dev` in place `runtime` has nothing to do.
if [ "$group" = runtime ]; then
    whole=$({ pwd; cat $told requirements/dev.txt "$0"; } | cksum)
    [ "$(cat "$venv/.dev" 2>/dev/null)" = "$whole" ] && runs && exit 0
fi

begun=$(date +%s)
say() { echo "── $*" >&2; }

# What this script looks for is the machine's: an environment that is active is not, and what stands in it may go.
case $venv in /*) own=$venv/bin ;; *) own=$PWD/$venv/bin ;; esac
PATH=$(printf '%s' "$PATH" | tr : '\n' | grep -vxF "$own" | tr '\n' :)
PATH=${PATH%:}

# A candidate must run, not only be there (version managers leave shims that fail), and be able to make environments
# (Debian ships venv's other half as python3-venv).
usable() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
find_python() {
    pyenv=${PYENV_ROOT:-$HOME/.pyenv}/versions
    for minor in 13 12 11 14; do # 13 first: it is what Lambda runs
        for candidate in "python3.$minor" "$pyenv/3.$minor".*/bin/python; do
            usable "$candidate" && { echo "$candidate"; return; }
        done
    done
    usable python3 && echo python3
}

if [ -n "${PYTHON:-}" ] || ! usable "$venv/bin/python"; then
    python=${PYTHON:-$(find_python)} || true
    if [ -z "$python" ] || ! usable "$python"; then
        echo "No usable Python 3.11 or newer (tried python3.13, .12, .11, .14, python3 and pyenv's)." >&2
        echo "On Debian and Ubuntu: apt-get install python3 python3-venv. Elsewhere: make setup PYTHON=/path/to/python." >&2
        exit 1
    fi
    say "Making $venv with $python ($("$python" --version)) …"
    "$python" -m venv --clear "$venv"
fi
rm -f "$venv/.runtime" "$venv/.dev"

# pip fetches uv, uv the rest: seconds instead of a minute.
if ! grep -qF "uv==$("$venv/bin/uv" --version 2>/dev/null | cut -d' ' -f2) " requirements/bootstrap.txt; then
    say "Fetching uv, which installs the rest …"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.txt
fi
# uv does not read pip's configuration; a machine with a mirror of its own has it there.
mirror=${PIP_INDEX_URL:-$("$venv/bin/python" -m pip config get global.index-url 2>/dev/null || true)}
[ -n "$mirror" ] && [ -z "${UV_DEFAULT_INDEX:-}" ] && export UV_DEFAULT_INDEX="$mirror"

export VIRTUAL_ENV="$venv" UV_NO_CONFIG=1
set -- "requirements/$group.txt" requirements/bootstrap.txt
# CDK and the JavaScript client run on Node.js; the Makefile puts .venv's before the machine's.
node_major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/') || true
if [ "$group" = dev ] && [ "${node_major:-0}" -lt 22 ]; then
    set -- "$@" requirements/node.txt
    say "Node.js 22 or newer is not here: it comes along, into $venv."
fi
say "Installing $(cat "$@" | grep -c '^[a-z].*==') packages into $venv; the first time takes a minute or two …"
"$venv/bin/uv" pip sync --quiet --require-hashes "$@"
# The build backend is installed, so this needs no network; what it needs at run time is in the lock already.
"$venv/bin/uv" pip install --quiet --no-deps --offline --no-build-isolation --editable .
echo "$wanted" >"$venv/.$group"
say "$venv is ready ($(($(date +%s) - begun)) s)."
