#!/usr/bin/env bash
# Proves, in roots that hold nothing but Debian's base system, what the README promises:
#   1. with git and make alone: git clone, make demo, make test; and nothing is left outside the
#      clone but Debian's packages;
#   2. with Python but no compiler: the wheel installs into an empty environment, and measures,
#      compares and reports there.
# Needs root and debootstrap. Everything is made in build/bare/ and the base system is kept there
# for the next time. Packages come from where this machine's apt and pip get theirs.
set -euo pipefail
cd "$(dirname "$0")/.."
checkout=$PWD
work=$checkout/build/bare
suite=bookworm
home=/home/tester
# Settings that tell pip how this machine reaches its package index, and the certificates that
# it trusts; nothing else of the caller's environment goes in.
passed_on='^(PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT|PROXY)|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY)='
certificates=${PIP_CERT:-${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}}
trusted=/etc/ssl/trusted-by-the-machine.pem
trusted_by_java=/etc/ssl/trusted-by-the-machine.jks

say() { echo "bare-proof: $*"; }
fail() { echo "bare-proof: FAILED: $*" >&2; exit 1; }

need() {
    [ "$(id -u)" = 0 ] || fail "must run as root, to make a root of its own."
    command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
}

mirror() { # of this machine's own apt
    apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" "Codename: $suite" |
        grep -E '^[a-z]+:' | head -n 1
}

base() { # a tarball of the minimal system, made once
    [ -s "$work/base.tar" ] && return
    say "making a minimal $suite"
    rm -rf "$work/base"
    debootstrap --variant=minbase "$suite" "$work/base" "$(mirror)" >"$work/debootstrap.log" 2>&1 ||
        { tail -n 20 "$work/debootstrap.log"; fail "debootstrap"; }
    rm -rf "$work/base/var/cache/apt/archives/"*.deb
    tar -C "$work/base" -cf "$work/base.tar.part" .
    mv "$work/base.tar.part" "$work/base.tar"
    rm -rf "$work/base"
}

enter() { # ROOT COMMAND: in namespaces of its own, so that nothing survives and nothing leaks
    local root=$1 settings=()
    mapfile -t settings < <(env | grep -E "$passed_on" || true)
    [ ! -f "$root$trusted" ] || settings+=("PIP_CERT=$trusted" "SSL_CERT_FILE=$trusted")
    [ ! -f "$root$trusted_by_java" ] ||
        settings+=("MAVEN_OPTS=-Djavax.net.ssl.trustStore=$trusted_by_java")
    unshare --mount --pid --fork --kill-child --ipc --uts bash -euc '
        root=$1; shift
        mount --make-rprivate /
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs tmpfs "$root/run"
        mkdir -m 1777 "$root/run/lock"
        exec chroot "$root" "$@"' enter "$root" \
        /usr/bin/env -i "${settings[@]}" HOME="$home" TERM=dumb LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        bash -euo pipefail -c "cd $home; $2" </dev/null
}

fresh() { # ROOT PACKAGES...: the base system, as this machine reaches its packages
    local root=$1
    shift
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    tar -C "$root" -xf "$work/base.tar"
    mkdir -p "$root$home"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    mkdir -p "$root/etc/ssl"
    [ ! -f "$certificates" ] || cp -L "$certificates" "$root$trusted"
    local file=/etc/ssl/certs/java/cacerts
    [ ! -f $file ] || cp -L $file "$root$trusted_by_java"
    for file in /etc/apt/apt.conf.d/*; do # proxies and certificates, where there are any
        grep -qiE 'proxy|CAInfo' "$file" 2>/dev/null && cp "$file" "$root/etc/apt/apt.conf.d/"
    done
    enter "$root" "apt-get update >/dev/null && DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $* >/dev/null 2>&1"
}

# What lies in a root outside the clone, the records of apt and dpkg, and Python's own caches.
inventory() {
    (
        cd "$1"
        find . -xdev \( -path "./home/tester/steelyard" -o -path ./proc -o -path ./sys \
            -o -path ./dev -o -path ./run -o -path ./var/cache -o -path ./var/lib/apt \
            -o -path ./var/lib/dpkg -o -path ./var/log -o -name __pycache__ \) -prune \
            -o \( -type f -o -type l -o -type s -o -type p \) -print | sort
    )
}

installed() { grep -B1 '^Status: install ok installed' "$1/var/lib/dpkg/status" | sed -n 's/^Package: //p' | sort; }

# Files that are in a root and not in another one that only got the same Debian packages.
leftovers() { # ROOT
    local root=$1 twin=$work/twin packages
    mapfile -t packages < <(comm -13 "$work/packages-before.txt" <(installed "$root"))
    fresh "$twin" git make "${packages[@]}"
    cp -r "$root/srv/steelyard.git" "$twin/srv/"
    comm -13 <(inventory "$twin") <(inventory "$root")
}

prove_source() {
    local root=$work/source started=$SECONDS
    say "1. a root with git and make alone"
    fresh "$root" git make
    git clone --quiet --bare "$checkout" "$root/srv/steelyard.git"
    installed "$root" >"$work/packages-before.txt"
    enter "$root" "git clone --quiet /srv/steelyard.git steelyard"
    enter "$root" "cd steelyard && make demo" 2>&1 | tee "$work/demo.log"
    [ -s "$root$home/steelyard/demo-output/report.html" ] || fail "make demo made no report."
    say "make demo took $((SECONDS - started)) s"
    started=$SECONDS
    enter "$root" "cd steelyard && make test" 2>&1 | tee "$work/test.log"
    local test_s=$((SECONDS - started))
    say "make test took $test_s s"
    leftovers "$root" >"$work/left.txt"
    [ ! -s "$work/left.txt" ] || fail "left behind outside the clone: $(head -n 20 "$work/left.txt")"
    [ -z "$(enter "$root" "cd steelyard && git status --porcelain")" ] ||
        fail "the clone has files that are neither committed nor ignored."
    say "the second set-up, without any network"
    enter "$root" "cd steelyard && unshare --net make setup setup-dev"
    enter "$root" "cd steelyard && make wheel" >"$work/wheel.log" 2>&1 ||
        { cat "$work/wheel.log"; fail "make wheel"; }
    cp "$root$home/steelyard/dist/"*.whl "$work/"
    # Said last: on a busy machine all else is still proved.
    [ "$test_s" -lt 600 ] || fail "make test took longer than 10 minutes."
}

prove_wheel() {
    local root=$work/wheel-root wheel
    wheel=$(basename "$(ls -t "$work"/*.whl | head -n 1)")
    say "2. a root with Python and no compiler: $wheel"
    fresh "$root" python3 python3-venv
    enter "$root" '! command -v g++ && ! command -v gcc && ! command -v cmake && ! command -v make'
    cp "$work/$wheel" "$root$home/"
    enter "$root" "python3 -m venv env && env/bin/pip install --quiet ./$wheel && cd /tmp && \
        export PATH=$home/env/bin:\$PATH && \
        steelyard measure --runs 20 --json $home/measured.json -- sha256sum /usr/bin/bash && \
        steelyard compare --runs 20 --json $home/compared.json 'gzip -6 -c /usr/bin/bash' 'gzip -1 -c /usr/bin/bash' && \
        steelyard report latest -o $home/report.html"
    local file
    for file in measured.json compared.json report.html; do
        [ -s "$root$home/$file" ] || fail "the wheel did not make $file."
    done
}

need
mkdir -p "$work"
base
case ${1:-all} in
source) prove_source ;;
wheel) prove_wheel ;;
all) prove_source && prove_wheel ;;
*) fail "say source, wheel or all." ;;
esac
say "all proved"
