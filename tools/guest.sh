#!/usr/bin/env bash
# Runs the suites that depend on the layout of cgroups on a kernel where cgroup v2 is the only one: Debian's cloud kernel in
# a QEMU guest, emulated, so that it works where the machine itself is hybrid or has no KVM. Nothing is installed: packages
# are downloaded and unpacked below build/guest.
#
#     tools/guest.sh [BUILD [SUITE]]    BUILD has the test programs (build/dev); without sanitizers, because emulation is slow
#
# Each suite runs twice: in a cgroup of its own, as a service does, and in the root cgroup.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/dev}
work=build/guest
limit_s=${LAVANT_GUEST_LIMIT:-1500}
suites=(src/host/test_host src/adapters/sandbox_linux/test_sandbox_linux src/adapters/nodes_local/test_nodes_local)
[ $# -lt 2 ] || mapfile -t suites < <(printf '%s\n' "${suites[@]}" | grep "/$2$")
programs=(bash sh awk cat chmod chown cp cut dd dirname env false grep head id kill ln ls mkdir mktemp mount mv ps readlink rm
          rmdir sed seq setsid sleep sort stat tail test touch tr true umount uniq wc)
# In the order in which they can be loaded.
modules=(virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk overlay)

fetch() {  # Package names; unpacked into $work/unpacked.
    local folder=$PWD/$work
    mkdir -p "$work/packages" "$work/unpacked"
    (cd "$work/packages" && apt-get download -q "$@" >"$folder/apt.log" 2>&1) || {
        cat "$work/apt.log" >&2
        echo "guest: cannot download $*; run 'apt-get update', then this again" >&2
        exit 1
    }
    for package in "$work"/packages/*.deb; do dpkg -x "$package" "$work/unpacked"; done
    rm -r "$work/packages"
}

fetch_all() {
    local kernel machine
    kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    if [ -z "$kernel" ]; then
        [ "$(id -u)" -eq 0 ] && apt-get update -q >/dev/null
        kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    fi
    [ -n "$kernel" ] || { echo "guest: apt knows no linux-image-cloud-amd64; run 'apt-get update' as root" >&2; exit 1; }
    # With what it needs and this machine lacks.
    machine=$(apt-get install --print-uris --no-install-recommends -qq -y qemu-system-x86 | sed -n "s/^'[^']*' \([^_]*\)_.*/\1/p")
    rm -rf "$work/unpacked"
    # shellcheck disable=SC2086
    fetch "$kernel" busybox-static $machine
    touch "$work/unpacked/complete"
}

copy_with_libraries() {  # program, target folder
    install -D -m 0755 "$(readlink -f "$1")" "$2/$(basename "$1")"
    local library
    for library in $(ldd "$(readlink -f "$1")" | sed -n -e 's/.*=> \(\/[^ ]*\) .*/\1/p' -e 's/^\t\(\/[^ ]*\) (.*/\1/p'); do
        [ -e "$root/${library#/}" ] || install -D -m 0755 "$(readlink -f "$library")" "$root/${library#/}"
    done
}

# The system that the tests see, on a disk: the first file system of a kernel cannot be pivoted away from.
make_disk() {
    root=$work/root
    rm -rf "$root" && mkdir -p "$root"/{dev,proc,sys,tmp,etc,var/tmp,home,mnt,root,run,tests,usr/{bin,sbin,lib,lib64,share}}
    chmod 1777 "$root/tmp" "$root/var/tmp"
    for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
    local program suite
    for program in "${programs[@]}"; do copy_with_libraries "$(PATH=/usr/bin:/bin:/usr/sbin:/sbin type -P "$program")" "$root/usr/bin"; done
    for suite in "${suites[@]}"; do
        copy_with_libraries "$build/$suite" "$root/tests"
        strip --strip-debug "$root/tests/$(basename "$suite")"
    done
    printf 'root:x:0:0::/root:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n' >"$root/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
    cat >"$root/tests/start" <<'INSIDE'
#!/bin/bash
export PATH=/usr/bin:/bin HOME=/root LANG=C LAVANT_SANDBOX_ROUNDS=30
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mkdir -p /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
ln -sf /proc/self/fd /dev/fd
ln -sf /proc/self/fd/0 /dev/stdin
ln -sf /proc/self/fd/1 /dev/stdout
ln -sf /proc/self/fd/2 /dev/stderr
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo '+memory +cpu +pids' > /sys/fs/cgroup/cgroup.subtree_control
echo "guest: controllers $(cat /sys/fs/cgroup/cgroup.controllers)"
number=0
for suite in /tests/test_*; do
    for place in service /; do
        own=/sys/fs/cgroup
        # What runs without cgroups, and for users who have none, is the same everywhere.
        without=SandboxForOthers.*:*WithoutCgroups:*WithProcessGroupsOnly
        [ "$place" = / ] || { own=/sys/fs/cgroup/service-$((++number)); mkdir "$own"; }
        (echo 0 > "$own/cgroup.procs"; exec "$suite" --gtest_brief=1 --gtest_color=no "--gtest_filter=-$without")
        echo "guest: ${suite#/tests/} in $place ended with $?"
    done
done
echo "guest: left behind: $(cd /sys/fs/cgroup && ls -d */ | grep -v ^service- | tr -d '\n')"
echo "guest: done"
echo b > /proc/sysrq-trigger  # QEMU ends when the guest starts anew
INSIDE
    chmod 0755 "$root/tests/start"
    rm -f "$work/disk"
    truncate -s 512M "$work/disk"
    /sbin/mke2fs -q -t ext4 -E root_owner=0:0 -d "$root" "$work/disk"
    rm -rf "$root"
}

# Loads what the disk needs and goes over to it.
make_start() {
    local start=$work/start module
    rm -rf "$start" && mkdir -p "$start"/{bin,dev,modules,disk}
    cp "$work/unpacked/bin/busybox" "$start/bin/busybox"
    for module in "${modules[@]}"; do
        cp "$(find "$work/unpacked/lib/modules" -name "$module.ko")" "$start/modules/"
    done
    cat >"$start/init" <<INSIDE
#!/bin/busybox sh
busybox mount -t devtmpfs dev /dev
for module in ${modules[*]}; do busybox insmod /modules/\$module.ko; done
busybox mount -t ext4 /dev/vda /disk
busybox mount -t devtmpfs dev /disk/dev
exec busybox switch_root /disk /tests/start
INSIDE
    chmod 0755 "$start/init"
    (cd "$start" && find . | bin/busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$work/start.gz"
    rm -rf "$start"
}

boot() {
    local libraries=$work/unpacked/usr/lib/x86_64-linux-gnu:$work/unpacked/lib/x86_64-linux-gnu
    local qemu=$work/unpacked/usr/bin/qemu-system-x86_64
    if [ ! -x "$qemu" ]; then
        qemu=qemu-system-x86_64
        libraries=
    fi
    LD_LIBRARY_PATH=$libraries timeout --foreground "$limit_s" "$qemu" -L "$work/unpacked/usr/share/seabios" \
        -L "$work/unpacked/usr/share/qemu" -L /usr/share/seabios -L /usr/share/qemu \
        -accel tcg,thread=multi -cpu max -smp 2 -m 1024 -display none -no-reboot -nodefaults -serial stdio -monitor none \
        -drive "file=$work/disk,format=raw,if=virtio,cache=unsafe" \
        -kernel "$(echo "$work"/unpacked/boot/vmlinuz-*)" -initrd "$work/start.gz" \
        -append "console=ttyS0 quiet loglevel=${LAVANT_GUEST_LOGLEVEL:-3} panic=-1" </dev/null | tr -d '\r' | tee "$work/console.txt"
}

[ -e "$work/unpacked/complete" ] || fetch_all
for suite in "${suites[@]}"; do
    [ -x "$build/$suite" ] || { echo "guest: $build/$suite is not there; build it first: make guest" >&2; exit 1; }
done
make_disk
make_start
boot || echo "guest: the machine was stopped after $limit_s s, or did not start" >&2
grep -q '^guest: done$' "$work/console.txt" || echo "guest: the machine ended before its time" >&2
good=$(grep -c '^guest: test_.* ended with 0$' "$work/console.txt" || true)
wanted=$((2 * ${#suites[@]}))
echo "guest: $good of $wanted runs passed"
[ "$good" -eq "$wanted" ] && grep -q '^guest: done$' "$work/console.txt"
