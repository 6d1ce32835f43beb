"""Two hundred programs with hard call paths: what is learnt is what a logger saw."""

from __future__ import annotations

import random
from itertools import compress

from steelyard.analysis.paths.path_map import PathNumbers
from steelyard.analysis.paths.resizing import calls_learnt, with_sizes
from steelyard.analysis.paths.wrappable_calls import wrappable_calls
from steelyard.profile.paths.frame_sizes import read_frames, with_larger_frames, write_program
from steelyard.profile.paths.learning_run import learning_run
from steelyard.profile.paths.wrapped_program import read_calls, with_wrappers
from tests.cloned_programs import cloned_at_random, logged_calls
from tests.needs import needs_x86_64
from tests.path_programs import (
    built_logger,
    built_program,
    counted_keys,
    counted_paths,
    flags_of,
    logged_paths,
    nodes_through,
    with_logged_sites,
    without_callbacks,
)

PROGRAM_COUNT = 200


def seen_nodes(nodes, numbers, handlers):
    """The paths and nodes that no handler of a signal is on, which come at any height."""
    hidden = nodes_through(nodes, handlers)
    return [
        (path, node)
        for path, node, is_hidden in zip(numbers.of(nodes), nodes, hidden, strict=True)
        if not is_hidden
    ]


@needs_x86_64
def test_every_path_of_two_hundred_programs_is_learnt(tmp_path, monkeypatch):
    built_logger(tmp_path)
    monkeypatch.setenv("LOGGED_PATHS", str(tmp_path / "logged"))
    wrong = []
    for seed in range(PROGRAM_COUNT):
        program = built_program(tmp_path, seed, *flags_of(seed))
        found = learning_run([str(program)], str(program)).path_map
        numbers = PathNumbers()
        truth = counted_paths(logged_paths(tmp_path / "logged"), numbers)
        if counted_paths(found.nodes, numbers) != truth or found.guessed_count:
            wrong.append(seed)
        program.unlink()
    assert wrong == []


@needs_x86_64
def test_every_call_site_of_two_hundred_programs_is_learnt(tmp_path, monkeypatch):
    built_logger(tmp_path)
    monkeypatch.setenv("LOGGED_PATHS", str(tmp_path / "logged"))
    wrong, sites = [], 0
    for seed in range(PROGRAM_COUNT):
        program = built_program(tmp_path, seed, *flags_of(seed))
        found = learning_run([str(program)], str(program), call_sites=True).path_map
        names, numbers = found.functions, PathNumbers()
        logged = with_logged_sites(logged_paths(tmp_path / "logged"), tmp_path / "logged", names)
        truth = counted_paths(logged, numbers)
        if counted_paths(without_callbacks(found.nodes, names), numbers) != truth:
            wrong.append(seed)
        sites += len(found.call_sites or ())
        program.unlink()
    assert wrong == []
    assert sites > 10 * PROGRAM_COUNT


