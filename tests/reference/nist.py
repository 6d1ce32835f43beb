"""Data sets of NIST's Statistical Reference Datasets with their certified values.

Source: National Institute of Standards and Technology, Statistical Reference Datasets
(https://www.itl.nist.gov/div898/strd/), analysis of variance and linear regression; public domain.
The SmLs and Wampler sets are given by the rules that NIST made them by. Values are read from
their decimal text, as from a file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AnovaSet:
    """One way: the group of each response, and what is certified."""

    name: str
    groups: tuple[int, ...]
    values: tuple[float, ...]
    between: float
    within: float
    f: float
    r_squared: float


@dataclass(frozen=True)
class RegressionSet:
    """Columns after the intercept, the response, and what is certified."""

    name: str
    columns: tuple[tuple[float, ...], ...]
    values: tuple[float, ...]
    coefficients: tuple[float, ...]
    deviations: tuple[float, ...]
    residual_deviation: float
    r_squared: float


_SI_RSTV = (
    "196.3052 196.1240 196.1890 196.2569 196.3403 196.3042 196.3825 196.1669 196.3257 196.0422 "
    "196.1303 196.2005 196.2889 196.0343 196.1811 196.2795 196.1748 196.1494 196.1485 195.9885 "
    "196.2119 196.1051 196.1850 196.0052 196.2090"
)  # fmt: skip
# (replicates, sums of squares between and within, F, R squared) of SmLs01-03, 04-06 and 07-09,
# which differ by what is added to every value: 1, 1e6 and 1e12.
_SMLS = (
    (21, 1.68, 1.80, 21.0, 4.82758620689655e-01),
    (201, 1.60800000000000e01, 18.0, 201.0, 4.71830985915493e-01),
    (2001, 1.60080000000000e02, 180.0, 2001.0, 4.70712773465067e-01),
)
_TENTHS = (4, 3, 5, 3, 5, 3, 5, 3, 5)


def _smls(number: int) -> AnovaSet:
    replicates, between, within, f, r_squared = _SMLS[(number - 1) % 3]
    whole = (1, 1_000_000, 1_000_000_000_000)[(number - 1) // 3]
    groups: list[int] = []
    values: list[float] = []
    for group, tenth in enumerate(_TENTHS):
        for replicate in range(replicates):
            step = 0 if replicate == 0 else (-1 if replicate % 2 else 1)
            groups.append(group)
            values.append(float(f"{whole}.{tenth + step}"))
    return AnovaSet(
        f"SmLs{number:02d}", tuple(groups), tuple(values), between, within, f, r_squared
    )


ANOVA = (
    AnovaSet(
        "SiRstv",
        tuple(i // 5 for i in range(25)),
        tuple(map(float, _SI_RSTV.split())),
        5.11462616000000e-02,
        2.16636560000000e-01,
        1.18046237440255e00,
        1.90999039051129e-01,
    ),
    *(_smls(number) for number in range(1, 10)),
)


def _powers(x: tuple[float, ...], degree: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(value**power for value in x) for power in range(1, degree + 1))


_NORRIS = (
    "0.1 0.2 338.8 337.4 118.1 118.2 888.0 884.6 9.2 10.1 228.1 226.5 668.5 666.3 998.5 996.3 "
    "449.1 448.6 778.9 777.0 559.2 558.2 0.3 0.4 0.1 0.6 778.1 775.5 668.8 666.9 339.3 338.0 "
    "448.9 447.5 10.8 11.6 557.7 556.0 228.3 228.1 998.0 995.8 888.8 887.6 119.6 120.2 0.3 0.3 "
    "0.6 0.3 557.6 556.8 339.3 339.1 888.0 887.2 998.5 999.0 778.9 779.0 10.2 11.1 117.6 118.3 "
    "228.9 229.2 668.4 669.1 449.2 448.9 0.2 0.5"
)
_PONTIUS = (
    ".11019 .21956 .32949 .43899 .54803 .65694 .76562 .87487 .98292 1.09146 1.20001 1.30822 "
    "1.41599 1.52399 1.63194 1.73947 1.84646 1.95392 2.06128 2.16844 .11052 .22018 .32939 .43886 "
    ".54798 .65739 .76596 .87474 .98300 1.09150 1.20004 1.30818 1.41613 1.52408 1.63159 1.73965 "
    "1.84696 1.95445 2.06177 2.16829"
)
_FILIP = (
    "0.8116 -6.860120914 0.9072 -4.324130045 0.9052 -4.358625055 0.9039 -4.358426747 0.8053 "
    "-6.955852379 0.8377 -6.661145254 0.8667 -6.355462942 0.8809 -6.118102026 0.7975 -7.115148017 "
    "0.8162 -6.815308569 0.8515 -6.519993057 0.8766 -6.204119983 0.8885 -5.853871964 0.8859 "
    "-6.109523091 0.8959 -5.79832982 0.8913 -5.482672118 0.8959 -5.171791386 0.8971 -4.851705903 "
    "0.9021 -4.517126416 0.909 -4.143573228 0.9139 -3.709075441 0.9199 -3.499489089 0.8692 "
    "-6.300769497 0.8872 -5.953504836 0.89 -5.642065153 0.891 -5.031376979 0.8977 -4.680685696 "
    "0.9035 -4.329846955 0.9078 -3.928486195 0.7675 -8.56735134 0.7705 -8.363211311 0.7713 "
    "-8.107682739 0.7736 -7.823908741 0.7775 -7.522878745 0.7841 -7.218819279 0.7971 -6.920818754 "
    "0.8329 -6.628932138 0.8641 -6.323946875 0.8804 -5.991399828 0.7668 -8.781464495 0.7633 "
    "-8.663140179 0.7678 -8.473531488 0.7697 -8.247337057 0.77 -7.971428747 0.7749 -7.676129393 "
    "0.7796 -7.352812702 0.7897 -7.072065318 0.8131 -6.774174009 0.8498 -6.478861916 0.8741 "
    "-6.159517513 0.8061 -6.835647144 0.846 -6.53165267 0.8751 -6.224098421 0.8856 -5.910094889 "
    "0.8919 -5.598599459 0.8934 -5.290645224 0.894 -4.974284616 0.8957 -4.64454848 0.9047 "
    "-4.290560426 0.9129 -3.885055584 0.9209 -3.408378962 0.9219 -3.13200249 0.7739 -8.726767166 "
    "0.7681 -8.66695597 0.7665 -8.511026475 0.7703 -8.165388579 0.7702 -7.886056648 0.7761 "
    "-7.588043762 0.7809 -7.283412422 0.7961 -6.995678626 0.8253 -6.691862621 0.8602 -6.392544977 "
    "0.8809 -6.067374056 0.8301 -6.684029655 0.8664 -6.378719832 0.8834 -6.065855188 0.8898 "
    "-5.752272167 0.8964 -5.132414673 0.8963 -4.811352704 0.9074 -4.098269308 0.9119 -3.66174277 "
    "0.9228 -3.2644011"
)
_LONGLEY = """60323 83 234289 2356 1590 107608 1947
61122 88.5 259426 2325 1456 108632 1948
60171 88.2 258054 3682 1616 109773 1949
61187 89.5 284599 3351 1650 110929 1950
63221 96.2 328975 2099 3099 112075 1951
63639 98.1 346999 1932 3594 113270 1952
64989 99 365385 1870 3547 115094 1953
63761 100 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955
67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957
66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959
69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961
70551 116.9 554894 4007 2827 130081 1962"""


def _pairs(text: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    numbers = tuple(map(float, text.split()))
    return numbers[1::2], numbers[0::2]


def _norris() -> RegressionSet:
    x, y = _pairs(_NORRIS)
    return RegressionSet(
        "Norris", (x,), y, (-0.262323073774029, 1.00211681802045),
        (0.232818234301152, 0.429796848199937e-03), 0.884796396144373, 0.999993745883712,
    )  # fmt: skip


def _pontius() -> RegressionSet:
    x = tuple(150000.0 * (1 + i % 20) for i in range(40))
    return RegressionSet(
        "Pontius", _powers(x, 2), tuple(map(float, _PONTIUS.split())),
        (0.673565789473684e-03, 0.732059160401003e-06, -0.316081871345029e-14),
        (0.107938612033077e-03, 0.157817399981659e-09, 0.486652849992036e-16),
        0.205177424076185e-03, 0.999999900178537,
    )  # fmt: skip


def _longley() -> RegressionSet:
    rows = [tuple(map(float, line.split())) for line in _LONGLEY.splitlines()]
    y, *columns = zip(*rows, strict=True)
    return RegressionSet(
        "Longley", tuple(columns), y,
        (-3482258.63459582, 15.0618722713733, -0.358191792925910e-01, -2.02022980381683,
         -1.03322686717359, -0.511041056535807e-01, 1829.15146461355),
        (890420.383607373, 84.9149257747669, 0.334910077722432e-01, 0.488399681651699,
         0.214274163161675, 0.226073200069370, 455.478499142212),
        304.854073561965, 0.995479004577296,
    )  # fmt: skip


def _filip() -> RegressionSet:
    x, y = _pairs(_FILIP)
    return RegressionSet(
        "Filip", _powers(x, 10), y,
        (-1467.48961422980, -2772.17959193342, -2316.37108160893, -1127.97394098372,
         -354.478233703349, -75.1242017393757, -10.8753180355343, -1.06221498588947,
         -0.670191154593408e-01, -0.246781078275479e-02, -0.402962525080404e-04),
        (298.084530995537, 559.779865474950, 466.477572127796, 227.204274477751,
         71.6478660875927, 15.2897178747400, 2.23691159816033, 0.221624321934227,
         0.142363763154724e-01, 0.535617408889821e-03, 0.896632837373868e-05),
        0.334801051324544e-02, 0.996727416185620,
    )  # fmt: skip


_DELTA = (
    759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048,
    -2048, 1838, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 759,
)  # fmt: skip
_WAMPLER_5 = (
    21523262.4678170, 23635517.3469681, 7793435.24331583, 1014755.07550350, 56456.6512170752,
    1123.24854679312,
)  # fmt: skip


def _wampler(number: int) -> RegressionSet:
    x = tuple(float(i) for i in range(21))
    base = 0.1 if number == 2 else 1.0
    coefficients = tuple(base**power for power in range(6))
    y = [sum(c * v**k for k, c in enumerate(coefficients)) for v in x]
    if number == 2:
        y = [float(f"{value:.5f}") for value in y]
    factor = {3: 1, 4: 100, 5: 10000}.get(number, 0)
    y = [value + factor * delta for value, delta in zip(y, _DELTA, strict=True)]
    share = {1: 1.0, 2: 1.0, 3: 0.999995559025820, 4: 0.957478440825662, 5: 0.224668921574940e-02}
    return RegressionSet(
        f"Wampler{number}", _powers(x, 5), tuple(y), coefficients,
        tuple(value * factor / 10000 for value in _WAMPLER_5),
        23601450.2379268 * factor / 10000, share[number],
    )  # fmt: skip


REGRESSION = (
    _norris(), _pontius(), _longley(), _filip(), *(_wampler(number) for number in range(1, 6)),
)  # fmt: skip
