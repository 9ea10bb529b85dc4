#!/bin/sh
# Builds the wheel sigla-registry-native into dist/, and installs it into .venv beside sigla.
#
#   native/build.sh             a wheel for every Linux since 2014, with zig as the C compiler
#   native/build.sh --arm64     the same for arm64, installed nowhere; needs `rustup target add aarch64-unknown-linux-gnu`
#   native/build.sh --here      for this machine alone: no zig, 100 MB less to fetch
#
# Needs cargo, at least what Cargo.toml says in rust-version; `make setup` first. Exits with 3 where there is none.
set -eu
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}
tools=$PWD/build/native/tools

wanted=$(sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' native/Cargo.toml)
found=$(cargo --version 2>/dev/null | sed -n 's/^cargo \([0-9]*\.[0-9]*\).*/\1/p') || true
if [ "$(printf '%s\n' "$wanted" "${found:-0}" | sort -V | head -n 1)" != "$wanted" ]; then
    echo "The extension needs cargo $wanted or newer (found: ${found:-none}); https://rustup.rs brings it." >&2
    exit 3
fi

mirror=${PIP_INDEX_URL:-$("$venv/bin/python" -m pip config get global.index-url 2>/dev/null || true)}
[ -n "$mirror" ] && [ -z "${UV_DEFAULT_INDEX:-}" ] && export UV_DEFAULT_INDEX="$mirror"
fetch() {
    UV_NO_CONFIG=1 "$venv/bin/uv" pip install --quiet --no-deps --require-hashes --target "$tools" \
        --python "$venv/bin/python" -r "requirements/$1.txt"
}
fetch maturin
case ${1:-} in
--here) how=--compatibility=linux ;;
--arm64) how="--zig --compatibility=manylinux2014 --target=aarch64-unknown-linux-gnu" ;;
"") how="--zig --compatibility=manylinux2014" ;;
*) echo "Unknown option $1. Valid options: --here, --arm64." >&2; exit 2 ;;
esac
case $how in --zig*) fetch zig ;; esac

begun=$(date +%s)
export PYTHONPATH="$tools" PATH="$tools/bin:$PATH" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-build/native/target}"
# shellcheck disable=SC2086 # two words
maturin build --quiet --release --locked --strip --interpreter "$venv/bin/python" $how \
    --manifest-path native/Cargo.toml --out dist
wheel=$(ls -t dist/sigla_registry_native-*linux*.whl | head -n 1)
told="── $wheel: $(($(wc -c <"$wheel") / 1024)) KiB, in $(($(date +%s) - begun)) s"
if [ "${1:-}" = --arm64 ]; then
    echo "$told."
    exit
fi
UV_NO_CONFIG=1 "$venv/bin/uv" pip install --quiet --offline --no-deps --reinstall --python "$venv/bin/python" "$wheel"
echo "$told; installed in $venv."
