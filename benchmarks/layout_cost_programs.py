"""Programs of Debian outside the suite, for what moving costs: how they are built and run.

None of them was looked at when the runtime was made. Sources come from the archives that apt is
configured for; inputs are written here, from a fixed seed.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.layout_projects import fetch_source

SOURCES = Path(__file__).with_name("layout_cost_sources")
_SEED = 7


@dataclass(frozen=True)
class OtherProgram:
    """A program: its package, how it is built in the unpacked folder, and how it is run.

    `build` leaves the program at `program`. It finds the compilers and their flags in `CC`, `CXX`
    and `FLAGS`, and what stands beside this file in `DRIVERS`. `argv` follows the program's path;
    ``{input}`` is the folder of inputs.
    """

    package: str
    build: str
    program: str
    argv: tuple[str, ...]
    stdin: str = os.devnull
    flags: str = "-O2"


OTHERS = {
    "tinyxml2": OtherProgram(
        "tinyxml2",
        "$CXX $FLAGS -I. tinyxml2.cpp $DRIVERS/tinyxml2.cpp -o weigh",
        "weigh",
        ("60",),
    ),
    "snappy": OtherProgram(
        "snappy",
        'cmake -S . -B made -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$FLAGS"'
        " -DSNAPPY_BUILD_TESTS=OFF -DSNAPPY_BUILD_BENCHMARKS=OFF -DBUILD_SHARED_LIBS=OFF"
        " && make -C made snappy"
        " && $CXX $FLAGS -I. -Imade $DRIVERS/snappy.cpp made/libsnappy.a -o weigh",
        "weigh",
        ("100",),
    ),
    "fmt": OtherProgram(
        "fmtlib",
        "$CXX $FLAGS -std=c++17 -Iinclude src/format.cc $DRIVERS/fmt.cpp -o weigh",
        "weigh",
        ("600",),
    ),
    "yaml-cpp (-O1)": OtherProgram(
        "yaml-cpp",
        "$CXX $FLAGS -std=c++17 -Iinclude -Isrc src/*.cpp src/contrib/*.cpp $DRIVERS/yaml-cpp.cpp"
        " -o weigh",
        "weigh",
        ("60",),
        flags="-O1",
    ),
    "libjpeg-turbo": OtherProgram(
        "libjpeg-turbo",
        'cmake -S . -B made -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$FLAGS" -DWITH_SIMD=0'
        " -DENABLE_SHARED=0 && make -C made cjpeg-static",
        "made/cjpeg-static",
        ("-quality", "90", "-optimize", "-outfile", os.devnull, "{input}/picture.ppm"),
    ),
    "pugixml": OtherProgram(
        "pugixml",
        "$CXX $FLAGS -Isrc src/pugixml.cpp $DRIVERS/pugixml.cpp -o weigh",
        "weigh",
        ("120",),
    ),
    "leveldb": OtherProgram(
        "leveldb",
        'cmake -S . -B made -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$FLAGS"'
        " -DLEVELDB_BUILD_TESTS=OFF -DLEVELDB_BUILD_BENCHMARKS=OFF"
        " -DHAVE_SNAPPY=0 -DHAVE_TCMALLOC=0 -DHAVE_CRC32C=0 -DHAVE_ZSTD=0"
        " && make -C made leveldb memenv"
        " && $CXX $FLAGS -std=c++17 -I. -Iinclude $DRIVERS/leveldb.cpp"
        " made/libmemenv.a made/libleveldb.a -pthread -o weigh",
        "weigh",
        ("60000",),
    ),
    "sed": OtherProgram(
        "sed",
        'CFLAGS="$FLAGS" ./configure --disable-nls && make sed/sed',
        "sed/sed",
        ("-E", "s/([a-z]+)ing/\\1ed/g;/^[aeiou]/d;y/xyz/XYZ/;s/ +/ /g", "{input}/words.txt"),
    ),
    "mawk": OtherProgram(
        "mawk",
        'CFLAGS="$FLAGS" ./configure && make mawk',
        "mawk",
        (
            "{ for (i = 1; i <= NF; ++i) { ++seen[$i]; last[length($i)] = last[length($i)] $i } }"
            ' NR % 50 == 0 { split("", last) } END { for (word in seen) print word, seen[word] }',
            "{input}/words.txt",
            "{input}/words.txt",
        ),
    ),
    "cmark": OtherProgram(
        "cmark",
        'cmake -S . -B made -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$FLAGS" -DCMARK_SHARED=OFF'
        " -DCMARK_TESTS=OFF && make -C made",
        "made/src/cmark",
        ("{input}/page.md",) * 6,
    ),
    "bc": OtherProgram(
        "bc",
        'CFLAGS="$FLAGS" ./configure && make -C lib && make -C bc',
        "bc/bc",
        ("-l", "{input}/sums.bc"),
    ),
}


def write_inputs(folder: Path) -> None:
    """A picture, words, a page of Markdown and sums, the same each time."""
    draw = random.Random(_SEED)
    _write_picture(folder, draw)
    letters = "etaoinshrdlucmfwyp"
    known = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(4000)]
    known += [f"{word}ing" for word in known[:500]]
    lines = [" ".join(draw.choices(known, k=draw.randint(4, 14))) for _ in range(24_000)]
    (folder / "words.txt").write_text("\n".join(lines) + "\n")
    marks = ("# {}", "- {}", "> {}", "**{}**", "[{}](http://example.org/a)", "`{}`", "{}", "{}\n")
    page = [draw.choice(marks).format(line) for line in lines[:16_000]]
    (folder / "page.md").write_text("\n".join(page) + "\n")
    (folder / "sums.bc").write_text(
        "scale=400\nx=4*a(1)\nx\ny=e(1)\ny\n"
        "define f(n) { if (n < 2) return (n); return (f(n-1) + f(n-2)); }\nf(19)\nquit\n"
    )


def _write_picture(folder: Path, draw: random.Random) -> None:
    side = 1200
    values = bytes(
        (x * y // 64 + channel * x) % 256 ^ (draw.getrandbits(8) & 15)
        for y in range(side)
        for x in range(side)
        for channel in range(3)
    )
    (folder / "picture.ppm").write_bytes(b"P6\n%d %d\n255\n" % (side, side) + values)


def build(name: str, sources: Path, made: Path, compilers: dict[str, str]) -> Path:
    """The program, built in `made` where it is not there yet, from what is fetched to `sources`.

    Raises
    ------
    RuntimeError
        It cannot be built; the message names the log.
    """
    other = OTHERS[name]
    fetched = sources / other.package
    fetched.mkdir(parents=True, exist_ok=True)
    if not any(path.is_dir() for path in fetched.iterdir()):
        fetch_source(other.package, fetched)
    made.mkdir(parents=True, exist_ok=True)
    folder = made / other.package
    if not folder.exists():
        unpacked = next(path for path in fetched.iterdir() if path.is_dir())
        shutil.copytree(unpacked, folder, symlinks=True)
        now_s = time.time()
        # Debian's changes are newer than what autoconf, gperf and yacc made of the files that they
        # change; of one date, nothing is made again.
        for path in folder.rglob("*"):
            if path.is_file():
                os.utime(path, (now_s, now_s))
    program = folder / other.program
    if program.exists():
        return program
    log = made / f"{other.package}.log"
    with log.open("w") as output:
        done = subprocess.run(
            ["/bin/sh", "-c", other.build],
            cwd=folder,
            env={**os.environ, **compilers, "FLAGS": other.flags, "DRIVERS": str(SOURCES)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode != 0 or not program.exists():
        raise RuntimeError(f"{name} was not built: {log}")
    return program
