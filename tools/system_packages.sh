# shellcheck shell=bash
# Sourced. Installs Debian packages where that can be done without asking anybody.

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_install() {
    command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

install_packages() {
    if ! can_install; then
        echo "This machine lacks: $*. As root, run" >&2
        echo "    apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $*" >&2
        echo "and then the same command again." >&2
        exit 4
    fi
    echo "setup: installing Debian packages: $*"
    mkdir -p build
    apt_install "$@" >build/apt.log 2>&1 && return
    # The lists are old or missing.
    as_root apt-get update >>build/apt.log 2>&1 || true
    apt_install "$@" >>build/apt.log 2>&1 || {
        cat build/apt.log >&2
        echo "setup: apt-get could not install: $*" >&2
        exit 4
    }
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" </dev/null
}
