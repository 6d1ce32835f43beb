from collections import Counter

import pytest

from steelyard.core.errors import MissingCapabilityError
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.rng import derive_seed
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.run.trial_session import Session


def spec_of(count=2, groups=None, **changes):
    variants = tuple(
        Variant(f"v{i}", LaunchSpec(("p",)), group=groups[i] if groups else "")
        for i in range(count)
    )
    return ExperimentSpec(
        "id", "comparison", variants, (MetricSpec("wall_time", "s"),), seed=1, **changes
    )


class Machine:
    """Runs what is queued, one trial at a time, on a program whose times are known."""

    def __init__(self, noise=0.01, fails=lambda trial: False, batch=1, metric="wall_time"):
        self.noise, self.fails, self.batch, self.metric = noise, fails, batch, metric
        self.queued = []
        self.ran = []
        self.fewest_waiting = None

    def submit(self, part):
        self.queued += [(t.position, t.block, t.variant, t.warmup) for t in part]

    def take(self):
        for _ in range(min(self.batch, len(self.queued))):
            self.ran.append(self.queued.pop(0))
            self.fewest_waiting = len(self.queued)
            yield self._trial(*self.ran[-1])

    def _trial(self, position, block, variant, warmup):
        spread = derive_seed(5, position) / 2**63 - 0.5
        value = 1.0 + self.noise * spread
        failed = self.fails((position, block, variant))
        return Trial(
            position=position,
            block=block,
            variant=variant,
            warmup=warmup,
            status="failed" if failed else "ok",
            reason="exit" if failed else None,
            started_unix_s=0.0,
            spent_s=value,
            measurements={} if failed else {self.metric: (value,)},
        )


def run(spec, machine=None, earlier=(), watch=None):
    machine = machine or Machine()
    session = Session(spec, machine, earlier, watch)
    return session.run(), session.trials, machine


def counted(trials):
    return Counter(trial.variant for trial in trials if not trial.warmup)


def test_a_fixed_number_of_runs_runs_each_variant_that_often():
    reason, trials, _ = run(spec_of(3, stopping=StoppingSpec(runs=7)))
    assert reason == "runs"
    assert counted(trials) == {0: 7, 1: 7, 2: 7}


def test_it_stops_when_the_intervals_are_narrow_enough():
    reason, trials, _ = run(spec_of(stopping=StoppingSpec(precision_ratio=0.01)))
    assert reason == "precision"
    assert min(counted(trials).values()) >= StoppingSpec().minimum_blocks


def test_blocks_that_were_queued_behind_the_last_look_must_not_widen_the_interval():
    class LateJump(Machine):
        def _trial(self, position, block, variant, warmup):
            self.noise = 0.3 if block == 11 else 0.002
            return super()._trial(position, block, variant, warmup)

    spec = spec_of(stopping=StoppingSpec(precision_ratio=0.004))
    reason, trials, _ = run(spec, LateJump())
    assert reason == "precision"
    assert counted(trials)[0] > 30


def test_more_noise_takes_more_blocks():
    spec = spec_of(stopping=StoppingSpec(precision_ratio=0.01))
    calm, noisy = run(spec, Machine(0.01))[1], run(spec, Machine(0.2))[1]
    assert len(noisy) > 2 * len(calm)


def test_a_budget_of_trials_is_never_passed():
    stopping = StoppingSpec(precision_ratio=1e-9, budget_runs=25)
    reason, trials, _ = run(spec_of(stopping=stopping))
    assert reason == "budget"
    assert len(trials) == 24  # the twenty-fifth would begin a block that it cannot end


def test_a_budget_smaller_than_a_block_still_runs_one():
    _, trials, _ = run(spec_of(3, stopping=StoppingSpec(budget_runs=1)))
    assert counted(trials) == {0: 1, 1: 1, 2: 1}


def test_a_resumed_session_runs_only_positions_that_are_missing():
    spec = spec_of(stopping=StoppingSpec(runs=10))
    earlier = run(spec_of(stopping=StoppingSpec(runs=4)))[1][:-1]
    _, trials, _ = run(spec, earlier=earlier)
    positions = [trial.position for trial in (*earlier, *trials)]
    assert sorted(positions) == list(range(20))


def test_a_resumed_session_that_is_precise_enough_runs_nothing():
    spec = spec_of(stopping=StoppingSpec(precision_ratio=0.01))
    earlier = run(spec)[1]
    reason, trials, _ = run(spec, earlier=earlier)
    assert (reason, trials) == ("precision", [])


