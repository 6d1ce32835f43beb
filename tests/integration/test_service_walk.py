"""A person's way through the pages, walked by a real browser."""

from __future__ import annotations

import csv
import tarfile
from pathlib import Path

from tests.chromium import browser, chromium_program
from tests.integration.test_service_people import PASSWORD, shared  # noqa: F401 - a fixture
from tests.packages import need_containers, package
from tests.patience import PATIENCE_S, awaited


def file_in(folder: Path) -> Path:
    """What is downloaded there, once it is whole."""
    found = awaited(lambda: [each for each in folder.iterdir() if each.suffix == ".csv"])
    return found[0]


def test_one_signs_in_sends_by_the_form_sees_results_and_takes_them_away(user, shared) -> None:  # noqa: F811
    chromium_program()
    assert user.types("worker", "--once", "--name", "w").status == 0
    downloads = user.home / "downloads"
    downloads.mkdir()
    with browser(user.home / "browser", downloads) as page:
        page.opens(shared.link)
        page.types("[name=name]", "eve")
        page.types("[name=password]", PASSWORD)
        page.types("[name=again]", PASSWORD)
        page.clicks("main button")
        page.clicks("nav button", "Sign out eve")
        page.clicks("nav a", "Sign in")
        page.types("[name=name]", "eve")
        page.types("[name=password]", PASSWORD)
        page.clicks("main button")
        page.clicks("nav a", "Send one")
        for program in ("bzip2", "xz"):
            page.clicks("[name=program]", program)
        page.types("[name=name]", "walked")
        page.types("[name=command]", "true")
        page.chooses("[name=factor]", "environment-size")
        page.types("[name=factor_levels]", "0, 64")
        page.types("[name=factor_name]", "padding")
        page.types("[name=replicates]", "3")
        page.clicks("button", "plan")
        page.shows("6 trials in 3 blocks on 1 worker")
        assert 'command = "true"' in page.value('document.getElementById("file").textContent')
        page.clicks("button", "send")
        page.shows("0 of 6")
        worker = user.start("worker", "--once", "--name", "w")
        # The page loads itself anew.
        page.shows("done: 6 of 6")
        worker.communicate(timeout=PATIENCE_S)
        page.clicks("main a", "CSV")
        with file_in(downloads).open(newline="") as file:
            assert len({row["position"] for row in csv.DictReader(file)}) == 6
        page.clicks("main a", "The answer")
        page.shows("padding")
        page.shows("cpu_time")


def test_one_sends_a_package_by_the_form_and_a_worker_runs_it(user, shared, tmp_path) -> None:  # noqa: F811
    chromium_program()
    need_containers(tmp_path)
    archive = user.home / "sorting.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(package(tmp_path / "sorting"), "sorting")
    wrong = user.home / "wrong.zip"
    wrong.write_bytes(b"PK\3\4 and no more")
    assert user.types("worker", "--once", "--name", "w").status == 0
    with browser(user.home / "browser", user.home) as page:
        page.opens(shared.link)
        page.types("[name=name]", "eve")
        page.types("[name=password]", PASSWORD)
        page.types("[name=again]", PASSWORD)
        page.clicks("main button")
        page.clicks("nav a", "Send one")
        for program in ("bzip2", "xz"):
            page.clicks("[name=program]", program)
        page.types("[name=name]", "a package of my own")
        page.chooses("[name=factor]", "environment-size")
        page.types("[name=factor_levels]", "0, 64")
        page.types("[name=replicates]", "3")
        page.chooses_file("[name=archive]", wrong)
        page.clicks("button", "send")
        page.shows("cannot be read")
        assert page.value("document.querySelector('[name=name]').value") == "a package of my own"
        page.chooses_file("[name=archive]", archive)
        page.clicks("button", "plan")
        page.shows("6 trials in 3 blocks on 1 worker")
        assert page.value("document.querySelector('[name=package_name]').value") == "sorting"
        # It is kept already: nothing is chosen in the field for files now.
        page.clicks("button", "send")
        page.shows("0 of 6")
        worker = user.start("worker", "--once", "--name", "w")
        page.shows("done: 6 of 6")
        worker.communicate(timeout=PATIENCE_S)
        page.clicks("main a", "The answer")
        page.shows("optimisation")
        page.shows("cpu_time")
