from steelyard.profile.java_places import told_wrongly

# Method 1 is inlined into 0 at 12, and 2 into 1 at 30.
OWN = ["1@2,0@12", "0@4", "2@0,1@30,0@12"]


def test_a_call_that_was_inlined_and_stands_everywhere_is_told_wrongly():
    assert told_wrongly(OWN * 4 + ["1@30,0@12"] * 8) == "1@30,0@12"
    assert told_wrongly(OWN * 4 + ["0@12"] * 8) == "0@12"


def test_a_call_that_is_still_a_call_may_stand_often():
    assert told_wrongly(OWN * 4 + ["1@31,0@12"] * 30) is None


def test_the_tests_before_an_inlined_call_are_its_own():
    assert told_wrongly(OWN + ["0@12"] * 7) is None
    assert told_wrongly(OWN * 12 + ["0@12"] * 8) is None


def test_code_without_inlined_calls_has_no_wrong_place():
    assert told_wrongly([]) is None
    assert told_wrongly(["0@4"] * 20) is None
    assert told_wrongly([""] * 20) is None