def test_the_order_does_not_depend_on_where_an_experiment_was_cut():
    spec = spec_of(4, stopping=StoppingSpec(runs=8))
    whole = [(t.position, t.variant) for t in run(spec)[1]]
    first = run(spec_of(4, stopping=StoppingSpec(runs=3)))[1]
    second = run(spec, earlier=first)[1]
    assert [(t.position, t.variant) for t in (*first, *second)] == whole


def test_warmups_come_first_and_do_not_count():
    _, trials, _ = run(spec_of(warmup_count=3, stopping=StoppingSpec(runs=2)))
    assert [trial.warmup for trial in trials] == [True] * 6 + [False] * 4


def test_a_resumed_session_warms_up_again_under_positions_of_its_own():
    spec = spec_of(warmup_count=2, stopping=StoppingSpec(runs=4))
    first = run(spec_of(warmup_count=2, stopping=StoppingSpec(runs=2)))[1]
    second = run(spec, earlier=first)[1]
    positions = [trial.position for trial in (*first, *second)]
    assert len(set(positions)) == len(positions)
    assert sum(trial.warmup for trial in second) == 4


def test_the_launcher_always_has_a_block_behind_the_one_that_runs():
    class Watched(Machine):
        def take(self):
            if len(self.ran) < 20:  # later blocks have no successor
                assert len(self.queued) > 2
            yield from super().take()

    run(spec_of(stopping=StoppingSpec(runs=12)), Watched())


def test_a_variant_that_never_succeeds_ends_the_experiment():
    machine = Machine(fails=lambda trial: trial[2] == 1)
    reason, trials, _ = run(spec_of(stopping=StoppingSpec(runs=1000)), machine)
    assert reason == "failures"
    assert len(trials) < 20


def test_a_variant_that_fails_at_times_is_run_on():
    machine = Machine(fails=lambda trial: trial[1] % 3 == 2)
    reason, trials, _ = run(spec_of(stopping=StoppingSpec(runs=12)), machine)
    assert reason == "runs"
    assert sum(trial.status == "failed" for trial in trials) == 8


def test_the_sequential_order_ends_one_variant_before_it_begins_the_next():
    _, trials, _ = run(spec_of(3, order="sequential", stopping=StoppingSpec(runs=5)))
    assert [trial.variant for trial in trials] == [0] * 5 + [1] * 5 + [2] * 5


def test_each_group_of_variants_must_be_precise_enough():
    class OneNoisyGroup(Machine):
        def _trial(self, position, block, variant, warmup):
            self.noise = 0.001 if variant < 2 else 0.2
            return super()._trial(position, block, variant, warmup)

    spec = spec_of(4, groups=["a", "a", "b", "b"], stopping=StoppingSpec(precision_ratio=0.01))
    reason, trials, _ = run(spec, OneNoisyGroup())
    assert reason == "precision"
    assert counted(trials)[0] > 50


def test_a_metric_that_the_machine_lacks_ends_it_at_once():
    with pytest.raises(MissingCapabilityError, match="wall_time"):
        run(spec_of(stopping=StoppingSpec(runs=5)), Machine(metric="other"))


def test_the_watcher_sees_blocks_count_up_and_time_left_go_down():
    seen = []
    run(spec_of(stopping=StoppingSpec(runs=20)), watch=seen.append)
    assert [progress.blocks for progress in seen] == list(range(1, 21))
    lefts = [progress.expected_left_s for progress in seen]
    assert lefts[0] > lefts[-1] == 0


def test_the_watcher_sees_the_mean_of_one_program_from_its_first_run_on():
    seen = []
    run(spec_of(1, stopping=StoppingSpec(runs=4)), watch=seen.append)
    assert [progress.intervals[0].estimate for progress in seen] == pytest.approx([1.0] * 4, 0.01)
    assert not any(progress.compares for progress in seen)
    assert seen[-1].intervals[0].half_width > 0


def test_the_watcher_hears_of_a_trial_that_takes_long_before_it_has_ended():
    class Slow(Machine):
        silent = 3

        def take(self):
            if self.silent:
                self.silent -= 1
                return
            yield from super().take()

    seen = []
    run(spec_of(stopping=StoppingSpec(runs=2)), Slow(), watch=seen.append)
    assert [progress.blocks for progress in seen] == [0, 0, 0, 1, 2]


def test_a_program_that_takes_longer_than_the_budget_runs_as_often_as_an_interval_needs():
    stopping = StoppingSpec(budget_s=1e-9, budget_blocks=3)
    reason, trials, _ = run(spec_of(1, stopping=stopping))
    assert (reason, len(trials)) == ("budget", 3)
