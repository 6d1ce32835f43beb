import pytest

from steelyard.core import errors

TREE = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.SteelyardError)
]


@pytest.mark.parametrize("kind", TREE)
def test_every_error_has_a_message_a_field_and_a_documented_exit_status(kind):
    error = kind("It failed. Do this.", field="--store")
    assert str(error) == error.message == "It failed. Do this."
    assert error.field == "--store"
    assert error.exit_status in (2, 3, 4)


def test_codes_tell_errors_apart():
    codes = [kind.code for kind in TREE]
    assert len(set(codes)) == len(codes)


def test_what_the_machine_lacks_is_told_from_a_wrong_call_by_the_exit_status():
    assert errors.MissingCapabilityError("x").exit_status == 4
    assert errors.TrialsFailedError("x").exit_status == 3
    assert errors.UsageError("x").exit_status == 2
