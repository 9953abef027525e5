#!/usr/bin/env bash
# The packages of a binary: dist.sh BINARY FOLDER makes a tarball, a .deb and a wheel there.
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$1
mkdir -p "$2"
out=$(realpath "$2")
version=$("$binary" --version | sed -n '1s/^lavant //p')
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "dist: '$binary --version' says no version" >&2; exit 1; }
# The same sources make the same packages, byte for byte.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

name=lavant-$version-linux-$(uname -m)
packaging/stage.sh "$binary" "$work/$name" /usr/local
mv "$work/$name"/share/doc/lavant/* "$work/$name"
rm -r "$work/$name/share/doc"
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -c "$name" |
    gzip -9n >"$out/$name.tar.gz"

debian=$work/debian
packaging/stage.sh "$binary" "$debian/usr" /usr
mv "$debian/usr/lib" "$debian/lib"  # where Debian 12 has its units
mkdir -p "$debian/usr/lib/systemd"
mv "$debian/lib/systemd/user" "$debian/usr/lib/systemd/user"
mv "$debian/usr/share/doc/lavant/LICENSE" "$debian/usr/share/doc/lavant/copyright"
install -D -m 644 packaging/default "$debian/etc/default/lavant"
install -d "$debian/DEBIAN"
install -m 755 packaging/debian/{postinst,prerm,postrm} "$debian/DEBIAN"
echo /etc/default/lavant >"$debian/DEBIAN/conffiles"
architecture=$(dpkg --print-architecture)
sed -e "s/@version@/$version/; s/@architecture@/$architecture/" \
    -e "s/@size@/$(du -sk --exclude=DEBIAN "$debian" | cut -f1)/" packaging/debian/control >"$debian/DEBIAN/control"
(cd "$debian" && find usr lib -type f -print0 | sort -z | xargs -0 md5sum) >"$debian/DEBIAN/md5sums"
dpkg-deb --root-owner-group -Zxz --build "$debian" "$out/lavant_${version}_$architecture.deb" >/dev/null

packaging/stage.sh "$binary" "$work/wheel" /usr/local
python3 packaging/wheel.py "$version" "$work/wheel" "$out"
ls -l "$out" | awk 'NR > 1 {print "dist:", $NF, $5, "bytes"}'
