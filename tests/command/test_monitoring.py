"""examples/monitoring against Debian's Prometheus: it scrapes a fit, and promtool finds no fault."""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request

import pytest

from serving import Fit
from support import TIMEOUT

REPOSITORY = pathlib.Path(__file__).parents[2]
EXAMPLE = REPOSITORY / "examples" / "monitoring"


def program(name):
    """Of the package that `./dev test` unpacks, or installed."""
    unpacked = REPOSITORY / "build" / "prometheus" / "usr" / "bin" / name
    found = str(unpacked) if unpacked.exists() else shutil.which(name)
    return found or pytest.skip(f"there is no {name}: ./dev test unpacks Debian's prometheus")


def promtool(*arguments, given=None):
    done = subprocess.run([program("promtool"), *map(str, arguments)], input=given, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


def until(is_so):
    end = time.monotonic() + TIMEOUT
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def fit(headwater):
    running = Fit(headwater, "--engine", "particle")
    running.feed(400)
    until(lambda: running.state()["model"]["observations"] == 400)
    yield running
    running.end()


def test_rules_and_configuration_are_sound():
    assert "SUCCESS" in promtool("check", "config", EXAMPLE / "prometheus.yml")
    promtool("test", "rules", EXAMPLE / "alerts_test.yml")


def test_promtool_has_nothing_to_say_about_the_metrics(fit):
    assert promtool("check", "metrics", given=fit.get("/metrics")[1]) == ""


def test_every_metric_that_is_drawn_or_watched_exists(fit):
    served = set(re.findall(r"^(headwater_\w+)", fit.get("/metrics")[1], re.MULTILINE))
    for name in "alerts.yml", "dashboard.json", "README.md":
        used = set(re.findall(r"\bheadwater_\w+", (EXAMPLE / name).read_text()))
        assert used and used <= served, (name, used - served)
    panels = json.loads((EXAMPLE / "dashboard.json").read_text())["panels"]
    assert all(target["expr"] for panel in panels for target in panel.get("targets", []))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@pytest.fixture
def prometheus(fit, tmp_path):
    """The example's configuration, with the port of this fit."""
    text = (EXAMPLE / "prometheus.yml").read_text()
    assert "127.0.0.1:8080" in text
    text = text.replace("127.0.0.1:8080", f"127.0.0.1:{fit.port}").replace("scrape_interval: 5s",
                                                          "scrape_interval: 200ms")
    (tmp_path / "prometheus.yml").write_text(text)
    shutil.copy(EXAMPLE / "alerts.yml", tmp_path)
    port = free_port()
    process = subprocess.Popen(
        [program("prometheus"), f"--config.file={tmp_path}/prometheus.yml",
         f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address=127.0.0.1:{port}",
         "--web.console.templates=", "--web.console.libraries="],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def value_of(query):
        address = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
            found = json.load(answer)["data"]["result"]
        return float(found[0]["value"][1]) if found else None
    yield value_of
    process.terminate()
    process.wait(TIMEOUT)


def test_prometheus_scrapes_a_fit(prometheus):
    def has_come():
        try:
            return prometheus("headwater_observations_total") == 400
        except OSError:
            return False  # it is not listening yet
    until(has_come)
    assert prometheus('up{job="headwater"}') == 1
    assert prometheus("headwater_channels") == 3 and prometheus("headwater_components") == 2
    assert 0 < prometheus("headwater_effective_sample_ratio") <= 1
