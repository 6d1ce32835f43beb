import numpy as np

from steelyard.profile.file.profile_file import Mapping, Naming, RawProfile, Start
from steelyard.profile.symbols.address_space import mapping_indices


def found(raw, *looks):
    """The mapping of each look: (process, time_ns, address)."""
    processes, times, addresses = (np.array(column) for column in zip(*looks, strict=True))
    indices = mapping_indices(
        raw, processes.astype(np.uint32), times.astype(np.uint64), addresses.astype(np.uint64)
    )
    return indices.tolist()


def test_an_address_belongs_to_the_mapping_around_it():
    raw = RawProfile({}, mappings=[Mapping(1, 5, 100, 50, 0, "a"), Mapping(1, 5, 200, 50, 0, "b")])
    looks = [(5, 2, 100), (5, 2, 149), (5, 2, 150), (5, 2, 249), (5, 2, 99), (6, 2, 100)]
    assert found(raw, *looks) == [0, 0, -1, 1, -1, -1]


def test_what_is_mapped_later_counts_from_then_on():
    raw = RawProfile(
        {}, mappings=[Mapping(1, 5, 100, 100, 0, "a"), Mapping(10, 5, 120, 20, 0, "b")]
    )
    assert found(raw, (5, 9, 130), (5, 10, 130), (5, 11, 110), (5, 11, 150)) == [0, 1, 0, 0]


def test_a_new_program_starts_without_the_mappings_of_the_old_one():
    raw = RawProfile(
        {},
        mappings=[Mapping(1, 5, 100, 50, 0, "a"), Mapping(10, 5, 300, 50, 0, "b")],
        names=[Naming(10, 5, 5, True, "b")],
    )
    assert found(raw, (5, 5, 120), (5, 11, 120), (5, 11, 320)) == [0, -1, 1]


def test_a_child_has_the_mappings_of_its_parent_as_of_its_start():
    raw = RawProfile(
        {},
        mappings=[Mapping(1, 5, 100, 50, 0, "a"), Mapping(20, 5, 300, 50, 0, "b")],
        starts=[Start(10, 6, 6, 5, 5)],
    )
    assert found(raw, (6, 11, 120), (6, 25, 320), (5, 25, 320)) == [0, -1, 1]


def test_a_new_thread_changes_nothing():
    raw = RawProfile({}, mappings=[Mapping(1, 5, 100, 50, 0, "a")], starts=[Start(10, 5, 6, 5, 5)])
    assert found(raw, (5, 11, 120)) == [0]
