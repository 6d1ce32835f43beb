"""A service on this machine: what is sent to it is run, once, and shown."""

from __future__ import annotations

import ctypes
import http.client
import json
import os
import signal
import time
from urllib.parse import urlsplit

import pytest

from tests.integration.conftest import validate
from tests.patience import PATIENCE_S, awaited, line_of

FILE = """\
[experiment]
name = "a & b"
seed = 5
runs = {runs}

[[benchmark]]
name = "b"
command = {command}

[[factor]]
factor = "environment-size"
levels = [0, 64]

[hosts]
{hosts}
"""


def written(user, command='"true"', runs=2, hosts="", name="e.toml"):
    path = user.home / name
    path.write_text(FILE.format(command=command, runs=runs, hosts=hosts))
    return str(path)


class Served:
    """A service that runs, and its API."""

    def __init__(self, user, *words, **options):
        self.user = user
        self.process = user.start("serve", "--port", "0", *words, **options)
        line = line_of(self.process, "stderr").decode()
        while not line.startswith("steelyard: http://"):
            line = line_of(self.process, "stderr").decode()
        self.address = line.split()[1]
        self.url = urlsplit(self.address)
        (running,) = user.home.glob("data/steelyard/*.service/running.json")
        self.token = json.loads(running.read_text())["token"]

    def asks(self, method, path, body=None, token=None, kind="application/json"):
        connection = http.client.HTTPConnection(self.url.netloc, timeout=PATIENCE_S)
        data = body if isinstance(body, str | None) else json.dumps(body)
        headers = {"Authorization": f"Bearer {token or self.token}", "Content-Type": kind}
        connection.request(method, self.url.path + path, data, headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def asks_for_bytes(self, path):
        connection = http.client.HTTPConnection(self.url.netloc, timeout=PATIENCE_S)
        connection.request("GET", self.url.path + path)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, data

    def gets(self, path):
        status, text = self.asks("GET", path)
        assert status == 200, text
        return json.loads(text)

    def has_worker(self):
        """Wait until the worker of this machine is enrolled."""
        awaited(lambda: self.gets("api/workers")["workers"])

    def ended(self, identifier):
        """What the API says of an experiment when it has ended."""
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            told = self.gets(f"api/experiments/{identifier}")
            if told["state"] not in ("queued", "running"):
                return told
            assert time.monotonic() < deadline_s, told
            time.sleep(0.05)

    def enrols(self, name):
        body = {"name": name, "facts": {"architecture": name, "cpus": 1}}
        status, text = self.asks("POST", "api/workers", body)
        assert status == 200, text
        return json.loads(text)["token"]

    def ends(self, number=signal.SIGINT):
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, err.decode()


@pytest.fixture
def serving(user):
    started = []

    def serve(*words):
        started.append(Served(user, *words))
        return started[-1]

    yield serve
    for each in started:
        if each.process.poll() is None:
            each.ends()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_another_thread_is_handed_ends_the_service(user, number) -> None:
    served = Served(user, "--no-worker")
    process = served.process.pid
    other = max(int(name) for name in os.listdir(f"/proc/{process}/task"))
    assert other != process
    assert ctypes.CDLL(None).tgkill(process, other, int(number)) == 0
    status, said = served.ends(0)
    assert (status, said) == (0, "")


def sent(user, file, *words):
    told = user.types("submit", file, "--json", "-", *words)
    assert told.status == 0, told.err
    document = told.document()
    validate(document)
    return document


def places(trials):
    return sorted(trial["position"] for trial in trials["trials"])


def test_what_is_sent_is_run_on_this_machine_and_answered(user, serving) -> None:
    served = serving()
    served.has_worker()
    planned = sent(user, written(user), "--dry-run")
    assert (planned["experiment"], planned["trials"], planned["blocks"]) == (None, 4, 2)
    assert served.gets("api/experiments")["experiments"] == []
    told = sent(user, written(user))
    identifier = told["experiment"]
    assert (told["trials"], told["fewest"], len(told["workers"])) == (4, True, 1)
    ended = served.ended(identifier)
    assert (ended["state"], ended["committed"], ended["parts"]) == ("done", 4, {"done": 2})
    trials = served.gets(f"api/experiments/{identifier}/trials")
    assert places(trials) == [0, 1, 2, 3]
    assert {trial["status"] for trial in trials["trials"]} == {"ok"}
    assert trials["stopped"] == "runs"
    status, page = served.asks("GET", f"service/{identifier}/answer")
    assert status == 200
    assert "environment-size" in page
    for kind in ("csv", "parquet", "steelyard-json"):
        status, _ = served.asks_for_bytes(f"service/{identifier}/download/{kind}")
        assert status == 200
    assert served.asks("GET", f"service/{identifier}/download/none")[0] == 422
    (user.home / "e.json").write_bytes(
        served.asks_for_bytes(f"service/{identifier}/download/steelyard-json")[1]
    )
    assert user.types("import", "e.json").status == 0
    told = user.types("experiment", "analyze", identifier, "--json", "-")
    assert told.status == 0, told.err
    page = served.asks("GET", f"service/{identifier}")[1]
    assert "done: 4 of 4 trials" in page
    assert "a &amp; b" in page
    assert identifier[:10] in served.asks("GET", "service")[1]
    assert "idle" in served.asks("GET", "service/workers")[1]
    assert served.ends()[0] == 0


def test_each_worker_runs_its_blocks_and_tables_say_which(user, serving) -> None:
    served = serving("--no-worker")
    for name in ("one", "two"):
        assert user.types("worker", "--once", "--name", name, "--directory", name).status == 0
    told = sent(user, written(user, hosts='factors = {worker = "100%"}', runs=2))
    assert (told["workers"], told["trials"], told["blocks"]) == (["one", "two"], 8, 4)
    for name in ("one", "two"):
        assert user.types("worker", "--once", "--name", name, "--directory", name).status == 0
    assert served.ended(told["experiment"])["committed"] == 8
    trials = served.gets(f"api/experiments/{told['experiment']}/trials")
    assert places(trials) == list(range(8))
    placement = trials["experiment"]["placement"]
    assert [worker["name"] for worker in placement["workers"]] == ["one", "two"]
    assert sorted(placement["blocks"]) == [0, 0, 1, 1]


def test_a_worker_that_is_killed_loses_nothing_that_had_ended(user, serving, script) -> None:
    served = serving("--no-worker")
    program = script("echo x >> ran\n[ -e go ] || { touch here; exec sleep 600; }\n")
    assert user.types("worker", "--once", "--name", "w").status == 0
    identifier = sent(user, written(user, f'"{program}"'))["experiment"]
    process = user.start("worker", "--once", "--name", "w")
    awaited((user.home / "here").exists, process)
    process.kill()
    process.communicate()
    (user.home / "go").touch()
    told = user.types("worker", "--once", "--name", "w")
    assert told.status == 0, told.err
    assert served.ended(identifier)["committed"] == 4
    assert places(served.gets(f"api/experiments/{identifier}/trials")) == [0, 1, 2, 3]


def test_a_result_waits_on_the_workers_disk_for_a_service_that_was_killed(
    user, serving, script
) -> None:
    served = serving("--no-worker")
    program = script("[ -e go ] || { touch here; while [ ! -e go ]; do sleep 0.05; done; }\n")
    assert user.types("worker", "--once", "--name", "w").status == 0
    identifier = sent(user, written(user, f'"{program}"', runs=1))["experiment"]
    worker = user.start("worker", "--name", "w")
    awaited((user.home / "here").exists)
    served.ends(signal.SIGKILL)
    (user.home / "go").touch()
    awaited(lambda: list(user.home.glob("data/steelyard/*.service/worker/outbox/*.json")))
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=PATIENCE_S)
    again = serving("--no-worker")
    assert again.gets(f"api/experiments/{identifier}")["committed"] == 0
    assert user.types("worker", "--once", "--name", "w").status == 0
    assert again.ended(identifier)["committed"] == 2
    assert not list(user.home.glob("data/steelyard/*.service/worker/outbox/*"))


