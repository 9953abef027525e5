#!/usr/bin/env bash
# Lays out what a package has: stage.sh BINARY FOLDER PREFIX. FOLDER gets bin, lib and share; units name PREFIX/bin/lavant.
set -euo pipefail
binary=$(realpath "$1") folder=$2 prefix=$3
cd "$(dirname "$0")/.."

put() { install -D -m "$1" "$2" "$folder/$3"; }
put_output() { # MODE FILE COMMAND...: nothing is put where the command fails or is silent
    local mode=$1 file=$2 made
    shift 2
    made=$(mktemp)
    "$@" >"$made" && [ -s "$made" ] || { echo "stage: '$*' printed nothing" >&2; exit 1; }
    put "$mode" "$made" "$file"
    rm -f "$made"
}

put 755 "$binary" bin/lavant
strip "$folder/bin/lavant"
put_output 644 share/man/man1/lavant.1 "$binary" man
gzip -9nf "$folder/share/man/man1/lavant.1"
put_output 644 share/bash-completion/completions/lavant "$binary" completion bash
put_output 644 share/zsh/site-functions/_lavant "$binary" completion zsh
put_output 644 share/fish/vendor_completions.d/lavant.fish "$binary" completion fish
put_output 644 lib/systemd/system/lavant.service sed "s|@bindir@|$prefix/bin|" packaging/lavant.service
put_output 644 lib/systemd/system/lavant-agent@.service sed "s|@bindir@|$prefix/bin|" packaging/lavant-agent@.service
put_output 644 lib/systemd/user/lavant.service sed "s|@bindir@|$prefix/bin|" packaging/lavant-user.service
for file in README.md LICENSE docs/*.md examples/*/*.yml examples/*/*/*; do
    put 644 "$file" "share/doc/lavant/$file"
done
