import pytest

from steelyard.core.ending import exit_words, signal_name


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "exit code 1"),
        (139, "exit code 139: a shell's for SIGSEGV (signal 11)"),
        (127, "exit code 127: a shell did not find the program"),
        (255, "exit code 255"),
        (None, "exit code None"),
    ],
)
def test_an_exit_code_says_what_a_shell_means_by_it(code, words):
    assert exit_words(code) == words


def test_a_signal_has_its_name_and_one_that_is_none_its_number():
    assert signal_name(9) == "SIGKILL (signal 9)"
    assert signal_name(4711) == "signal 4711"