def test_a_program_that_is_not_there_gives_the_part_up_with_the_reason(user, serving) -> None:
    served = serving("--no-worker")
    assert user.types("worker", "--once", "--name", "w").status == 0
    identifier = sent(user, written(user, '"no-such-program"', runs=1))["experiment"]
    told = user.types("worker", "--once", "--name", "w")
    assert told.status == 0
    assert "no-such-program" in told.err
    assert served.ended(identifier)["parts"] == {"failed": 1}


def test_blocks_that_one_worker_cannot_run_are_run_by_another(user, serving, script) -> None:
    served = serving("--no-worker")
    script("true\n", "only-here")
    path = user.environment["PATH"]

    def works(name, programs):
        user.environment["PATH"] = f"{programs}:{path}" if programs else path
        told = user.types("worker", "--once", "--name", name, "--directory", name)
        assert told.status == 0, told.err

    for name in ("good", "poor"):
        works(name, None)
    user.environment["PATH"] = f"{user.home}:{path}"
    identifier = sent(user, written(user, '"only-here"', hosts="workers = 1"))["experiment"]
    works("poor", None)
    works("good", user.home)
    works("poor", None)
    works("good", user.home)
    told = served.ended(identifier)
    assert (told["parts"], told["committed"]) == ({"done": 2}, 4)
    # What the worker said that the plan gave it to.
    assert "only-here" in served.asks("GET", f"service/{identifier}")[1].partition("poor")[2]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "api/experiments/01M85SC0VHQM52GC8EDA4C9YQW", None, 404),
        ("POST", "api/experiments", "not json", 422),
        ("POST", "api/experiments", "[1]", 422),
        ("POST", "api/experiments", {"file": 5}, 422),
        ("POST", "api/experiments", {"file": "x = "}, 422),
        ("POST", "api/experiments", {"file": "[" * 100_000}, 422),
        ("POST", "api/experiments", {"file": "", "priority": "high"}, 422),
        ("POST", "api/workers", {"name": ""}, 422),
        ("POST", "api/workers", {"name": "a\nb"}, 422),
        ("POST", "api/workers", {"name": "a", "facts": 7}, 422),
        ("DELETE", "api/experiments", None, 404),
        ("GET", "api/", None, 404),
        ("GET", "service/01M85SC0VHQM52GC8EDA4C9YQW", None, 404),
        ("GET", "service/%00/answer", None, 404),
    ],
)
def test_what_cannot_be_is_one_clear_answer(serving, method, path, body, status) -> None:
    served = serving("--no-worker")
    found, text = served.asks(method, path, body)
    assert found == status, text
    assert "Traceback" not in text
    if status == 422:
        validate(json.loads(text))