@needs_x86_64
def test_larger_frames_of_two_hundred_programs_give_the_keys_that_are_predicted(
    tmp_path, monkeypatch
):
    built_logger(tmp_path)
    monkeypatch.setenv("LOGGED_PATHS", str(tmp_path / "logged"))
    wrong, grown = [], 0
    for seed in range(PROGRAM_COUNT):
        program = built_program(tmp_path, seed, *flags_of(seed))
        before = learning_run([str(program)], str(program)).path_map
        frames, draw = read_frames(str(program)), random.Random(seed)
        # Coroutines have a stack of 256 KiB, which has to do.
        sizes = {
            function: 16 * draw.randint(0, min(most // 16, 8))
            for function, most in frames.most_bytes().items()
        }
        grown += sum(map(bool, sizes.values()))
        write_program(with_larger_frames(frames, sizes), str(program), f"{program}-larger")
        run = learning_run([f"{program}-larger"], f"{program}-larger")
        numbers = PathNumbers()
        truth = counted_paths(logged_paths(tmp_path / "logged"), numbers)
        after = run.path_map
        # The kernel aligns the frame of a handler by where the stack is, which differs by run.
        handlers = {at for at, name in before.functions.items() if name == "handler(int)"}
        through = nodes_through(before.nodes, handlers)
        hidden = set(compress(numbers.of(before.nodes), through))
        predicted = counted_keys(before.nodes, numbers, sizes, hidden)
        same = counted_keys(after.nodes, numbers, {}, hidden) == predicted
        if not same or counted_paths(after.nodes, numbers) != truth or run.exit_status:
            wrong.append(seed)
        program.unlink()
    assert wrong == []
    assert grown > PROGRAM_COUNT


@needs_x86_64
def test_wrapped_calls_of_two_hundred_programs_give_the_keys_that_are_predicted(
    tmp_path, monkeypatch
):
    built_logger(tmp_path)
    monkeypatch.setenv("LOGGED_PATHS", str(tmp_path / "logged"))
    wrong, wrapped = [], 0
    for seed in range(PROGRAM_COUNT):
        # The logger is given the address of each function, which might then be called by it.
        program = built_program(tmp_path, seed, *flags_of(seed), is_logged=False)
        before = learning_run([str(program)], str(program)).path_map
        calls, draw = read_calls(str(program)), random.Random(seed)
        found = sorted(wrappable_calls(calls, calls_learnt(before))[0])
        sizes = {call: 16 * draw.randint(1, 4) for call in found}
        wrapped += len(sizes)
        data = with_wrappers(program.read_bytes(), calls, sizes, before.functions)
        write_program(data, str(program), f"{program}-wrapped")
        run = learning_run([f"{program}-wrapped"], f"{program}-wrapped")
        numbers = PathNumbers()
        truth = counted_paths(before.nodes, numbers)
        handlers = {at for at, name in before.functions.items() if name == "handler(int)"}
        keys = [
            {(path, node.height_bytes) for path, node in seen_nodes(one.nodes, numbers, handlers)}
            for one in (run.path_map, with_sizes(before, {}, sizes))
        ]
        same = keys[0] == keys[1] and counted_paths(run.path_map.nodes, numbers) == truth
        if not same or run.exit_status or run.path_map.guessed_count:
            wrong.append(seed)
        program.unlink()
    assert wrong == []
    assert wrapped > 10 * PROGRAM_COUNT


@needs_x86_64
def test_clones_in_two_hundred_programs_give_the_keys_that_are_predicted(tmp_path, monkeypatch):
    built_logger(tmp_path)
    monkeypatch.setenv("LOGGED_PATHS", str(tmp_path / "logged"))
    wrong, cloned = [], 0
    for seed in range(PROGRAM_COUNT):
        program = built_program(tmp_path, seed, *flags_of(seed))
        before = learning_run([str(program)], str(program)).path_map
        calls = logged_calls(str(program), before)
        predicted, clones = cloned_at_random(
            str(program), before, seed, grows=seed % 2 == 0, calls=calls
        )
        cloned += len(clones.clones)
        run = learning_run([f"{program}-cloned"], f"{program}-cloned")
        numbers = PathNumbers()
        truth = counted_paths(logged_paths(tmp_path / "logged"), numbers)
        handlers = {at for at, name in before.functions.items() if name == "handler(int)"}
        keys = [
            {
                (path, node.function, node.height_bytes)
                for path, node in seen_nodes(one.nodes, numbers, handlers)
            }
            for one in (run.path_map, predicted)
        ]
        # The logger names functions by an address of theirs, which is the original's in a clone.
        seen = [
            node._replace(function=clones.originals.get(node.function, node.function))
            for node in run.path_map.nodes
        ]
        same = keys[0] == keys[1] and counted_paths(seen, numbers) == truth
        if not same or run.exit_status or run.path_map.guessed_count:
            wrong.append(seed)
        program.unlink()
    assert wrong == []
    assert cloned > PROGRAM_COUNT
