"""How the numbers were made: what a reader is told of every method by its name."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.core.estimate import Estimate, Unbounded


class MethodNote(NamedTuple):
    """A method in words: what it makes, how, what it assumes, and where it is from."""

    title: str
    made: str
    assumes: str
    source: str


_SIMULTANEOUS = "-simultaneous"
_FIELLER = "Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013, eq. 5"
NOTES = {
    "student-blocks": MethodNote(
        "Mean with Student's t interval",
        "Mean of the values of the top repetition level ± t · s / √n, with n − 1 degrees of "
        "freedom.",
        "Values of the top level are independent and their mean is about normal.",
        "Kalibera and Jones, ISMM 2013, eq. 4",
    ),
    "johnson-blocks": MethodNote(
        "Mean with Student's t interval, reaching farther to the side of the tail",
        "Mean ± t · s / √n; the bound on the side to which the values are skewed lies farther out "
        "by skewness · s · (1 + 2 t²) / 6 n, at most by half. Used where the precision of the mean "
        "ended the experiment.",
        "Values of the top level are independent; it is the mean of the kinds of run that were "
        "seen.",
        "Johnson, J. Amer. Statist. Assoc. 73 (1978) 536",
    ),
    "fieller-blocks": MethodNote(
        "Ratio of means with Fieller's interval, within blocks",
        "All ratios θ that the paired differences y − θ·x of the blocks do not contradict, with "
        "the covariance between variants in a block. What disturbs a whole block cancels.",
        "Blocks are independent and the means about normal. Not symmetric around the ratio.",
        f"Fieller 1954; {_FIELLER}, extended by the covariance within blocks",
    ),
    "fieller-unpaired": MethodNote(
        "Ratio of means with Fieller's interval, without blocks",
        "All ratios θ that the means and their variances do not contradict; the variants were "
        "not run in common blocks, so that nothing cancels.",
        "All values are independent, and nothing drifted between the variants.",
        f"Fieller 1954; {_FIELLER}; degrees of freedom by Welch 1947",
    ),
    "cosine-series-blocks": MethodNote(
        "Mean with an interval that allows for dependence",
        "Mean ± t · the long-run standard error, which a few cosines along the sequence give; "
        "used because the values were found to depend on each other.",
        "The dependence fades within a small part of the sequence. Where it does not, the "
        "interval is still too narrow.",
        "Lazarus, Lewis, Stock and Watson, HAR inference, JBES 36 (2018) 541",
    ),
    "fieller-cosine-series": MethodNote(
        "Ratio of means with Fieller's interval that allows for dependence",
        "As Fieller's interval within blocks, with long-run variances and covariance of the "
        "means from a few cosines along the sequence of blocks.",
        "The dependence between blocks fades within a small part of the sequence.",
        f"{_FIELLER}; Lazarus et al., JBES 36 (2018) 541",
    ),
    "bootstrap": MethodNote(
        "Hierarchical bootstrap",
        "The repetition levels are resampled from the top down, with replacement; the interval "
        "holds the middle share of the resampled estimates.",
        "Values of the top level are independent, and there are enough of them to stand for "
        "all (20 or more).",
        "Kalibera and Jones, Quantifying performance changes, 2012; Davison and Hinkley 1997",
    ),
}
SUMMARY_NOTES = (
    ("median, quartiles", "Order statistics of the values of the top repetition level."),
    ("CoV", "Coefficient of variation: standard deviation / mean."),
    (
        "stopping",
        "An experiment that stops at a wanted precision stops a little too readily. Its "
        "intervals are widened for that, by a factor that depends on the number of blocks.",
    ),
    (
        "normality",
        "Shapiro and Wilk's W. A small p speaks against a normal distribution; the intervals "
        "of means then hold only for enough blocks.",
    ),
    (
        "independence",
        "Autocorrelation of the sequence with 95 % bounds, a portmanteau test against "
        "dependence, and a test against a monotonic trend.",
    ),
)


def note_for(method: str) -> MethodNote:
    """The note for a method, by its name or by the family that the name begins with."""
    single = method.removesuffix(_SIMULTANEOUS)
    note = NOTES.get(single) or NOTES.get(single.split("-", 1)[0])
    if note is None:
        return MethodNote(method, "", "", "")
    if single == method:
        return note
    made = (
        f"{note.made} The quantile is that of the largest of all comparisons (Dunnett's, with "
        "their correlation), so that the confidence holds for all of them together."
    )
    return note._replace(title=f"{note.title}, simultaneous", made=made)


def methods_used(answer: Answer) -> list[tuple[str, MethodNote]]:
    """The methods behind the intervals of an answer, each once, with their notes."""
    intervals: list[Estimate | Unbounded] = [c.ratio for c in answer.comparisons]
    for variant in answer.variants:
        for result in variant.metrics.values():
            if result.summary is not None:
                intervals.append(result.summary.mean)
    names = dict.fromkeys(interval.method for interval in intervals)
    return [(name, note_for(name)) for name in names]
