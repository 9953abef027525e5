#!/usr/bin/env bash
# In a clean root, as root: a newer package comes while an older server has jobs. The next command replaces the server; no job is lost.
set -euo pipefail
cd /packages

home=$(getent passwd someone | cut -d: -f6)
as_user() { setpriv --reuid someone --regid someone --init-groups env HOME="$home" USER=someone bash -euo pipefail -c "$1"; }
# Two builds of one version differ, too.
build_of_server() { sed 's/.*"version":"\([^"]*\)","build":"\([^"]*\)".*/\1 \2/' "$home/.local/state/lavant/endpoint"; }

dpkg -i older/lavant_*.deb
before=$(lavant --version | sed -n '1s/^lavant //p')
rm -f "$home/gate"
cat >"$home/wait.yml" <<JOB
command: while [ ! -e $home/gate ]; do sleep 0.1; done; echo through
environment: {image: library/python:latest}
properties: {lavant.sandbox: "off"}
JOB
chown someone: "$home/wait.yml"
as_user 'for job in one two; do lavant job create -f ~/wait.yml --name $job; done
    until [ "$(lavant job list --status Running -o json | python3 -c "import json, sys; print(len(json.load(sys.stdin)))")" -ge 1 ]; do sleep 0.2; done'
older=$(build_of_server)
[[ $older == "$before "* ]]

dpkg -i lavant_*.deb
after=$(lavant --version | sed -n '1s/^lavant //p')
as_user 'lavant job list'
newer=$(build_of_server)
[ "$newer" != "$older" ] || { echo "upgrade: the server is still $older" >&2; exit 1; }
as_user 'touch ~/gate
    for job in one two; do lavant job stream $job | grep -q through; done
    [ "$(lavant job list --status Completed -o json | python3 -c "import json, sys; print(len(json.load(sys.stdin)))")" -eq 2 ]
    lavant down; rm -rf ~/.local/state/lavant ~/gate'
dpkg -P lavant
echo "upgrade: from $older to $newer with jobs running: none was lost"
