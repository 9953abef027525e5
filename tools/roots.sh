# New Debian 12 roots to try things in. To be sourced; needs root and debootstrap.

# make_root FOLDER PACKAGES: must not exist yet. With the machine's own way to the package registries, and nothing else of it.
make_root() {
    local root=$1 packages=$2 file
    [ "$(id -u)" -eq 0 ] || { echo "$(basename "$0"): needs root" >&2; exit 1; }
    [ ! -e "$root" ] || { echo "$(basename "$0"): $root exists; remove it or name another" >&2; exit 1; }
    mkdir -p "$root"
    debootstrap --variant=minbase --include="$packages" bookworm "$root" >"$root.log" 2>&1 ||
        { tail -5 "$root.log" >&2; exit 1; }
    for file in etc/resolv.conf etc/hosts etc/pip.conf etc/ssl/certs/ca-certificates.crt etc/apt/apt.conf.d etc/apt/sources.list.d; do
        [ ! -e "/$file" ] || { mkdir -p "$root/$(dirname "$file")" && cp -rL "/$file" "$root/$(dirname "$file")/"; }
    done
    [ ! -d /etc/apt/sources.list.d ] || [ -z "$(ls /etc/apt/sources.list.d)" ] || rm -f "$root/etc/apt/sources.list"
}

# in_root ROOT SHARE COMMAND...: with an environment of its own; SHARE is what else unshare(1) sets apart, "" for nothing. A
# network that is set apart has its loopback.
in_root() {
    local root share=$2
    root=$(cd "$1" && pwd)
    shift 2
    # shellcheck disable=SC2086
    unshare --mount $share --propagation private bash -c '
        set -e
        mount --bind "$0" "$0"
        cd "$0"
        [ "$1" = "" ] || ip link set lo up
        shift
        mount --rbind /dev dev; mount --rbind /sys sys; mount -t proc proc proc
        mkdir -p old
        pivot_root . old
        umount -l old
        exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CI=true \
            PIP_CERT=/etc/ssl/certs/ca-certificates.crt SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt "$@"' \
        "$root" "$share" "$@"
}
