"""Which revision made the change: revisions are built and run until one is probable enough."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from steelyard.analysis.bisection.measured_ends import Ends, block_logarithms, measured_ends
from steelyard.analysis.bisection.next_test import CostOfTest, Proposal, propose_test
from steelyard.analysis.bisection.posterior import (
    Culprit,
    Posterior,
    culprit,
    start_bisection,
    with_broken,
    with_evidence,
)
from steelyard.analysis.bisection.revision_graph import revision_graph
from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.app.history.bisection_results import Bisected, Search, Step, Stopped
from steelyard.app.history.measured_revisions import (
    Judging,
    RevisionRuns,
    revision_runs,
)
from steelyard.core.errors import (
    AnalysisError,
    BuildFailedError,
    TrialsFailedError,
)
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Experiment
from steelyard.repository.revisions import Repository
from steelyard.store.bisection_store import BisectionStore

if TYPE_CHECKING:
    from steelyard.app.results.library import Library
    from steelyard.run.run_experiment import Place

# In one test. Of noisier programs a revision is tested again.
_MOST_RUNS = 30
# Starting the machinery for a test takes as long, however short the program.
_LEAST_RUN_S = 0.05
_SIZE_CONFIDENCE = 0.95
# Builds that are kept for a second test.
_KEPT_BUILDS = 12


class Bisection:
    """A search that is under way; what it finds out goes to whoever keeps it, step by step.

    Parameters
    ----------
    search : Search
    runs : RevisionRuns
    keep : callable
        Called with the content of each step, for `begin` in another process.
    say : callable
        Told in sentences how far it is.
    """

    def __init__(self, search: Search, runs: RevisionRuns, keep: Any, say: Any) -> None:
        self.search = search
        self._runs = runs
        self._keep = keep
        self._say = say
        self._steps: list[Step] = []
        self._state = self._prior()
        self._ends: Ends | None = None
        self._ratio: Interval | None = None
        self._run_s = _LEAST_RUN_S
        self._metric = ""

    def _prior(self) -> Posterior:
        search = self.search
        commits = search.commits
        graph = revision_graph([c.revision for c in commits], [c.parents for c in commits])
        state = start_bisection(graph, search.weights)
        for revision, evidence in search.adopted.items():
            if revision in graph.revisions:
                known = with_evidence(state, revision, evidence)
                state = replace(known, built=state.built, test_count=state.test_count)
        return state

    def run(self, kept: Iterable[Mapping[str, Any]]) -> Bisected:
        """Go on from the steps that are kept, and give the answer.

        Raises
        ------
        AnalysisError
            The ends do not differ: there is nothing to search for.
        BuildFailedError, TrialsFailedError
            One of the ends cannot be measured.
        """
        kept = list(kept)
        self._measure_ends(next((step for step in kept if "ends" in step), None))
        for content in kept:
            if "revision" in content:
                self._take(Step(**content))
        if self._steps:
            count = len(self._steps)
            self._say(f"goes on after {count} test{'s'[: count != 1]} of a search that was cut off")
        stopped = self._search()
        found = culprit(self._state)
        return Bisected(
            self.search,
            self._measured_ratio(),
            tuple(self._steps),
            found,
            None if stopped == "budget" else self._size(found),
            stopped,
            self._most_probable(),
            self._metric,
        )

    def _measured_ratio(self) -> Interval:
        assert self._ratio is not None
        return self._ratio

    def _measure_ends(self, kept: Mapping[str, Any] | None) -> None:
        """Both ends against each other, until it is decided that they differ."""
        from steelyard.core.estimate import Estimate

        if kept is not None:
            content = dict(kept["ends"])
            self._ends = Ends(**content["levels"])
            self._ratio = Estimate(**content["ratio"])
            self._run_s, self._metric = content["run_s"], content["metric"]
            return
        search = self.search
        judging = Judging(0.99, search.margin_ratio, search.budget_s / 4)
        note = f"ends of a search: {search.good[:12]} to {search.bad[:12]}"
        experiment = self._runs.compared(search.good, search.bad, judging, note)
        found = answer(experiment).comparisons[0]
        if not isinstance(found.ratio, Estimate) or found.verdict not in ("faster", "slower"):
            raise AnalysisError(
                f"{search.bad[:12]} does not differ from {search.good[:12]} in "
                f"{found.metric.name} by more than {100 * search.margin_ratio:.3g} %: it is "
                f"{found.verdict}. There is nothing to search for; a longer --budget or a "
                "smaller --margin would ask further.",
                field="--good",
            )
        self._ends = measured_ends(_logarithms(experiment))
        self._ratio, self._metric = found.ratio, found.metric.name
        self._run_s = max(_LEAST_RUN_S, _seconds_of_block(experiment))
        self._keep(
            {
                "ends": {
                    "levels": vars(self._ends),
                    "ratio": found.ratio.as_json(),
                    "run_s": self._run_s,
                    "metric": self._metric,
                }
            }
        )
        self._say(
            f"{len(search.commits)} revisions; the ends differ by a factor of "
            f"{found.ratio.estimate:.4g}, and {100 * self._ends.error_ratio:.2g} % of single runs "
            "would say the wrong thing"
        )

    def _search(self) -> Stopped:
        while True:
            found = culprit(self._state)
            if found.set_probability >= self.search.confidence:
                return "confidence"
            if sum(step.spent_s for step in self._steps) >= self.search.budget_s:
                return "budget"
            proposal = propose_test(self._state, self._costs())
            if proposal is None:
                return "nothing-left"
            step = self._test(proposal)
            self._keep(vars(step))
            self._take(step)
            self._tell(step)

    def _costs(self) -> CostOfTest:
        assert self._ends is not None
        built = [step.build_s for step in self._steps if step.build_s > 0.0]
        build_s = sum(built) / len(built) if built else 1.0
        return CostOfTest(build_s, self._run_s, self._ends.error_ratio, _MOST_RUNS)

    def _test(self, proposal: Proposal) -> Step:
        assert self._ends is not None
        revision, started_s = proposal.revision, time.monotonic()
        built_s = started_s
        try:
            self._runs.built(revision)
            built_s = time.monotonic()
            judging = Judging(0.99, self.search.margin_ratio, None, proposal.run_count)
            note = f"a test of a search: {revision[:12]}"
            experiment = self._runs.compared(self.search.good, revision, judging, note)
        except (BuildFailedError, TrialsFailedError) as error:
            self._say(f"{revision[:12]} is left out: {error.message.splitlines()[0]}")
            spent_s = time.monotonic() - started_s
            return Step(revision, "broken", 0.0, 0, None, spent_s, built_s - started_s, "")
        finally:
            self._forget(revision)
        logarithms = _logarithms(experiment)
        evidence = self._ends.evidence(logarithms)
        return Step(
            revision,
            "with" if evidence > 0.0 else "without",
            evidence,
            len(logarithms),
            _ratio(logarithms),
            time.monotonic() - started_s,
            built_s - started_s,
            experiment.spec.identifier,
        )

    def _forget(self, revision: str) -> None:
        """Give back the room of what was built first, but for the good end's."""
        tested = [step.revision for step in self._steps if step.outcome != "broken"]
        recent = {revision, self.search.good, *tested[-_KEPT_BUILDS:]}
        for older in tested[:-_KEPT_BUILDS]:
            if older not in recent:
                self._runs.forget(older)

    def _take(self, step: Step) -> None:
        self._steps.append(step)
        if step.outcome == "broken":
            self._state = with_broken(self._state, step.revision)
        else:
            self._state = with_evidence(self._state, step.revision, step.evidence)

    def _tell(self, step: Step) -> None:
        if step.outcome == "broken":
            return
        found = culprit(self._state)
        self._say(
            f"test {len(self._steps)}: {step.revision[:12]} seems to be {step.outcome} the change, "
            f"by {step.run_count} run{'s'[: step.run_count != 1]}; most probable is "
            f"{found.revision[:12]}, {100 * found.set_probability:.4g} %"
        )

    def _size(self, found: Culprit) -> Interval | None:
        """The last of those that are found, against the parent of the first of them."""
        members = [c for c in self.search.commits if c.revision in found.inseparable]
        if not members or not members[0].parents:
            return None
        judging = Judging(_SIZE_CONFIDENCE, self.search.margin_ratio, self.search.budget_s / 8)
        note = f"the size of a change: {found.revision[:12]}"
        testable = [c.revision for c in members if not self._is_broken(c.revision)]
        if not testable:
            return None
        try:
            experiment = self._runs.compared(members[0].parents[0], testable[-1], judging, note)
        except (BuildFailedError, TrialsFailedError):
            return None
        return answer(experiment).comparisons[0].ratio

    def _is_broken(self, revision: str) -> bool:
        return bool(self._state.broken[self._state.graph.index(revision)])

    def _most_probable(self, count: int = 5) -> dict[str, float]:
        pairs = zip(self._state.graph.revisions, self._state.probabilities.tolist(), strict=True)
        ranked = sorted(pairs, key=lambda pair: -pair[1])
        return dict(ranked[:count])


