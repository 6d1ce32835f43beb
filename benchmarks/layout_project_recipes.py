"""Projects of Debian whose own tests moving programs have to pass: how to build and test them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Project:
    """A project: its packages, how it is built and tested, and how its log tells what passed.

    The scripts run in the folder that the packages are unpacked in. `passed` finds in the log
    either a number of tests (its group, summed) or one test (no group), those that fail among them,
    `failed` the names of those that fail; with some that fail on a machine whatever moves, the
    others must still pass.
    """

    packages: tuple[str, ...]
    build: str
    test: str
    passed: str
    failed: str = ""
    # Of these only what upstream released, without Debian's changes.
    upstream: tuple[str, ...] = ()


PROJECTS = {
    "bzip2": Project(
        ("bzip2",),
        'cd bzip2-*/ && make CC="$CC" bzip2 bzip2recover',
        'cd bzip2-*/ && make CC="$CC" test',
        r"^cmp sample",
    ),
    "jsoncpp": Project(
        ("libjsoncpp",),
        "cd libjsoncpp-*/ && cmake -S . -B moving -DCMAKE_BUILD_TYPE=Release"
        " -DBUILD_STATIC_LIBS=OFF -DBUILD_OBJECT_LIBS=OFF -DJSONCPP_WITH_POST_BUILD_UNITTEST=OFF"
        " && make -C moving",
        "cd libjsoncpp-*/ && moving/bin/jsoncpp_test &&"
        ' python3 test/runjsontests.py "$PWD/moving/bin/jsontestrunner_exe" "$PWD/test/data"',
        r"^(?:All (\d+) tests passed|TESTING: .* OK)",
    ),
    "zstd": Project(
        ("libzstd",),
        'cd libzstd-*/ && make CC="$CC" zstd-release &&'
        ' make -C tests CC="$CC" fuzzer zstreamtest poolTests datagen',
        "cd libzstd-*/tests && ./fuzzer -v -T20s && ./zstreamtest -v -T20s && ./poolTests &&"
        " python3 cli-tests/run.py --zstd=../programs/zstd --datagen=./datagen",
        r"^PASS: |^test *\d+ : .* OK|^(?:.*: )?[Tt]est *\d+ .*OK",
    ),
    "lua": Project(
        ("lua5.4", "lua-lpeg"),
        "cd lua5.4-*/ && echo '#define DEB_HOST_MULTIARCH \"none\"' > src/lua5.4-deb-multiarch.h"
        " && $CC -O2 -DLUA_USE_LINUX -DLUA_COMPAT_5_3 -Wl,-E"
        " $(ls src/l*.c | grep -v luac.c) -lm -ldl -o lua && cd ../lua-lpeg-*/ &&"
        ' $CC -O2 -fPIC -shared -I"$(echo ../lua5.4-*/src)" lp*.c -o lpeg.so',
        "cd lua-lpeg-*/ && ../lua5.4-*/lua test.lua",
        r"^OK$",
    ),
    "lua5.1": Project(
        ("lua5.1",),
        "cd lua5.1-*/ && echo '#define DEB_HOST_MULTIARCH \"none\"' > src/lua5.1-deb-multiarch.h"
        " && $CC -O2 -DLUA_USE_POSIX -DLUA_USE_DLOPEN -Wl,-E"
        " $(ls src/l*.c | grep -v luac.c) -lm -ldl -o lua",
        "cd gopher-lua/_lua5.1-tests && mkdir -p libs/P1 && bad=0 && for file in *.lua; do"
        " case $file in all.lua|checktable.lua) continue;; esac;"
        " if LUA_PATH='?;./?.lua' ../../lua5.1-*/lua $file; then echo; echo \"$file: passed\";"
        ' else echo; echo "$file: failed"; bad=1; fi; done; [ $bad = 0 ]',
        r"^(?:\w+\.lua): (?:passed|failed)$",
        r"^(\w+\.lua): failed$",
        ("golang-github-yuin-gopher-lua",),
    ),
    "sqlite": Project(
        ("sqlite3",),
        'cd sqlite3-*/ && CFLAGS=-O2 ./configure --with-tcl="$(dirname "$(find /usr/lib -name'
        ' tclConfig.sh | head -n 1)")" && make testfixture',
        # Its tests refuse to be run by a superuser, who may read what they make unreadable.
        "cd sqlite3-*/ && rm -rf testdir && if [ $(id -u) = 0 ]; then chown -R nobody . &&"
        " as='setpriv --reuid nobody --clear-groups'; fi; $as ./testfixture test/veryquick.test",
        r"^\d+ errors out of (\d+) tests",
        r"^! (\S+) expected",
    ),
    "googletest": Project(
        ("googletest",),
        "cd googletest-*/ && cmake -S . -B moving -DCMAKE_BUILD_TYPE=Release"
        " -DCMAKE_CXX_FLAGS_RELEASE=-O2 -Dgtest_build_tests=ON -DBUILD_GMOCK=OFF"
        " && make -C moving",
        "cd googletest-*/moving && ctest --output-on-failure",
        r"Test +#\d+: .* Passed",
    ),
    "re2": Project(
        ("re2",),
        'cd re2-*/ && make CXX="$CXX" static obj/test/re2_test obj/test/search_test'
        " obj/test/parse_test obj/test/compile_test obj/test/set_test obj/test/dfa_test",
        "cd re2-*/ && ./runtests obj/test/re2_test obj/test/search_test obj/test/parse_test"
        " obj/test/compile_test obj/test/set_test obj/test/dfa_test",
        r"PASS$",
    ),
    "tinyxml2": Project(
        ("tinyxml2",),
        "cd tinyxml2-*/ && mkdir -p resources/out && $CXX -O2 tinyxml2.cpp xmltest.cpp -o xmltest",
        "cd tinyxml2-*/ && ./xmltest",
        r"^Pass (\d+), Fail 0",
    ),
    "cmark": Project(
        ("cmark",),
        "cd cmark-*/ && cmake -S . -B made -DCMAKE_BUILD_TYPE=Release && make -C made",
        "cd cmark-*/made && ctest --output-on-failure",
        r"Test +#\d+: .* Passed",
    ),
    "jansson": Project(
        ("jansson",),
        "cd jansson-*/ && cmake -S . -B made -DCMAKE_BUILD_TYPE=Release -DJANSSON_BUILD_DOCS=OFF"
        " && make -C made",
        "cd jansson-*/made && ctest --output-on-failure",
        r"Test +#\d+: .* Passed",
    ),
    "jimtcl": Project(
        ("jimtcl",),
        "cd jimtcl-*/ && ./configure --full && make",
        "cd jimtcl-*/tests && ../jimsh runall.tcl",
        r"^ *Totals: +Total +\d+ +Passed +(\d+)",
        r"^ *(\S+\.test): .* Failed +[1-9]\d*$",
    ),
    # A shell.
    "mksh": Project(
        ("mksh",),
        "cd mksh-*/ && CPPFLAGS=-DMKSH_BUILDMEAT CFLAGS=-O2 sh Build.sh -r",
        "cd mksh-*/ && ./test.sh",
        r"^(?:pass|FAIL) ",
        r"^FAIL (\S+)",
    ),
    # A database.
    "gdbm": Project(
        ("gdbm",),
        "cd gdbm-*/ && CFLAGS=-O2 ./configure --enable-libgdbm-compat && make"
        " && make -C tests check TESTSUITEFLAGS=--list",
        "cd gdbm-*/tests && make check",
        r"^(?:All )?(\d+) tests (?:were successful|behaved as expected)",
    ),
    # A server, which its tests start and ask; takes libpcre2-dev, zlib1g-dev and libbz2-dev.
    "lighttpd": Project(
        ("lighttpd",),
        "cd lighttpd-*/ && CFLAGS=-O2 ./configure --with-pcre2 --with-zlib --with-bzip2"
        " && make && make check TESTS=",
        "cd lighttpd-*/ && make check",
        r"^Files=\d+, Tests=(\d+)",
    ),
    # Threads, and a loop of events. Its tests refuse to be run by a superuser.
    "libuv": Project(
        ("libuv1",),
        "cd libuv1-*/ && cmake -S . -B made -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON"
        " && make -C made uv_run_tests_a",
        "cd libuv1-*/made && if [ $(id -u) = 0 ]; then chown -R nobody .. &&"
        " as='setpriv --reuid nobody --clear-groups'; fi;"
        " $as env UV_TEST_TIMEOUT_MULTIPLIER=6 ./uv_run_tests_a",
        r"^(?:not )?ok \d+ - ",
        r"^not ok \d+ - (\w+)",
    ),
    # C++; takes libgtest-dev and libgmock-dev. A database of its own kind, with threads.
    "leveldb": Project(
        ("leveldb",),
        "cd leveldb-*/ && cmake -S . -B made -DCMAKE_BUILD_TYPE=Release"
        " -DLEVELDB_BUILD_BENCHMARKS=OFF && make -C made",
        "cd leveldb-*/made && ctest --output-on-failure -V",
        r"\[  PASSED  \] (\d+) test",
    ),
    "pugixml": Project(
        ("pugixml",),
        "cd pugixml-*/ && cmake -S . -B made -DCMAKE_BUILD_TYPE=Release -DPUGIXML_BUILD_TESTS=ON"
        " -DBUILD_SHARED_LIBS=OFF && make -C made",
        "cd pugixml-*/ && made/pugixml-check",
        r"^Success: (\d+) tests passed",
    ),
    "yaml-cpp": Project(
        ("yaml-cpp",),
        "cd yaml-cpp-*/ && cmake -S . -B made -DCMAKE_BUILD_TYPE=Release"
        " -DYAML_BUILD_SHARED_LIBS=OFF -DYAML_CPP_BUILD_TESTS=OFF && make -C made yaml-cpp"
        " && for file in test/*.cpp test/integration/*.cpp test/node/*.cpp; do"
        " [ -s $file.o ] || $CXX -O1 -std=c++17 -Iinclude -Isrc -Itest -Itest/integration"
        " -c $file -o $file.o || exit 1; done && $CXX $(find test -name '*.cpp.o')"
        " made/libyaml-cpp.a -lgmock -lgtest -pthread -o made/run-tests",
        "cd yaml-cpp-*/ && made/run-tests",
        r"\[  PASSED  \] (\d+) test",
    ),
    "fmt": Project(
        ("fmtlib",),
        "cd fmtlib-*/ && cmake -S . -B made -DCMAKE_BUILD_TYPE=Release -DFMT_DOC=OFF"
        " -DFMT_TEST=OFF -DBUILD_SHARED_LIBS=OFF && make -C made && for test in args assert color"
        " core format ostream printf ranges scan unicode xchar; do"
        " [ -x made/$test-test ] || $CXX -O1 -std=c++17 -Iinclude -Itest test/$test-test.cc"
        " test/gtest-extra.cc test/util.cc made/libfmt.a -lgmock -lgtest -lgtest_main -pthread"
        " -o made/$test-test || exit 1; done",
        "cd fmtlib-*/made && for test in *-test; do ./$test || exit 1; done",
        r"\[  PASSED  \] (\d+) test",
    ),
}
