import pytest

from steelyard.core.layout_level import layout_level


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("none", "none"),
        ("all", "code,stack,heap@500ms"),
        ("heap,code", "code,heap@500ms"),
        ("heap,heap@2000ms", "heap@2s"),
        ("all@off", "code,stack,heap@off"),
        ("stack@5ms", "stack@5ms"),
        ("blocks@5ms", "code,blocks@5ms"),
    ],
)
def test_a_level_says_parts_and_interval_in_one_form(text, normal):
    assert str(layout_level(text)) == normal
    assert str(layout_level(normal)) == normal


@pytest.mark.parametrize("text", ["", "code,", "everything", "none@5ms", "all@", "all@5", "all@0s"])
def test_a_wrong_level_says_what_is_wanted(text):
    with pytest.raises(ValueError, match="it takes"):
        layout_level(text)
