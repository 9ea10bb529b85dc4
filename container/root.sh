#!/bin/sh
# Puts the root of a container together from Debian's packages: Python and what it loads, no shell, no package manager.
#
#   container/root.sh ROOT      ROOT is a folder that is not there yet; as root, with mmdebstrap
set -eu
root=$1
# Debian 13, whose Python is 3.13: what is compiled for one is loaded by the other.
mmdebstrap --quiet --variant=extract \
    --include=base-files,python3-minimal,libpython3-stdlib,libsqlite3-0,zlib1g,libexpat1,libffi8,libuuid1 \
    trixie "$root"
# Authorities that the machine which builds it trusts: `sigla import https://…` checks certificates.
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
# What is read by people, and what a package manager would keep.
rm -rf "$root/usr/share/doc" "$root/usr/share/man" "$root/usr/share/locale" "$root/usr/share/info" "$root/var"
# Tables of the C library for old character sets: Python has its own.
rm -rf "$root"/usr/lib/*/gconv
install -d "$root/var/tmp" && chmod 1777 "$root/var/tmp"
# A volume that is made for it belongs to the user that runs it.
install -d -o 65532 -g 65532 "$root/data"
