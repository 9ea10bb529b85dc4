#!/bin/sh
# Writes the locks anew from pyproject.toml and bootstrap.in. Arguments go to uv: `requirements/lock.sh --upgrade`,
# `requirements/lock.sh --upgrade-package fastapi`. The resolution is for every platform and Python >= 3.11; hashes are
# kept, addresses are not, so a lock says what is installed and leaves open from where.
set -eu
cd "$(dirname "$0")/.."
uv=${VENV:-.venv}/bin/uv
compile() {
    target=requirements/$1.txt
    shift
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --custom-compile-command 'make lock' --output-file "$target" "$@"
}
compile dev pyproject.toml --group dev "$@"
# The smaller sets are parts of the whole, so that what was tested is what runs.
compile bootstrap requirements/bootstrap.in --constraint requirements/dev.txt "$@"
compile runtime pyproject.toml --constraint requirements/dev.txt "$@"
# Into a container nothing can be installed: it has what verifies tokens, too.
compile container pyproject.toml --extra tokens --constraint requirements/dev.txt "$@"
compile aws --group aws --constraint requirements/dev.txt "$@"
compile jobs --group jobs --constraint requirements/dev.txt "$@"
compile infra --group infra --constraint requirements/dev.txt "$@"
# Node.js as a wheel, where the machine's is missing or older than CDK wants.
compile node requirements/node.in "$@"
# What builds the extension in native/.
compile maturin requirements/maturin.in "$@"
compile zig requirements/zig.in "$@"

# LocalStack has an environment of its own, and pins that only Python 3.13 satisfies. So has the runtime of functions.
for set in requirements runtime; do
    "$uv" pip compile --quiet --python-version 3.13 --generate-hashes --custom-compile-command 'make lock' \
        --output-file "localstack/$set.txt" "localstack/$set.in" "$@"
done
