from steelyard.profile.java.java_places import callers, told_wrongly

# Method 1 is inlined into 0 at 12, and 2 into 1 at 30.
OWN = ["1@2,0@12", "0@4", "2@0,1@30,0@12"]


def wrong(places, calls=()):
    return told_wrongly(places, callers(places).union(calls))


def test_a_call_that_was_inlined_and_stands_everywhere_is_told_wrongly():
    assert wrong([*["1@30,0@12", "0@4"] * 8, *OWN]) == "1@30,0@12"
    assert wrong([*["0@12", "0@4"] * 8, *OWN]) == "0@12"


def test_a_call_of_which_nothing_is_left_is_known_by_other_code():
    places = ["1@50", "1@4"] * 8
    assert wrong(places) is None
    assert wrong(places, calls={"1@50"}) == "1@50"


def test_what_is_no_call_may_stand_often():
    assert wrong([*["1@31,0@12", "0@4"] * 8, *OWN]) is None


def test_the_tests_before_an_inlined_call_are_its_own():
    assert wrong([*OWN, *["0@12", "0@4"] * 7]) is None
    assert wrong([*OWN * 20, *["0@12", "0@4"] * 8]) is None
    # An unrolled loop has them in each of its turns.
    assert wrong(["0@12", "1@2,0@12", "0@4"] * 16) is None


def test_code_without_inlined_calls_has_no_wrong_place():
    assert wrong([]) is None
    assert wrong(["0@4"] * 20) is None
    assert wrong([""] * 20) is None


def test_callers_are_all_frames_but_the_youngest():
    assert callers(["2@0,1@30,0@12", "0@4", ""]) == {"1@30", "0@12"}
