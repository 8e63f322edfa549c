"""fit --serve and --metrics, from outside: what is served, to whom, and that nobody can stop the fit."""

import json
import random
import re
import socket
import threading

import pytest

from serving import ROW, Fit
from support import TIMEOUT

@pytest.fixture
def fit(headwater):
    running = Fit(headwater)
    yield running
    running.end()


def test_what_is_served(fit):
    fit.feed(4000)
    answer, text = fit.get("/healthz")
    assert (answer.status, text) == (200, "ok\n")
    answer, text = fit.get("/metrics")
    assert answer.getheader("Content-Type").startswith("text/plain; version=0.0.4")
    assert "headwater_observations_total " in text
    answer, text = fit.get("/state.json")
    assert answer.getheader("Content-Type") == "application/json"
    state = json.loads(text)
    assert (state["format"], state["version"], state["kind"]) == ("headwater-state", 1, "live")
    answer, text = fit.get("/")
    if answer.status == 200:
        assert "default-src 'none'" in text and 'id="state"' in text
    else:
        assert answer.status == 501 and "without npm" in text
    assert fit.get("/nothing")[0].status == 404
    for name in ["Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options",
                 "Referrer-Policy", "Cache-Control"]:
        assert answer.getheader(name), name
    assert answer.getheader("Access-Control-Allow-Origin") is None
    fit.finish()


def test_events_end_with_the_numbers_of_the_model(fit):
    events = fit.events()
    first = next(events)
    assert first["live"]["is_finished"] is False
    fit.feed(8000)
    finisher = threading.Thread(target=fit.process.stdin.close)
    finisher.start()
    last = None
    for last in events:
        pass
    finisher.join()
    assert fit.process.wait(TIMEOUT) == 0
    facts = fit.headwater.facts("model.h5")
    assert last["live"]["is_finished"] is True
    assert last["live"]["rows"] == 8000
    for field in ["observations", "log_likelihood", "components", "channels", "seed", "method",
                  "impossible_observations"]:
        assert last["model"][field] == facts[field], field
    assert last["model"]["prior"] == facts["prior"]
    basis = fit.headwater.basis("model.h5")
    assert abs(basis - last["basis"]).max() < 1e-5 * basis.max()


def test_other_hosts_and_origins_are_refused(fit):
    right = f"127.0.0.1:{fit.port}"
    for headers, status in [
            ({"Host": right}, 200), ({"Host": f"localhost:{fit.port}"}, 200),
            ({"Host": "evil.example"}, 403), ({"Host": f"evil.example:{fit.port}"}, 403),
            ({"Host": "127.0.0.1.evil.example"}, 403), ({"Host": ""}, 403),
            ({"Host": "192.168.0.7"}, 403),
            ({"Host": right, "Origin": f"http://{right}"}, 200),
            ({"Host": right, "Origin": "http://evil.example"}, 403),
            ({"Host": right, "Origin": "null"}, 403)]:
        for path in ["/state.json", "/events", "/"]:
            if status == 200 and path != "/state.json":
                continue
            assert fit.get(path, headers=headers)[0].status == status, (path, headers)
    assert fit.raw(b"GET / HTTP/1.0\r\n\r\n").split()[1] == b"403"


def test_only_get(fit):
    for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "NONSENSE"]:
        answer, _ = fit.get("/state.json", method=method, body=b"x" if method == "POST" else None)
        assert answer.status == 405, method
        assert answer.getheader("Allow") == "GET"


