"""--time-column: rows that say when they were made."""

import csv
import io
import json

import numpy as np
import pytest

from support import as_csv, held_model

BASIS = np.array([[20.0, 1], [2, 15], [5, 5]])
HOURS = [f"2026-03-28T{h:02}:00" for h in range(22, 24)] + [
    f"2026-03-29T{h:02}:00" for h in range(24)]


def counts(length, seed=2):
    return np.random.default_rng(seed).poisson(BASIS.sum(axis=1), size=(length, 3))


def stamped(times, y, header="when,a,b,c"):
    rows = [",".join([time, *map(str, row)]) for time, row in zip(times, y)]
    return "\n".join(([header] if header else []) + rows) + "\n"


@pytest.fixture
def model(headwater):
    return held_model(headwater, "model.h5", BASIS, 0.9, 0.8)


def table(text):
    return list(csv.reader(io.StringIO(text)))


def test_outputs_carry_the_time(headwater, model):
    y = counts(26)
    headwater.write("hours.csv", stamped(HOURS, y))
    column = ["--time-column", "when"]
    headwater("apply", model, "hours.csv", "--out", "x.csv", *column)
    rows = table(headwater.path("x.csv").read_text())
    assert rows[0] == ["time", "x1", "x2"]
    assert [row[0] for row in rows[1:]] == HOURS
    headwater.write("bare.csv", as_csv(y))
    headwater("apply", model, "bare.csv", "--out", "bare_x.csv")
    np.testing.assert_array_equal(np.array([row[1:] for row in rows[1:]], dtype=float),
                                  headwater.load("bare_x.csv"))
    headwater("apply", model, "hours.csv", "--smooth", "--out", "x.csv", *column)
    assert [row[0] for row in table(headwater.path("x.csv").read_text())[1:]] == HOURS
    headwater("score", model, "hours.csv", "--surprise", "--out", "s.csv", "--predict", "p.csv",
              *column)
    assert headwater.path("s.csv").read_text().startswith("time,log_predictive,tail_probability\n"
                                                          "2026-03-28T22:00,")
    assert headwater.path("p.csv").read_text().startswith("time,a,b,c\n2026-03-28T22:00,")
    rows = table(headwater("forecast", model, "hours.csv", "--horizon", 2, *column).decode())
    assert rows[0] == ["time", "step", "channel", "mean"]
    assert [row[:3] for row in rows[1::3]] == [["2026-03-30T00:00", "1", "a"],
                                               ["2026-03-30T01:00", "2", "a"]]


def test_a_fit_writes_the_time_of_rows(headwater):
    y = counts(300)
    times = [f"{t * 0.1:.1f}" for t in range(300)]  # of which most are no doubles
    headwater.write("all.csv", stamped(times, y))
    options = ["--components", 2, "--prior", "basis-selection", "--time-column", "when", "--quiet"]
    headwater("fit", "all.csv", "--out", "m.h5", "--log", "log.jsonl", "--activations", "x.csv",
              *options)
    log = [json.loads(line) for line in headwater.path("log.jsonl").read_text().splitlines()]
    assert [float(line["time"]) for line in log] == [float(time) for time in times]
    rows = table(headwater.path("x.csv").read_text())
    assert rows[0] == ["time", "x1", "x2"] and len(rows) == 301
    assert float(rows[-1][0]) == 29.9
    # In two goes, cut off before a light search and after it: the same files.
    lines = headwater.path("all.csv").read_text().splitlines(keepends=True)
    for cut in 101, 251:
        headwater.write("part.csv", "".join(lines[:cut]))
        more = ["--log", "l.jsonl", "--activations", "y.csv", "--checkpoint", "c.ckpt", *options]
        headwater("fit", "part.csv", "--out", "p.h5", *more)
        headwater("fit", "all.csv", "--out", "p.h5", *more, "--resume", "c.ckpt")
        for one, other in [("x.csv", "y.csv"), ("log.jsonl", "l.jsonl"), ("m.h5", "p.h5")]:
            assert headwater.path(one).read_bytes() == headwater.path(other).read_bytes()


def test_gaps_are_rows_of_missing_cells(headwater, model):
    y = counts(26).astype(float)
    kept = [t for t in range(26) if t not in (5, 6, 7, 20)]
    headwater.write("gaps.csv", stamped([HOURS[t] for t in kept], y[kept].astype(int)))
    y[[5, 6, 7, 20]] = np.nan
    headwater.write("whole.csv", as_csv(y))
    column = ["--time-column", "when"]
    assert headwater.score(model, "gaps.csv", *column) == headwater.score(model, "whole.csv")
    headwater("apply", model, "gaps.csv", "--out", "x.csv", *column)
    assert [row[0] for row in table(headwater.path("x.csv").read_text())[1:]] == HOURS
    # Exposures are those of the rows that are there.
    headwater.write("exposure.csv", as_csv(np.full((22, 1), 2.0)))
    headwater.write("whole_exposure.csv", as_csv(np.full((26, 1), 2.0)))
    assert (headwater.score(model, "gaps.csv", "--exposure", "exposure.csv", *column)
            == headwater.score(model, "whole.csv", "--exposure", "whole_exposure.csv"))


