"""Every row of the library's option table is a keyword here, and described."""

import inspect
import pathlib

import pytest

import headwater
from headwater import _core

ROWS = _core.stream_options()
ENGINE_ROWS = _core.engine_options()
REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_the_table_has_all_kinds_of_options():
    types = {row["type"] for row in ROWS}
    assert types == {"int", "float", "bool", "str", "Any", "Iterable[str]"}
    assert {row["name"] for row in ENGINE_ROWS} < {row["name"] for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_every_row_is_a_keyword_with_its_default(row):
    keyword = inspect.signature(headwater.Stream).parameters[row["name"]]
    # A prior of one's own knows the number of components.
    assert keyword.default == (None if row["name"] == "num_components" else row["default"])


def test_there_are_no_other_keywords():
    names = set(inspect.signature(headwater.Stream).parameters)
    assert names == {row["name"] for row in ROWS} | {"set"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_every_row_is_documented(row):
    assert f"\n{row['name']} : " in inspect.getdoc(headwater.Stream)
    section = REFERENCE.read_text().partition("\n## Stream\n")[2].partition("\n## ")[0]
    assert f"\n- `{row['name']}` (" in section


@pytest.mark.parametrize("row", ENGINE_ROWS, ids=lambda row: row["name"])
def test_every_option_of_the_engine_is_documented(row):
    assert f"`{row['name']}`" in headwater.Model.apply.__doc__


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_every_default_can_be_given(row):
    if row["name"] not in ("num_components", "prior"):
        headwater.Stream(2, **{row["name"]: row["default"]})


def test_the_estimator_has_the_defaults_of_a_stream():
    defaults = {row["name"]: row["default"] for row in ROWS}
    keywords = inspect.signature(headwater.OnlineNMF).parameters.values()
    shared = {keyword.name: keyword.default for keyword in keywords if keyword.name in defaults}
    assert len(shared) >= 16
    assert shared == {name: defaults[name] for name in shared}


def test_an_unknown_keyword_is_refused():
    for made in headwater.Stream, headwater.OnlineNMF:
        with pytest.raises(TypeError, match="unexpected keyword argument 'beams'"):
            made(2, beams=3)


@pytest.mark.parametrize("options, message", [
    (dict(lag=2 ** 63 - 1), "lag=9223372036854775807: expected a whole number from 0 to 1000000"),
    (dict(lag=10 ** 30), "lag=1000000000000000000000000000000: expected a whole number"),
    (dict(num_particles=0), "num_particles=0: expected a whole number from 1 to 16777216"),
    (dict(tolerance=1), r"tolerance=1: expected a number in \[0, 1\)"),
    (dict(tolerance=float("nan")), "tolerance=nan: expected a number"),
    (dict(tolerance="0.1"), "tolerance='0.1': expected a number"),
    (dict(engine=3), "engine=3: expected one of auto, exact"),
    (dict(restarts=1001), "restarts=1001: expected a whole number from 1 to 1000"),
    (dict(hold=["basis"]), "init"),
])
def test_values_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        headwater.Stream(2, **options)