def test_tokens_are_for_what_they_are_for(serving) -> None:
    served = serving("--no-worker")
    worker = served.enrols("w")
    for token, path, status in (
        ("steelyard_wrong", "api/experiments", 401),
        (worker, "api/experiments", 401),
    ):
        assert served.asks("GET", path, token=token)[0] == status
    assert served.asks("POST", "api/worker/next", {})[0] == 401
    assert served.asks("POST", "api/worker/next", {}, token=worker)[0] == 204
    assert served.asks("POST", "api/worker/beat", {"status": "asleep"}, token=worker)[0] == 422


def test_forged_results_are_refused_and_put_a_worker_into_quarantine(user, serving) -> None:
    served = serving("--no-worker")
    token = served.enrols("w")
    identifier = sent(user, written(user, runs=1))["experiment"]
    given = json.loads(served.asks("POST", "api/worker/next", {}, token=token)[1])
    about = {name: given[name] for name in ("part", "attempt", "experiment")}
    forged = {
        "position": 0,
        "block": 0,
        "variant": 0,
        "warmup": False,
        "status": "ok",
        "reason": None,
        "started_unix_s": 1.0,
        "spent_s": 1.0,
        "measurements": {"wall_time": [-5.0]},
    }
    for trials in ([forged], [{**forged, "variant": 77}], [{**forged, "measurements": {}}]):
        body = {**about, "trials": trials, "provenance": {}}
        status, text = served.asks("POST", "api/worker/results", body, token=token)
        assert (status, json.loads(text)["outcome"]) == (200, "refused"), text
    assert served.gets("api/workers")["workers"][0]["status"] == "quarantined"
    assert served.asks("POST", "api/worker/next", {}, token=token)[0] == 204
    assert served.gets(f"api/experiments/{identifier}")["committed"] == 0
    status, text = served.asks("POST", "api/worker/results", {"trials": 5}, token=token)
    assert status == 422
    assert "Traceback" not in text