def test_malformed_requests_cost_nothing(fit):
    dice = random.Random(4)
    good = b"GET /state.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    requests = [b"", b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01",
                b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n",
                b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
                b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"]
    for _ in range(300):
        damaged = bytearray(good)
        for _ in range(dice.randint(1, 6)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        requests.append(bytes(damaged[:dice.randint(1, len(damaged))]))
    for request in requests:
        fit.raw(request)
    assert fit.get("/healthz")[0].status == 200
    fit.feed(2000)
    fit.finish()


def test_many_connections_and_viewers_that_hang(fit):
    """A viewer that never reads, three that are killed, and hundreds one after the other."""
    hanging = socket.create_connection(("127.0.0.1", fit.port), timeout=TIMEOUT)
    hanging.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    hanging.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for _ in range(3):
        events = fit.events()
        next(events)
        events.close()
    fit.feed(4000)
    before = None
    for i in range(600):
        assert fit.get("/healthz")[0].status == 200
        if i == 100:
            before = fit.open_files()
    assert fit.open_files() <= before + 4
    assert fit.state()["live"]["rows"] >= 0
    fit.finish()
    hanging.close()


def test_viewers_are_limited_and_metrics_still_come(fit):
    sockets = []
    for _ in range(40):
        sockets.append(socket.create_connection(("127.0.0.1", fit.port), timeout=TIMEOUT))
        sockets[-1].sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    statuses = [one.recv(12)[9:12] for one in sockets]
    assert statuses.count(b"200") == 32 and statuses.count(b"503") == 8
    assert fit.get("/metrics")[0].status == 200
    for one in sockets:
        one.close()


def test_everybody_may_look_only_with_a_warning(headwater):
    fit = Fit(headwater, serve="0.0.0.0:0")
    assert fit.lines[0].startswith("warning: --serve 0.0.0.0:0 shows the fit to everybody")
    assert fit.get("/healthz", headers={"Host": "192.168.0.7:80"})[0].status == 200
    assert fit.get("/healthz", headers={"Host": "evil.example"})[0].status == 403
    fit.feed(400)
    fit.finish()
    fit.end()


def test_mistakes_get_one_line(headwater, fit):
    headwater.write("d.csv", "1,2\n3,4\n")
    common = ["fit", "d.csv", "--components", 1, "--prior", "basis-selection", "--out", "o.h5"]
    for arguments, code, words in [
            (["--serve", "http"], 2, "--serve http: expected PORT"),
            (["--serve", "70000"], 2, "--serve 70000: expected PORT"),
            (["--serve", "example.org:80"], 2, "expected PORT or ADDRESS:PORT"),
            (["--serve", str(fit.port)], 1, "cannot listen there"),
            (["--serve", "0", "--method", "batch"], 2, "--serve needs online EM"),
            (["--metrics", "m.prom", "--method", "batch"], 2, "--metrics needs online EM"),
            (["--metrics", "no/folder/m.prom"], 1, "no/folder/m.prom")]:
        done = headwater.attempt(*common, *arguments)
        assert done.returncode == code, done.stderr
        assert done.stderr.decode().count("\n") == 1, done.stderr
        assert words in done.stderr.decode()


def metrics_in(text):
    """Names and numbers; checks the form."""
    values, described = {}, set()
    for line in text.splitlines():
        if line.startswith("# "):
            kind, name = line.split()[1:3]
            assert kind in ("HELP", "TYPE")
            described.add((kind, name))
            if kind == "TYPE":
                assert line.split()[3] == ("counter" if name.endswith("_total") else "gauge")
            continue
        found = re.fullmatch(r'(headwater_[a-z_]+)(?:\{version="[^"]*"\})? (\S+)', line)
        assert found, line
        name = found.group(1)
        assert ("HELP", name) in described and ("TYPE", name) in described
        assert name not in values
        values[name] = float(found.group(2))
    assert text.endswith("\n")
    return values


@pytest.mark.parametrize("engine", [[], ["--engine", "particle", "--particles", 50]])
def test_the_metrics_file_has_the_last_numbers(headwater, engine):
    headwater.write("d.csv", ROW * 300 + b"1,x,3\n" + ROW)
    headwater("fit", "d.csv", "--components", 2, "--prior", "basis-selection", "--start-on", 200,
              "--on-bad-row", "skip", "--checkpoint", "c.state", "--checkpoint-every", 500,
              "--metrics", "m.prom", "--out", "m.h5", *engine)
    values = metrics_in(headwater.path("m.prom").read_text())
    assert values["headwater_rows_total"] == values["headwater_observations_total"] == 1204
    assert values["headwater_bad_rows_total"] == 1
    assert values["headwater_finished"] == 1
    assert values["headwater_channels"] == 3 and values["headwater_components"] == 2
    assert values["headwater_checkpoints_total"] >= 2
    assert values["headwater_parameter_updates_total"] == headwater.facts("m.h5")["iterations"]
    assert ("headwater_effective_sample_ratio" in values) == bool(engine)


def test_watching_changes_no_byte_of_the_model(headwater):
    headwater.write("d.csv", ROW * 300)
    common = ["fit", "d.csv", "--components", 2, "--prior", "basis-selection", "--quiet"]
    headwater(*common, "--out", "a.h5")
    headwater(*common, "--out", "b.h5", "--metrics", "m.prom", "--serve", "0")
    assert headwater.path("a.h5").read_bytes() == headwater.path("b.h5").read_bytes()
