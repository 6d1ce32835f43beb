import pytest

from steelyard.profile.java.java_names import machine_name


@pytest.mark.parametrize(
    ("ours", "theirs", "name"),
    [
        ("[itable stub]", "itable stub", "itable stub"),
        (
            "SymbolTable::do_lookup(char const*, int) [clone .part.0]",
            "SymbolTable::do_lookup",
            "SymbolTable::do_lookup",
        ),
        ("[libz.so.1.2.13]", "/usr/lib/libz.so.1.2.13", "libz.so.1.2.13"),
        ("clock_gettime", "clock_gettime@@GLIBC_2.17", "clock_gettime"),
        ("[I2C/C2I adapters(0xb)]", "I2C/C2I adapters(0xb)", "I2C/C2I adapters"),
        ("(anonymous namespace)::f(int)", "(anonymous namespace)::f", "(anonymous namespace)::f"),
        ("java.util.List.<init>", "java.util.List.<init>", "java.util.List.<init>"),
    ],
)
def test_profilers_call_one_function_by_one_name(ours, theirs, name):
    assert machine_name(ours) == name
    assert machine_name(theirs) == name