def _values(experiment: Experiment, variant: int) -> dict[int, float]:
    found = answer(experiment).variants[variant].metrics[experiment.spec.metrics[0].name]
    return dict(zip(found.blocks, found.values, strict=True))


def _logarithms(experiment: Experiment) -> tuple[float, ...]:
    return block_logarithms(_values(experiment, 0), _values(experiment, 1))


def _ratio(logarithms: Sequence[float]) -> float:
    from math import exp, fsum

    return exp(fsum(logarithms) / len(logarithms))


def _seconds_of_block(experiment: Experiment) -> float:
    blocks = {trial.block for trial in experiment.trials}
    return sum(trial.spent_s or 0.0 for trial in experiment.trials) / max(1, len(blocks))


def find_revision(
    search: Search, repository: Repository, place: Place, library: Library, *, anew: bool = False
) -> Bisected:
    """Search, with every step kept in the store; the same question goes on where it was cut off.

    Parameters
    ----------
    search : Search
    repository : Repository
    place : Place
        Of the store, which `library` has open; its `say` is told how far the search is.
    library : Library
    anew : bool
        Whether steps that are kept are left aside.

    Raises
    ------
    AnalysisError, BuildFailedError, TrialsFailedError
        As `Bisection.run` does.
    """
    question = json.dumps(
        {
            "repository": repository.name,
            "good": search.good,
            "bad": search.bad,
            "commands": vars(search.commands),
            "margin": search.margin_ratio,
        },
        sort_keys=True,
    )
    store = BisectionStore(library.store)
    number = store.begin(question, json.loads(question), anew=anew)
    with revision_runs(repository, search.commands, place) as runs:
        bisection = Bisection(search, runs, partial(store.add_step, number), place.say)
        found = bisection.run(store.steps(number))
    if found.stopped != "budget":
        store.finish(number, {"revision": found.found.revision})
    return found