def test_each_sequence_has_its_own_clock(headwater, model):
    y = counts(6)
    times = ["0", "5", "10", "0", "5", "15"]
    lines = [f"{time},{i // 3},{row[0]},{row[1]},{row[2]}"
             for i, (time, row) in enumerate(zip(times, y))]
    headwater.write("trials.csv", "ms,trial,a,b,c\n" + "\n".join(lines) + "\n")
    found = headwater.score(model, "trials.csv", "--time-column", "ms", "--sequence-column", "trial")
    assert found["observations"] == 7 and found["sequences"] == 2


def test_fields_of_json_lines(headwater, model):
    y = counts(26)
    headwater.write("hours.csv", stamped(HOURS, y))
    headwater.write("hours.jsonl", "".join(
        json.dumps({"when": time, "y": row.tolist()}) + "\n" for time, row in zip(HOURS, y)))
    column = ["--time-column", "when"]
    assert (headwater("forecast", model, "hours.jsonl", "--horizon", 3, *column).decode()
            == headwater("forecast", model, "hours.csv", "--horizon", 3, *column).decode()
            .replace(",a,", ",1,").replace(",b,", ",2,").replace(",c,", ",3,"))


def test_a_pipe_that_goes_on_knows_time_and_sequence(headwater):
    y = counts(40)
    times = [str(10 * (t % 20)) for t in range(40)]
    lines = [f"{time},{i // 20},{row[0]},{row[1]},{row[2]}\n"
             for i, (time, row) in enumerate(zip(times, y)) if i not in (12, 13)]
    header = "ms,trial,a,b,c\n"
    options = ["--components", 2, "--prior", "basis-selection", "--init", "random", "--quiet",
               "--time-column", "ms", "--sequence-column", "trial", "--log", "log.jsonl"]

    def fit(text, *more):
        headwater("fit", "-", "--out", "m.h5", *options, *more, given=text.encode())
        return headwater.path("m.h5").read_bytes(), headwater.path("log.jsonl").read_bytes()
    wanted = fit(header + "".join(lines))
    for cut in 12, 25:  # before the gap, and in the second trial
        fit(header + "".join(lines[:cut]), "--checkpoint", "c.ckpt")
        assert fit("".join(lines[cut:]), "--resume", "c.ckpt", "--skip", 0) == wanted


@pytest.mark.parametrize("times, options, message", [
    (["2026-01-01", "2026-01-02", "2026-01-02"], [],
     "t.csv:4: 2026-01-02 comes after 2026-01-02; rows must be in the order of time"),
    (["1", "2", "5.5"], [], "t.csv:4: 5.5 is 3.5 steps after 2; expected a whole number of steps, "
                            "which are 1 long, as between the first two rows"),
    (["2026-01-01T10:00", "2026-01-01T11:00", "2026-01-02T11:00"], ["--max-gap", 22],
     "t.csv:4: 2026-01-02T11:00 comes 24 steps of 1h after 2026-01-01T11:00; --max-gap 22 allows "
     "for 22 missing rows"),
    (["2026-01-01", "2026-02-30", "2026-01-03"], [],
     "t.csv:3: '2026-02-30' is not a time; expected a date and time, as before"),
    (["yesterday", "2", "3"], [], "t.csv:2: 'yesterday' is not a time; expected a date and "
                                  "time as 2026-03-29T14:30, or a number"),
])
def test_times_that_are_refused(headwater, model, times, options, message):
    headwater.write("t.csv", stamped(times, counts(3)))
    done = headwater.attempt("score", model, "t.csv", "--time-column", "when", *options)
    assert (done.returncode, done.stderr.decode()) == (1, f"headwater: {message}\n")


def test_a_bad_row_that_is_skipped_is_a_gap(headwater, model):
    y = counts(5).astype(float)
    text = stamped(HOURS[:5], y.astype(int)).replace("29T01:00,", "29T01:00,x")
    headwater.write("bad.csv", text)
    y[3] = np.nan
    headwater.write("whole.csv", as_csv(y))
    assert (headwater.score(model, "bad.csv", "--time-column", "when", "--on-bad-row", "skip")
            == headwater.score(model, "whole.csv"))
