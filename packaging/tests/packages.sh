#!/usr/bin/env bash
# In a clean root, as root, without a network: the first job from the tarball, the .deb and the wheel, as a user.
set -euo pipefail
cd /packages

for compiler in cc gcc g++ c++ clang make; do
    ! command -v $compiler || { echo "packages: $compiler is here; this root is not clean" >&2; exit 1; }
done
home=$(getent passwd someone | cut -d: -f6)
as_user() { setpriv --reuid someone --regid someone --init-groups env HOME="$home" USER=someone bash -euo pipefail -c "$1"; }
# A job that ends well, seen by its log and by its status.
hello() {
    as_user "export PATH=$1:\$PATH; cd
        [ \"\$(command -v lavant)\" = $1/lavant ]
        lavant job create -f /packages/examples/hello/job.yml --stream >hello.log
        grep -q 'Hello, world!' hello.log
        lavant job list | grep -q Completed
        lavant down
        rm -rf .local/state/lavant hello.log"
    echo "packages: $2: the first job ran"
}

as_user "mkdir -p ~/tarball && tar -xzf /packages/lavant-*.tar.gz -C ~/tarball --strip-components=1"
for file in README.md LICENSE examples/hello/job.yml share/man/man1/lavant.1.gz share/zsh/site-functions/_lavant \
            share/bash-completion/completions/lavant share/fish/vendor_completions.d/lavant.fish lib/systemd/system/lavant.service 'lib/systemd/system/lavant-agent@.service'; do
    [ -s "$home/tarball/$file" ] || { echo "packages: the tarball has no $file" >&2; exit 1; }
done
hello "$home/tarball/bin" tarball

dpkg -i lavant_*.deb
getent passwd lavant >/dev/null
(cd / && md5sum --quiet -c /var/lib/dpkg/info/lavant.md5sums)
hello /usr/bin deb
dpkg -r lavant
[ ! -e /usr/bin/lavant ] || { echo "packages: the .deb left /usr/bin/lavant behind" >&2; exit 1; }
dpkg -P lavant

as_user "python3 -m venv ~/venv && ~/venv/bin/pip install -q --no-index /packages/lavant-*.whl"
hello "$home/venv/bin" wheel
as_user "~/venv/bin/pip uninstall -q -y lavant && [ ! -e ~/venv/bin/lavant ]"
