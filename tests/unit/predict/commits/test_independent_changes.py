"""How many changes overlapping pairs show."""

import itertools

import numpy as np

from steelyard.predict.commits.independent_changes import change_of_row
from tests.unit.predict.commits.pairs import pair_table


def of(ends, distances, projects=None, **more):
    count = len(ends)
    table = pair_table(
        np.ones((count, 2)),
        np.ones(count),
        order=ends,
        distance=np.array(distances, float),
        **({"projects": tuple(projects)} if projects else {}),
        **more,
    )
    return change_of_row(table, table.hits).tolist()


def test_pairs_of_one_revision_show_one_change_and_neighbours_show_two():
    assert of([4, 4, 5], [1, 1, 1]) == [0, 0, 1]


def test_a_commit_that_many_pairs_lie_around_is_one_change():
    assert len(set(of(range(10, 25), [15] * 15))) == 1


def test_pairs_that_only_touch_do_not_overlap():
    assert of([15, 30], [15, 15]) == [0, 1]


def test_histories_of_two_projects_share_no_commit():
    assert of([4, 4], [3, 3], ["one", "two"]) == [0, 1]


def test_an_unknown_distance_is_one_commit():
    assert of([4, 5], [np.nan, np.nan]) == [0, 1]


def test_known_revisions_of_the_table_say_where_a_pair_begins():
    table = pair_table(np.ones((3, 2)), [0, 1, 1], order=[0, 100, 200])
    table.distance[:] = 500
    known = ("unseen", table.unknown[0], table.unknown[1])
    asked = type(table)(**{**vars(table), "known": known})
    assert change_of_row(asked, asked.hits).tolist() == [0, 1]


def test_the_changes_are_the_fewest_commits_that_explain_all_pairs():
    rng = np.random.default_rng(7)
    for _ in range(200):
        ends = rng.integers(1, 9, size=rng.integers(1, 7))
        distances = rng.integers(1, 5, size=len(ends))
        found = of(ends, distances)
        # Commit c lies between revisions c - 1 and c.
        needed = next(
            size
            for size in range(1, len(ends) + 1)
            for commits in itertools.combinations(range(-4, 9), size)
            if all(
                any(end - distance < commit <= end for commit in commits)
                for end, distance in zip(ends, distances, strict=True)
            )
        )
        assert len(set(found)) == needed
