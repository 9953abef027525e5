#!/usr/bin/env bash
# Installs what tools/packages.txt names and the machine lacks. Does nothing, quickly, when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t wanted < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' tools/packages.txt)

if ! command -v dpkg-query >/dev/null; then
    echo "bootstrap: this is not a Debian system; install what tools/packages.txt names, then run the target again" >&2
    command -v cmake >/dev/null && command -v ninja >/dev/null && command -v g++ >/dev/null
    exit
fi

installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null | sed -n 's/^ii *//p')
missing=()
for package in "${wanted[@]}"; do
    grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

install=(apt-get install -y --no-install-recommends "${missing[@]}")
if [ "$(id -u)" -ne 0 ]; then
    echo "bootstrap: these packages are missing; run as root: apt-get update && ${install[*]}" >&2
    exit 1
fi
echo "bootstrap: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# A mirror that drops a connection is tried again before the build gives up.
for attempt in 1 2 3; do
    if apt-get update -q && "${install[@]}" -q; then
        exit 0
    fi
    echo "bootstrap: apt-get failed (attempt $attempt of 3)" >&2
done
echo "bootstrap: cannot install ${missing[*]}; look at the lines above, then run the target again" >&2
exit 1
