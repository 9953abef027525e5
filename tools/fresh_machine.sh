#!/usr/bin/env bash
# `make hello` and `make test` on a Debian 12 that has only git and make: a new root file system, a clone of HEAD
# with shared/ beside it, an empty compiler cache. Needs root and debootstrap. The first argument is the folder
# to make it in (kept, so that a failure can be looked at); further ones are the targets.
set -euo pipefail
folder=${1:?usage: fresh_machine.sh FOLDER [TARGET...]}
shift
targets=("${@:-hello test}")
cd "$(dirname "$0")/.."
repository=$PWD

[ "$(id -u)" -eq 0 ] || { echo "fresh_machine: needs root" >&2; exit 1; }
[ ! -e "$folder" ] || { echo "fresh_machine: $folder exists; remove it or name another" >&2; exit 1; }
mkdir -p "$folder"
root=$(cd "$folder" && pwd)

debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$root" >"$root.log" 2>&1 ||
    { tail -5 "$root.log" >&2; exit 1; }
# The machine's own way to the package registries, and nothing else of it.
for file in etc/resolv.conf etc/hosts etc/pip.conf etc/ssl/certs/ca-certificates.crt etc/apt/apt.conf.d etc/apt/sources.list.d; do
    [ ! -e "/$file" ] || cp -rL "/$file" "$root/$(dirname "$file")/"
done
[ ! -d /etc/apt/sources.list.d ] || [ -z "$(ls /etc/apt/sources.list.d)" ] || rm -f "$root/etc/apt/sources.list"
git clone -q "$repository" "$root/lavant/tree"
[ ! -d "$repository/../shared" ] || cp -r "$repository/../shared" "$root/lavant/shared"

cat >"$root/lavant/inside.sh" <<'INSIDE'
set -e
cd /lavant/tree
for target in "$@"; do
    started=$(date +%s)
    make "$target"
    echo "fresh_machine: make $target: $(($(date +%s) - started)) s"
done
INSIDE

unshare --mount --propagation private bash -c '
    set -e
    mount --bind "$0" "$0"
    cd "$0"
    mount --rbind /dev dev; mount --rbind /sys sys; mount -t proc proc proc
    mkdir -p old
    pivot_root . old
    umount -l old
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CI=true \
        PIP_CERT=/etc/ssl/certs/ca-certificates.crt SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
        bash /lavant/inside.sh "$@"' "$root" ${targets[*]}
