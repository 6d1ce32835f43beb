#!/usr/bin/env bash
# Fuzz the native readers of foreign files with libFuzzer, under ASan and UBSan: SECONDS for each.
#
#     tools/fuzz_native.sh [SECONDS [TARGET...]]
#     INPUTS=1000000 tools/fuzz_native.sh             # that many inputs for each
#     INPUTS=1000000 tools/fuzz_native.sh 180 bodies  # or as many as three minutes take
#
# Begins from native/fuzz/corpus/TARGET and from files of this machine; what is found goes to
# build/fuzz/native. KEEP=1 puts the smallest set of inputs into the corpus instead.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/system_packages.sh
limit=()
[ -z "${INPUTS:-}" ] || limit=("-runs=$INPUTS")
[ -z "${1:-}" ] || limit+=("-max_total_time=$1")
[ ${#limit[@]} -gt 0 ] || limit=(-max_total_time=60)
[ $# -gt 0 ] && shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(call_frames messages class_file symbolizer bodies)
work=build/fuzz/native
mkdir -p "$work"

links() { # COMPILER: Debian has libFuzzer in a package apart, which a compiler may be without
    printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }\n' |
        "$1" -x c++ -fsanitize=fuzzer,address,undefined - -o "$work/links" 2>/dev/null
}

compiler=
for each in clang++ clang++-19; do
    ! links "$each" || compiler=$each
    [ -z "$compiler" ] || break
done
[ -n "$compiler" ] || {
    install_packages clang-19 libclang-rt-19-dev
    compiler=clang++-19
}

part_of() { # which folder of native/ has the target's sources
    case $1 in
        call_frames) echo unwind ;;
        messages) echo launcher ;;
        class_file) echo jvm ;;
        symbolizer) echo symbolizer ;;
        bodies) echo bodies ;;
    esac
}

sources_of() {
    case $1 in
        call_frames) echo native/unwind/{call_frames,frame_expression,frame_instructions}.cpp native/elf/*.cpp ;;
        messages) echo native/launcher/src/protocol.cpp ;;
        class_file) echo native/jvm/src/{class_file,class_constants,delayed_code}.cpp ;;
        symbolizer) find native/symbolizer/src -name '*.cpp' ! -name main.cpp ;;
        bodies) find native/bodies/src native/elf native/instructions -maxdepth 1 -name '*.cpp' ! -name main.cpp ;;
    esac
}

seed() { # TARGET FOLDER: files to begin from
    case $1 in
        call_frames)
            printf 'int f(int n) { return n < 2 ? n : f(n - 1); }\n' >"$work/seed.c"
            cc -O1 -shared -fPIC -nostdlib -o "$2/seed.so" "$work/seed.c"
            ;;
        messages) printf '3:run,1:0,3:abc,' >"$2/seed" ;;
        class_file)
            if command -v javac >/dev/null; then
                printf 'class S { static int turns(int n) { for (;n>0;n--); return n; } }' >"$work/S.java"
                javac -d "$2" "$work/S.java"
            fi
            ;;
        symbolizer)
            printf 'static inline int g(int n) { return n * n; } int f(int n) { return g(n) + g(n + 1); }\n' \
                >"$work/seed.c"
            cc -g -O2 -c -o "$work/seed.o" "$work/seed.c"
            .venv/bin/python tools/fuzz_seed.py "$work/seed.o" "$2/seed"
            ;;
        bodies)
            printf 'static const int t[9] = {1, 2}; int g(int); int f(int n) { return t[n] + g(n); }\n' \
                >"$work/seed.c"
            cc -O2 -shared -fPIC -nostdlib -o "$2/seed.so" "$work/seed.c"
            cc -O2 -shared -fPIC -nostdlib -s -o "$2/stripped.so" "$work/seed.c"
            ;;
    esac
}

status=0
for target in "${targets[@]}"; do
    part=$(part_of "$target")
    # shellcheck disable=SC2046 # names of our own sources have no spaces
    "$compiler" -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
        -I native/bytes -I native/elf -I native/errors -I native/instructions -I native/unwind -I "native/$part/src" -o "$work/$target" \
        "native/fuzz/${target}_fuzz.cpp" $(sources_of "$target")
    mkdir -p "$work/$target-corpus" "native/fuzz/corpus/$target"
    seed "$target" "$work/$target-corpus"
    if [ -n "${KEEP:-}" ]; then
        "$work/$target" -merge=1 "native/fuzz/corpus/$target" "$work/$target-corpus"
        continue
    fi
    "$work/$target" "${limit[@]}" -timeout=5 -rss_limit_mb=500 -max_len=65536 -seed=1 \
        -artifact_prefix="$work/$target-" -print_final_stats=1 \
        "$work/$target-corpus" "native/fuzz/corpus/$target" 2>&1 | tail -n 30 || status=1
done
exit $status
