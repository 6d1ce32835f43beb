"""How well and how fast are times on other hosts predicted?

    .venv/bin/python -m benchmarks.predict_platforms [--part NAME] [--sets N] [--model NAME]

Parts: subsets (best subsets beside R's leaps, where R is there), hosts (the experiment of Oliveira
2015, section 7.5, on SPEC CPU2006), cloud (two applications on EC2), choice, next, refusals, size
(a table of 200 hosts by 200 benchmarks). Tables are Markdown. Times are of the processor.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from steelyard.app.predict.platform_table import TableOptions, read_platform_table
from steelyard.predict.arrays import Floats, Truths
from steelyard.predict.platforms.host_choice import choose_host
from steelyard.predict.platforms.host_table import PlatformTable
from steelyard.predict.platforms.model_evaluation import (
    EvaluationDesign,
    error_ratio,
    evaluate_models,
    host_sets,
)
from steelyard.predict.platforms.models import PLATFORM_MODELS
from steelyard.predict.platforms.next_measurement import rank_hosts
from steelyard.predict.platforms.platform_answers import Asked, ask_table
from steelyard.predict.platforms.platform_model import PlatformModel
from steelyard.predict.platforms.platform_question import Question, hide, make_question
from steelyard.predict.platforms.refusal import Limits
from steelyard.predict.platforms.rows import Row, make_table
from steelyard.predict.platforms.scores import score_cases
from steelyard.predict.platforms.stacked_models import predict_by_stacking
from steelyard.predict.subsets.best_subsets import best_subsets

STACKING = PLATFORM_MODELS.get("stacking")
# One of x86-64 among hosts of AArch64.
OTHER_INSTRUCTION_SET = "amd-ai-max+-395/gcc14.2.0-o3-x86_64-v4"
R_LEAPS = """
suppressMessages(library(leaps))
d <- as.matrix(read.csv(commandArgs(TRUE)[1], header = FALSE)); p <- ncol(d) - 1
used <- proc.time()
f <- regsubsets(d[, 1:p], d[, p + 1], nbest = 1, nvmax = p, really.big = TRUE)
cat(sum((proc.time() - used)[1:2]), format(summary(f)$rss, digits = 15), "\\n")
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one part, or all."""
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "subsets": subsets_part,
        "hosts": hosts_part,
        "cloud": cloud_part,
        "choice": choice_part,
        "next": next_part,
        "refusals": refusals_part,
        "size": size_part,
    }
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=sorted(parts), action="append")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/platforms"))
    parser.add_argument("--sets", type=int, default=6, help="sets of known hosts for each count")
    parser.add_argument("--model", action="append", help="of the part hosts; all unless given")
    parser.add_argument("--known", type=int, action="append", help="known hosts, of hosts, choice")
    given = parser.parse_args(arguments)
    for name in given.part or parts:
        if name in ("hosts", "cloud", "choice", "next", "refusals") and not given.data.is_dir():
            print(f"{name}: there is no {given.data}", file=sys.stderr)
            continue
        parts[name](given)
    return 0


def row(*cells: object) -> None:
    """A row of a table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(title: str, *names: str) -> None:
    """A title and the head of a table."""
    print(f"\n{title}\n")
    row(*names)
    row(*("---" for _ in names))


def percent(value: float) -> str:
    """A ratio in percent."""
    return "> 1000 %" if value > 10 else f"{100 * value:.2f} %"


def spec(data: Path) -> PlatformTable:
    """SPEC CPU2006 on 19 columns of host and compiler."""
    return read_platform_table(str(data / "spec-cpu2006.csv"), TableOptions())


def one_set(data: Path) -> PlatformTable:
    """The same without the host of another instruction set."""
    table = spec(data)
    return table.without(hosts=[table.host_place(OTHER_INSTRUCTION_SET)])


