from steelyard.core.stopping_spec import StoppingSpec, with_usual_budget


def test_each_program_gets_a_minute_and_all_of_them_ten_at_most():
    def budget_s(count):
        return with_usual_budget(StoppingSpec(), count, patient=False).budget_s

    assert [budget_s(count) for count in (1, 2, 30)] == [60, 120, 600]


def test_a_program_that_takes_longer_than_its_minute_still_gets_an_interval():
    assert with_usual_budget(StoppingSpec(), 1, patient=False).budget_blocks == 3


def test_who_asks_for_a_precision_or_for_builds_gets_ten_minutes():
    assert with_usual_budget(StoppingSpec(), 1, patient=True).budget_s == 600


def test_a_fixed_number_of_runs_has_no_budget():
    assert with_usual_budget(StoppingSpec(runs=5), 2, patient=False).budget_s is None
