#!/usr/bin/env bash
# The packages on a Debian 12 without a compiler or a network, for an ordinary user, and an upgrade: clean_root.sh FOLDER DIST
# OLDER_DIST. Makes the root in FOLDER (kept after a failure, so that it can be looked at). Needs root, debootstrap and ip.
set -euo pipefail
folder=$1 dist=$(realpath "$2") older=$(realpath "$3")
cd "$(dirname "$0")/.."
. tools/roots.sh

make_root "$folder" python3,python3-venv
mkdir -p "$folder/packages/older"
cp "$dist"/* "$folder/packages/"
cp "$older"/* "$folder/packages/older/"
cp -r examples packaging/tests "$folder/packages/"
chmod -R a+rX "$folder/packages"
in_root "$folder" --net useradd --create-home --shell /bin/bash someone
in_root "$folder" --net bash /packages/tests/packages.sh
in_root "$folder" --net bash /packages/tests/upgrade.sh
rm -rf "$folder" "$folder.log"