def subsets_part(_given: argparse.Namespace) -> None:
    """Processor time of best subsets of every size, in turn with leaps on the same table."""
    head(
        "Best subsets of every size, seconds",
        "hosts",
        "predictors",
        "table",
        "Steelyard",
        "leaps",
        "same",
    )
    for hosts, predictors, kind in (
        (60, 27, "independent"), (60, 27, "correlated"), (60, 40, "independent"),
        (60, 40, "correlated"), (60, 40, "only noise"),
    ):  # fmt: skip
        x, y = subset_problem(hosts, predictors, kind)
        used = time.process_time()
        found = best_subsets(x, y)
        own = time.process_time() - used
        theirs = leaps(x, y)
        same = "-"
        if theirs is not None:
            sums = [subset.residual_sum_squares for subset in found.by_size[1:]]
            same = "yes" if np.allclose(sums, theirs[1:], rtol=1e-8) else "NO"
        shown = "-" if theirs is None else f"{theirs[0]:.2f}"
        row(hosts, predictors, kind, f"{own:.2f}", shown, same)


def subset_problem(hosts: int, predictors: int, kind: str) -> tuple[Floats, Floats]:
    """A table drawn by a fixed seed; eight predictors matter unless all is noise."""
    draw = np.random.default_rng(5)
    x = draw.normal(size=(hosts, predictors))
    if kind == "correlated":
        x = 0.3 * x + draw.normal(size=(hosts, 1))
    weights = np.zeros(predictors)
    weights[:8] = draw.normal(size=8) * (kind != "only noise")
    return x, x @ weights + draw.normal(size=hosts)


