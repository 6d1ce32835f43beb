"""The options that questions about platforms share, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from steelyard.app.predict.platform_table import TableOptions
from steelyard.app.predict.platforms import DEFAULT_MODEL, PlatformFile
from steelyard.cli.options.finite_range import FiniteRange
from steelyard.cli.options.option_groups import group, option
from steelyard.cli.options.shared_options import share_option
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_ratio

if TYPE_CHECKING:
    from steelyard.app.predict.platform_questions import Asked, Limits


class ModelName(click.ParamType[str]):
    """The name of a platform model; the list of them is only made where it is shown."""

    name = "model"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        from steelyard.app.predict.platform_questions import model_names

        return f"[{'|'.join(model_names())}]"


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a file of times, or a store, is read."""

    host_column: str = option(
        "--host-column", metavar="NAME", default="host", show_default=True, help="Names hosts."
    )
    value_column: str | None = option(
        "--value-column", metavar="NAME", help="Holds the values beside a column 'benchmark'."
    )
    variants: tuple[str, ...] = option(
        "--variant",
        metavar="NAME",
        multiple=True,
        help="A column that makes another host of a machine (default: variant or compiler).",
    )
    higher: tuple[str, ...] = option(
        "--higher",
        metavar="PATTERN",
        multiple=True,
        help="Benchmarks that are throughputs, such as '*-iops'. Repeatable.",
    )
    drop: tuple[str, ...] = option(
        "--drop", metavar="PATTERN", multiple=True, help="Leave out these benchmarks. Repeatable."
    )
    linear: bool = option(
        "--linear", is_flag=True, help="Take values as they are, not their logarithms."
    )
    metric: str | None = option(
        "--metric",
        metavar="NAME",
        help="The metric of a store's experiments (default: the first of each).",
    )

    def file(self, path: str, model: str = DEFAULT_MODEL) -> PlatformFile:
        """The file at `path`, to be asked by `model`."""
        options = TableOptions(
            host=self.host_column,
            value=self.value_column,
            variants=self.variants,
            higher=self.higher,
            drop=self.drop,
            linear=self.linear,
            metric=self.metric,
        )
        return PlatformFile(path, options, model)


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Which benchmarks a model may choose."""

    predictors: int | None = option(
        "--predictors",
        type=click.IntRange(1, 200),
        metavar="N",
        help="The most benchmarks that a model may choose.",
    )
    representatives: str | None = option(
        "--representatives",
        metavar="A,B,C",
        help="Benchmarks that stand for the suite in the model clusters.",
    )


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """What an answer must keep."""

    confidence: str = share_option("--confidence", "90%", "Of intervals.")
    widest: str = share_option(
        "--widest", "10%", "Refuse an answer whose half interval is a larger share of it."
    )
    least_r_squared: float | None = option(
        "--least-r-squared",
        type=FiniteRange(0, 1),
        metavar="R2",
        help="Refuse a linear model whose adjusted R² is below this, such as 0.958.",
    )
    most_cp: float | None = option(
        "--most-cp",
        type=FiniteRange(0, 1e9),
        metavar="CP",
        help="Refuse a linear model whose Mallows' Cp is above this.",
    )

    @property
    def share(self) -> float:
        """The confidence, between 0 and 1."""
        return parse_ratio(self.confidence, "--confidence")

    def limits(self) -> Limits:
        """The limits themselves."""
        from steelyard.app.predict.platform_questions import Limits

        return Limits(parse_ratio(self.widest, "--widest"), self.least_r_squared, self.most_cp)


def application_option() -> str:
    """The benchmark that is predicted."""
    return option(
        "--application", metavar="BENCHMARK", required=True, help="The benchmark to predict."
    )


def model_option() -> str:
    """The model that is asked."""
    return option(
        "--model", type=ModelName(), default=DEFAULT_MODEL, show_default=True, help="The model."
    )


def models_option() -> tuple[str, ...]:
    """The models that are compared."""
    return option(
        "--model", type=ModelName(), multiple=True, help="A model. Repeatable (default: all)."
    )


def unit_option() -> str:
    """The application's unit, for the answer."""
    return option(
        "--unit", default="s", show_default=True, metavar="UNIT", help="Of the application."
    )


def html_option() -> str | None:
    """The file of a page."""
    return option("--html", metavar="FILE", help="Write a page that needs nothing else.")


@dataclass(frozen=True, kw_only=True)
class PredictionOptions:
    """What one application is predicted by, from which file, and in which unit."""

    fit: FitOptions = group(FitOptions)
    limits: LimitOptions = group(LimitOptions)
    read: ReadOptions = group(ReadOptions)
    unit: str = unit_option()


def asked(application: str, fit: FitOptions, limits: LimitOptions | None = None) -> Asked:
    """What the options ask of one application."""
    from steelyard.app.predict.platform_questions import Asked

    names = names_of(fit.representatives, "--representatives")
    if limits is None:
        return Asked(application, predictors=fit.predictors, representatives=names)
    return Asked(application, limits.share, limits.limits(), fit.predictors, names)


def names_of(text: str | None, option_name: str) -> tuple[str, ...]:
    """Names between commas."""
    if text is None:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise UsageError(f"{option_name}: a name between two commas is empty.", field=option_name)
    return names
