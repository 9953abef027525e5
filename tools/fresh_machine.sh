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

. tools/roots.sh

make_root "$folder" git,make,ca-certificates
root=$(cd "$folder" && pwd)
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

in_root "$root" "" bash /lavant/inside.sh ${targets[*]}