def test_the_form_says_what_would_run_sends_it_and_cancels_it(user, serving) -> None:
    served = serving("--no-worker")
    kind = "application/x-www-form-urlencoded"
    nobody = served.asks("POST", "service/new", "ask=plan&file=x%3D1", kind=kind)
    assert (nobody[0], "there is no such field" in nobody[1]) == (422, True)
    served.enrols("w")
    text = FILE.format(command='"true"', runs=3, hosts="")
    from urllib.parse import urlencode

    planned = served.asks(
        "POST", "service/new", urlencode({"ask": "plan", "file": text}), kind=kind
    )
    assert planned[0] == 200
    assert "6 trials in 3 blocks on 1 worker" in planned[1]
    status, _ = served.asks("POST", "service/new", urlencode({"file": text}), kind=kind)
    assert status == 303
    (listed,) = served.gets("api/experiments")["experiments"]
    page = served.asks("GET", f"service/{listed['experiment']}")[1]
    assert "Cancel what is left" in page
    status, _ = served.asks("POST", f"service/{listed['experiment']}/cancel", "", kind=kind)
    assert status == 303
    assert served.ended(listed["experiment"])["state"] == "cancelled"


def test_without_a_service_the_message_says_how_to_get_one(user) -> None:
    for words in (("submit", written(user)), ("worker", "--once")):
        told = user.types(*words)
        assert told.status == 2
        assert "steelyard serve" in told.err
    far = ("submit", written(user), "--server", "http://127.0.0.1:9/")
    assert "needs a token" in user.types(*far).err
    (user.home / "token").write_text("steelyard_x\n")
    told = user.types(*far, "--token-file", "token")
    assert (told.status, "does not answer" in told.err) == (4, True)
    told = user.types("submit", written(user), "--server", "nonsense", "--token-file", "token")
    assert (told.status, "takes an address" in told.err) == (2, True)


def test_what_a_service_does_not_do_is_refused_by_the_field(user, serving) -> None:
    served = serving("--no-worker")
    told = user.types("submit", written(user))
    assert (told.status, "No worker is there" in told.err) == (2, True)
    served.enrols("w")
    path = written(user)
    power = 'power = {change = "1%", variation = "1%"}'
    text = (user.home / "e.toml").read_text().replace("runs = 2", power)
    (user.home / "e.toml").write_text(text)
    told = user.types("submit", path)
    assert (told.status, "cannot plan by `power`" in told.err) == (2, True)
    told = user.types("submit", written(user, hosts='require = {cpus = ">= 64"}'))
    assert (told.status, "cpus >= 64" in told.err) == (2, True)


def test_what_a_service_and_its_worker_keep_is_their_users_alone(user, serving) -> None:
    old = user.home / "data/steelyard/steelyard.sqlite.service"
    old.mkdir(parents=True, mode=0o755)
    service = serving("--no-worker")
    environment = {"STEELYARD_SERVER": service.address, "STEELYARD_TOKEN": service.token}
    user.environment.update(environment)
    assert user.types("worker", "--once").status == 0
    kept = [old, *(path for path in old.rglob("*") if path.is_dir())]
    assert {"worker", "outbox"} <= {path.name for path in kept}
    assert [path for path in kept if path.stat().st_mode & 0o077] == []


def test_hosts_that_are_of_no_cluster_are_not_booted(user, serving) -> None:
    serving("--no-worker").enrols("a")
    told = user.types("submit", written(user, hosts='reboot = "block"'))
    assert told.status == 2
    assert "none of the 1 workers is of a cluster" in told.err
    told = user.types("submit", written(user, hosts='reboot = "daily"'))
    assert told.status == 2
    assert 'it takes "never", "experiment", "block" or "trial"' in told.err


def test_the_answer_of_several_workers_tells_their_difference_from_the_factors(
    user, serving
) -> None:
    served = serving("--no-worker")
    for name in ("one", "two"):
        assert user.types("worker", "--once", "--name", name, "--directory", name).status == 0
    file = written(user, hosts='factors = {worker = "100%"}', runs=4)
    identifier = sent(user, file)["experiment"]
    for name in ("one", "two"):
        assert user.types("worker", "--once", "--name", name, "--directory", name).status == 0
    assert served.ended(identifier)["committed"] == 16
    page = served.asks("GET", f"service/{identifier}/answer")[1]
    assert "environment-size:worker" in page
