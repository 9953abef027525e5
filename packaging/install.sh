#!/usr/bin/env bash
# install.sh install|uninstall BINARY PREFIX: everything of packaging/stage.sh below $DESTDIR$PREFIX, or away from there.
set -euo pipefail
what=$1 binary=$2 prefix=${3%/}
target=${DESTDIR:-}$prefix
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
"$(dirname "$0")/stage.sh" "$binary" "$staged" "$prefix"
cd "$staged"
if [ "$what" = install ]; then
    # One after the other, each by a rename: a `lavant` that runs keeps its file.
    find . -type f | while read -r file; do
        install -D -m "$(stat -c %a "$file")" "$file" "$target/$file.new"
        mv -f "$target/$file.new" "$target/$file"
    done
else
    find . -type f | while read -r file; do rm -f "$target/$file"; done
    find . -mindepth 1 -depth -type d | grep lavant | while read -r folder; do
        rmdir --ignore-fail-on-non-empty "$target/$folder" 2>/dev/null || true
    done
fi
