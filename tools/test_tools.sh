# shellcheck shell=bash
# Sourced by setup.sh --dev. Gets the programs that tests run (test_programs), and the kernel's
# tracing. None of them is needed to use Steelyard, so one that cannot be had is
# named and does not end the set-up; the tests that take it are skipped, and say so.

: "${root:?}" "${venv:?}"
. tools/own_caches.sh

missing_test_tools() { # PROGRAM:PACKAGE, one a line
    local program package
    while read -r program package; do
        [ "$program" = "#" ] ||
            PATH=$PATH:/sbin:/usr/sbin command -v "$program" >/dev/null || echo "$program:$package"
    done <tools/test_programs
    compgen -G "/usr/lib/*/libprofiler.so*" >/dev/null || echo gperftools:libgoogle-perftools4
    [ -e /usr/include/benchmark/benchmark.h ] || echo google-benchmark:libbenchmark-dev
    [ -e /usr/share/benchmark/compare.py ] || echo compare.py:libbenchmark-tools
    [ -e /usr/include/catch2/catch.hpp ] || echo catch2:catch2
    compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || echo postgresql:postgresql
}

missing_test_packages() { missing_test_tools | cut -d: -f2 | sort -u; }

# A jar that Maven fetches, of this digest, with the library for each machine inside.
async_profiler=tools.profiler:async-profiler:3.0
async_profiler_sha256=8f798860049d01f4a2f853596d28c85d2983f0c098f165a32909b7da9c74209f

fetch_async_profiler() { # into build/async-profiler/lib, where the tests look for it
    local repository=$root/build/maven jar inside
    command -v mvn >/dev/null || return 1
    mvn --quiet --batch-mode dependency:get -Dartifact="$async_profiler" -Dtransitive=false \
        -Dmaven.repo.local="$repository" </dev/null >build/maven.log 2>&1 || return 1
    jar=$repository/tools/profiler/async-profiler/3.0/async-profiler-3.0.jar
    sha256sum --check --quiet <<<"$async_profiler_sha256  $jar" || return 1
    case $(uname -m) in
        x86_64) inside=linux-x64 ;;
        aarch64) inside=linux-arm64 ;;
        *) return 1 ;;
    esac
    mkdir -p build/async-profiler/lib
    "$venv/bin/python" -I -m zipfile --extract "$jar" build/async-profiler/jar
    mv "build/async-profiler/jar/$inside/libasyncProfiler.so" build/async-profiler/lib/
    rm -rf build/async-profiler/jar "$repository"
}

fetch_speedscope() { # and what it takes to run where there is no browser
    command -v npm >/dev/null || return 1
    mkdir -p build/viewers
    npm install --silent --no-fund --no-audit --prefix build/viewers \
        speedscope@1.25.0 jsdom@24.1.3 </dev/null >build/npm.log 2>&1
}

mount_tracing() { # the kernel's own tracing, for events; not in a container that may not
    [ -d /sys/kernel/tracing/instances ] && return
    [ -d /sys/kernel/tracing ] && [ "$(id -u)" = 0 ] || return 1
    mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
}

have_async_profiler() { [ -e build/async-profiler/lib/libasyncProfiler.so ]; }
have_speedscope() { # beside a jsdom that Debian's own Node runs
    [ -d build/viewers/node_modules/speedscope ] &&
        grep -qs '"version": "24\.' build/viewers/node_modules/jsdom/package.json
}

get_packages() { # all at once, and one after the other where that fails
    local each
    can_install || return 0
    say "installing what tests run: $*"
    (install_packages "$@") >/dev/null 2>&1 && return
    for each in "$@"; do
        (install_packages "$each") >/dev/null 2>&1 || true
    done
}

lacking_test_tools() { # words for a person
    local packages=()
    mapfile -t packages < <(missing_test_packages)
    [ ${#packages[@]} -eq 0 ] || echo "apt-get install ${packages[*]}"
    have_async_profiler || echo "async-profiler ($async_profiler by Maven, see build/maven.log)"
    have_speedscope || echo "speedscope (by npm, see build/npm.log)"
    [ ${#no_consumers[@]} -eq 0 ] || echo "${no_consumers[*]} (see build/consumers/*.log)"
}

ensure_test_tools() {
    mount_tracing || true # each time: a mount ends with the machine
    local digest packages=() no_consumers=() lacking
    digest=$(cat tools/test_tools.sh tools/test_programs tools/consumers.sh | sha256sum)
    stamped test-tools "$digest" && return
    mapfile -t packages < <(missing_test_packages)
    [ ${#packages[@]} -eq 0 ] || get_packages "${packages[@]}"
    have_async_profiler || fetch_async_profiler || true
    have_speedscope || fetch_speedscope || true
    drop_caches
    say "installing what reads and writes the files that Steelyard writes and reads"
    mapfile -t no_consumers < <(tools/consumers.sh)
    lacking=$(lacking_test_tools)
    [ -z "$lacking" ] || {
        say "these could not be had, and the tests that take them are skipped:"
        printf '    %s\n' "$lacking"
        say "to try again: rm .venv/stamps/test-tools && make setup-dev"
    }
    # Names alone, for the tests: a skip for one of these is excused.
    stamp test-tools-not-had "$(missing_test_tools | tr ':\n' '  ') $(have_async_profiler || echo async-profiler)$(
        have_speedscope || echo " speedscope") ${no_consumers[*]}"
    stamp test-tools "$digest"
}