def leaps(x: Floats, y: Floats) -> list[float] | None:
    """Seconds and residual sums of R's leaps; None without R."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        np.savetxt(path, np.column_stack([x, y]), delimiter=",", fmt="%.17g")
        script = Path(folder) / "leaps.R"
        script.write_text(R_LEAPS)
        done = subprocess.run(
            ["Rscript", str(script), str(path)], capture_output=True, text=True, check=False
        )
    return [float(cell) for cell in done.stdout.split()] if done.returncode == 0 else None


def chosen_models(given: argparse.Namespace) -> list[PlatformModel]:
    """The models that were named, or all that need no clock rate."""
    if given.model:
        return [PLATFORM_MODELS.get(name) for name in given.model]
    return [model for model in PLATFORM_MODELS if model.needs == "suite"]


def hosts_part(given: argparse.Namespace) -> None:
    """Errors of every strategy by known hosts, and the curve of error against share answered."""
    table = one_set(given.data)
    models = chosen_models(given)
    every = len(table.hosts) - 1
    design = EvaluationDesign(
        tuple(given.known or (3, 7, every)), subsets=given.sets,
        limits=Limits(adjusted_r_squared=0.958),
        representatives=("465.tonto", "470.lbm", "444.namd", "436.cactusADM", "473.astar"),
    )  # fmt: skip
    found = evaluate_models(table, models, design)
    scores = [score_cases(one) for one in found.evaluated]
    head(
        f"SPEC CPU2006, {len(table.hosts)} hosts of one instruction set",
        "strategy", "known", "cases", "50 %", "75 %", "95 %", "worst",
        "answered", "of these: 50 %", "95 %", "worst", "intervals hold",
    )  # fmt: skip
    for score in scores:
        all_errors = score.everything or (np.nan,) * 6
        answered = score.answered or (np.nan,) * 6
        row(
            score.evaluated.model.name, score.evaluated.known_hosts, len(score.evaluated.cases),
            *(percent(all_errors[place]) for place in (0, 1, 3, 5)),
            percent(score.answered_ratio), *(percent(answered[place]) for place in (0, 3, 5)),
            "-" if score.coverage is None else percent(score.coverage.estimate),
        )  # fmt: skip
    ranked = ("stacking", "mallows-cp", "forward", "geometric-mean")
    names = [name for name in ranked if name in {model.name for model in models}]
    head(
        "Worst error (95 %) by share answered", "known", "share",
        *names,
    )  # fmt: skip
    for count in design.known_counts:
        curves = {
            s.evaluated.model.name: s.curve for s in scores if s.evaluated.known_hosts == count
        }
        for place in range(1, 20, 2):
            points = [curves[name][place] for name in names]
            cells = (f"{percent(p.error_max)} ({percent(p.error_p95)})" for p in points)
            row(count, percent(points[0].share), *cells)


def cloud(data: Path) -> PlatformTable:
    """The EC2 table, an instance type a host."""
    drop = (
        "*failure_rate", "*file-total-size", "*disk-util", "wordpress-bench/*throughput",
        "fio/8k-rand-read-duration", "iperf/*duration", "stressng/*duration",
        "sysbench/fileio-4k-rand-write-latency",  # 0 in some rows
    )  # fmt: skip
    higher = ("*bandwidth", "*iops", "*throughput", "*bogo*")
    options = TableOptions(host="instance_type", drop=drop, higher=higher)
    return read_platform_table(str(data / "cloud-ec2.csv.gz"), options)


def cloud_part(given: argparse.Namespace) -> None:
    """Errors on instance types left out, of the two applications."""
    table = cloud(given.data)
    applications = [n for n in table.benchmarks if n.startswith(("md-sim", "wordpress"))]
    head(
        f"EC2, {len(table.hosts)} instance types, each left out", "application", "model",
        "median", "75 %", "worst", "answered at ± 25 %", "of these: worst",
    )  # fmt: skip
    models = chosen_models(given)
    for name in applications:
        others = [table.place_of(n) for n in applications if n != name]
        alone = table.without(benchmarks=others)
        design = EvaluationDesign(applications=(name,), limits=Limits(0.25))
        for one in evaluate_models(alone, models, design).evaluated:
            score = score_cases(one)
            found, answered = score.everything or (np.nan,) * 6, score.answered
            row(
                name, one.model.name, *(percent(found[place]) for place in (0, 1, 5)),
                percent(score.answered_ratio), "-" if answered is None else percent(answered[-1]),
            )  # fmt: skip


def choice_part(given: argparse.Namespace) -> None:
    """How far the chosen host is from the best one, among hosts not measured and among all."""
    table = one_set(given.data)
    head(
        "Choice of a host", "known", "choices", "among", "within 10 %", "mean regret", "worst",
        "by geometric mean within 10 %",
    )  # fmt: skip
    for count in given.known or (3, 5, 7, 9):
        for among in ("unmeasured", "all"):
            pairs: list[tuple[float, float]] = []
            for known in host_sets(len(table.hosts), count, given.sets, 1):
                left = known if among == "unmeasured" else np.zeros_like(known)
                pairs += [
                    chosen_regret(table, place, known, left)
                    for place in range(len(table.benchmarks))
                ]
            ours, theirs = np.array(pairs).T
            row(
                count, len(ours), among, percent(float(np.mean(ours <= 0.1))),
                percent(float(ours.mean())), percent(float(ours.max())),
                percent(float(np.mean(theirs <= 0.1))),
            )  # fmt: skip


def chosen_regret(
    table: PlatformTable, place: int, known: Truths, barred: Truths
) -> tuple[float, float]:
    """By how much the chosen host, and the one of least geometric mean, exceed the best one."""
    costs = table.costs.copy()
    costs[~known, place] = np.nan
    left = [host for host, is_out in zip(table.hosts, barred, strict=True) if not is_out]
    found = choose_host(table_with(table, costs), STACKING, Asked(table.benchmarks[place]), left)
    chosen = table.host_place(found.candidates[0].answer.host)
    truth = table.costs[~barred, place]
    mean = np.delete(table.costs, place, axis=1).mean(axis=1)[~barred]
    ours = np.expm1(table.costs[chosen, place] - truth.min())
    return float(ours), float(np.expm1(truth[mean.argmin()] - truth.min()))


def table_with(table: PlatformTable, costs: Floats) -> PlatformTable:
    """The table with other costs."""
    from dataclasses import replace

    return replace(table, costs=costs)


def next_part(given: argparse.Namespace) -> None:
    """Hosts needed for the same error: as `next` ranks them, and at random."""
    table = one_set(given.data)
    questions = [make_question(table, name) for name in table.benchmarks]
    count = len(table.hosts)
    curves: dict[str, list[list[float]]] = {"next": [], "random": []}
    for seed in range(given.sets):
        start = [int(h) for h in np.random.default_rng(seed).permutation(count)]
        for question in questions:
            ranked = ranked_order(question, start[:3])
            for name, order in (("next", ranked), ("random", start)):
                curves[name].append(errors_along(question, order))
    mean = {name: np.mean(values, axis=0) for name, values in curves.items()}
    head(
        "Mean error over all hosts by hosts measured",
        "hosts at random",
        "error",
        "hosts by next for it",
        "fewer",
    )
    for place in range(2, len(mean["random"])):
        wanted = mean["random"][place]
        needed = int(np.argmax(mean["next"] <= wanted))
        row(place + 3, percent(float(wanted)), needed + 3, percent(1 - (needed + 3) / (place + 3)))


def ranked_order(question: Question, start: list[int]) -> list[int]:
    """Hosts in the order in which `next` would have them measured."""
    order = list(start)
    while len(order) < len(question.response):
        known = np.zeros(len(question.response), dtype=bool)
        known[order] = True
        order.append(rank_hosts(hide(question, known))[0][0])
    return order


def errors_along(question: Question, order: list[int]) -> list[float]:
    """The mean error over all hosts with 3, 4, ... of them measured; measured ones have none."""
    errors: list[float] = []
    for count in range(3, len(order)):
        known = np.zeros(len(order), dtype=bool)
        known[order[:count]] = True
        costs = predict_by_stacking(hide(question, known)).costs
        errors.append(float(np.where(known, 0, np.abs(np.expm1(costs - question.response))).mean()))
    return errors


def refusals_part(given: argparse.Namespace) -> None:
    """Shares of hosts refused where nothing can be known."""
    table = spec(given.data)
    head("Refused", "what", "hosts refused", "of")
    shuffled, new_set, few = [0, 0], [0, 0], [0, 0]
    for place, name in enumerate(table.benchmarks):
        costs = table.costs.copy()
        costs[:, place] = np.random.default_rng(place).permutation(costs[:, place])
        answers = ask_table(table_with(table, costs), STACKING, Asked(name)).hosts
        shuffled = [shuffled[0] + sum(h.refused for h in answers), shuffled[1] + len(answers)]
        answer = ask_table(table, STACKING, Asked(name)).hosts[
            table.host_place(OTHER_INSTRUCTION_SET)
        ]
        new_set = [new_set[0] + answer.refused, new_set[1] + 1]
        known = np.arange(len(table.hosts)) < 2
        hidden = [h for h in ask_table(table, STACKING, Asked(name), known).hosts if not h.known]
        few = [few[0] + sum(h.refused for h in hidden), few[1] + len(hidden)]
    row("times shuffled over hosts", *shuffled)
    row("a host of another instruction set", *new_set)
    row("two known hosts", *few)


def size_part(_given: argparse.Namespace) -> None:
    """Processor time of each model on 200 hosts by 200 benchmarks with a fifth missing."""
    draw = np.random.default_rng(2)
    factors = draw.normal(size=(200, 4)) @ draw.normal(size=(4, 200)) * 0.2
    costs = draw.normal(size=(200, 1)) + factors + 0.02 * draw.normal(size=(200, 200))
    costs[draw.random(costs.shape) < 0.2] = np.nan
    places = np.argwhere(np.isfinite(costs))
    rows = [Row(f"h{h}", f"b{b}", float(np.exp(costs[h, b])), "") for h, b in places]
    clock = {"clock_mhz": {f"h{h}": f"{1000 + h}" for h in range(200)}}
    table = make_table("drawn", rows, attributes=clock)
    used = time.process_time()
    question = make_question(table, "b0")
    filled = time.process_time() - used
    known = question.known & (np.arange(200) < 170)
    asked = hide(question, known)
    truth = np.flatnonzero(question.known & ~known)
    head(
        f"200 hosts by 200 benchmarks, 20 % missing (filled in {filled:.2f} s)",
        "model",
        "seconds",
        "median error",
    )
    for model in PLATFORM_MODELS:
        used = time.process_time()
        predicted = model.predict(asked).costs
        spent = time.process_time() - used
        errors = [error_ratio(table, 0, predicted[h], question.response[h]) for h in truth]
        row(model.name, f"{spent:.2f}", percent(float(np.median(errors))))


if __name__ == "__main__":
    sys.exit(main())
