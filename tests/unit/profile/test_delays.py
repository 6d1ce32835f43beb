import subprocess

from steelyard.profile.delays import delayable_functions
from tests.needs import need, need_x86_64

# Each file has a `work` of its own.
SOURCES = {
    "first": "static __attribute__((noinline)) int work(int n) { return n * 7; }"
    "__attribute__((noinline)) int first(int n) { return work(n) + 1; }",
    "second": "static __attribute__((noinline)) int work(int n) { return n * 9; }"
    "int first(int n); int main(int n, char **words) { return first(n) + work(n); }",
}


def test_functions_of_one_name_cannot_be_delayed(tmp_path):
    need("gcc")
    need_x86_64()
    for name, source in SOURCES.items():
        (tmp_path / f"{name}.c").write_text(source)
    flags = ("-O1", "-fpatchable-function-entry=32", "-fno-ipa-ra")
    files = [f"{name}.c" for name in SOURCES]
    subprocess.run(["gcc", *flags, *files, "-o", "program"], cwd=tmp_path, check=True)
    assert set(delayable_functions(str(tmp_path / "program"))) == {"first", "main"}
