"""The programs that the page about profilers delays, and has built in `examples/profile`."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.documents.folder import run

# Two functions that are called often enough for a delay to show.
DELAYED = """
static volatile unsigned sink;
__attribute__((noinline)) void one(void) { for (int i = 0; i < 500; i++) sink += i; }
__attribute__((noinline)) void three(void) { for (int i = 0; i < 1500; i++) sink += i; }
int main(void) {
    for (int i = 0; i < 100000; i++) { one(); three(); }
    return 0;
}
"""


# The same in Java. Nobody knows beforehand when a walk ends, so that the virtual machine can stop a
# thread within it: profilers that need that see both methods. `main` takes no time itself.
DELAYED_JAVA = """
public final class Program {
    static long sink;
    METHODS
    public static void main(String[] words) {
        for (int i = 0; i < 12000; i++) { one(i); three(i); }
        System.out.println(sink);
    }
}
"""
WALK = """
    static void NAME(int call) {
        for (int i = 0; i < COUNT; i++)
            for (long at = 77031 + call + i; at != 1; at = (at & 1) == 0 ? at >> 1 : 3 * at + 1)
                sink += at;
    }
"""


def profiled(folder: Path) -> None:
    """Build them all in the folder."""
    source = folder / "examples" / "profile"
    for name in ("words.c", "words.patch"):
        shutil.copy(source / name, folder)
    run(folder, "patch", "-o", "words-mended.c", "words.c", "words.patch")
    for name in ("words", "words-mended"):
        run(folder, "gcc", "-O2", "-g", f"{name}.c", "-o", name)
        run(folder, "gcc", "-O2", "-g", "-pg", f"{name}.c", "-o", f"{name}-pg")
    (folder / "program.c").write_text(DELAYED)
    room = ("-O2", "-g", "-fpatchable-function-entry=32", "-fno-ipa-ra")
    run(folder, "gcc", *room, "program.c", "-o", "program")
    sizes = (("one", 30), ("three", 90))
    methods = (WALK.replace("NAME", name).replace("COUNT", str(count)) for name, count in sizes)
    (folder / "Program.java").write_text(DELAYED_JAVA.replace("METHODS", "".join(methods)))
    run(folder, "javac", "-d", "classes", "Program.java")
