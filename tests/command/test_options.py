"""Values of options: what may be typed, what is refused, and how that is said."""

import pathlib

import pytest

from error_cases import fit
from support import as_csv

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAILED, BAD_USAGE = 1, 2

# Each with the smallest and the largest number that it takes; beyond both it is refused.
WHOLE_NUMBERS = {
    "components": (1, 65536),
    "lag": (0, 10 ** 6),
    "block": (0, 10 ** 6),
    "burn-in": (0, 10 ** 15),
    "iterations": (1, 10 ** 9),
    "particles": (1, 2 ** 24),
    "beam-width": (1, 10 ** 6),
    "backward-draws": (1, 1000),
    "threads": (1, 1024),
    "restarts": (1, 1000),
    "trace-every": (0, 10 ** 15),
    "checkpoint-every": (1, 10 ** 15),
    "skip": (0, 10 ** 15),
    "seed": (0, 2 ** 64 - 1),
}
# How the range is said, and what is outside of it.
NUMBERS = {
    "basis-shape": ("a number from 1 to 1000000", ["0.999", "1e308", "inf", "nan"]),
    "basis-rate": ("a number from 0 to 1000000", ["-1e-9", "1e7"]),
    "basis-floor": ("a number in [0, 1)", ["1", "-1"]),
    "transition-weight": ("a number from 0 to 1000000", ["-1", "1e300"]),
    "resample-below": ("a number from 0 to 1000000", ["-0.5", "nan", "inf"]),
    "tolerance": ("a number in [0, 1)", ["1", "-1e-9", "nan"]),
    "window-tolerance": ("a number in (0, 1)", ["0", "1", "nan"]),
}


@pytest.fixture(scope="module")
def here(shared_headwater):
    """A folder with data of two channels, and a folder in it."""
    shared_headwater.write("good.csv", "1,2\n3,4\n0,1\n")
    shared_headwater.path("folder").mkdir()
    return shared_headwater


def check_refused(here, arguments, message, code=BAD_USAGE):
    before = here.listing()
    done = here.attempt(*arguments, timeout=5)
    assert done.stderr.decode() == f"headwater: {message}\n"
    assert done.returncode == code
    assert here.listing() == before


@pytest.mark.parametrize("name", WHOLE_NUMBERS)
def test_a_whole_number_out_of_its_range(here, name):
    least, most = WHOLE_NUMBERS[name]
    for value in (least - 1, most + 1, -2 ** 63, 2 ** 63 - 1 if most < 2 ** 63 else 2 ** 64,
                  2 ** 64, 10 ** 30, "1e30", "1e3", "2.5", "0x10", "x", "nan"):
        check_refused(here, fit("good.csv", f"--{name}", value),
                      f"--{name} {value}: expected a whole number from {least} to {most}")


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_out_of_its_range(here, name):
    expected, values = NUMBERS[name]
    for value in [*values, "x", "0.1x"]:
        check_refused(here, fit("good.csv", f"--{name}", value),
                      f"--{name} {value}: expected {expected}")


def test_numbers_at_the_end_of_their_range(headwater):
    headwater.write("counts.csv", as_csv([[1, 2], [3, 4]] * 20))
    headwater(*fit("counts.csv", "--burn-in", 10 ** 15, "--trace-every", 10 ** 15, "--lag", 10 ** 6,
                   "--block", 10 ** 6, "--seed", 2 ** 64 - 1, "--tolerance", 0,
                   "--resample-below", 10 ** 6, "--basis-shape", 1, "--out", "x.h5"))
    options = headwater.facts("x.h5")["options"]
    assert options["lag"] == options["block"] == "1000000"
    assert options["burn-in"] == "1000000000000000"


@pytest.mark.parametrize("name", ["resume", "skip", "tolerance", "out", "log", "checkpoint", "init",
                                  "step", "engine", "exposure", "states", "set", "hold", "config",
                                  "format", "activations"])
@pytest.mark.parametrize("form", ["two words", "one word"])
def test_an_empty_value(here, name, form):
    given = [f"--{name}", ""] if form == "two words" else [f"--{name}="]
    done = here.attempt(*fit("good.csv", *given), timeout=5)
    words = done.stderr.decode()
    assert done.returncode == BAD_USAGE, words
    assert words.startswith(f"headwater: --{name}") and "expected" in words
    assert words.count("\n") == 1


def test_an_empty_name_of_the_data(here):
    check_refused(here, fit(""), "DATA '': expected the name of a file")


def test_leading_zeros_are_no_octal_number(headwater):
    headwater.write("counts.csv", as_csv([[1, 2], [3, 4]] * 20))
    headwater(*fit("counts.csv", "--particles", "0100", components="02"))
    assert headwater.facts("x.h5")["components"] == 2
    assert headwater.facts("x.h5")["options"]["particles"] == "100"


@pytest.mark.parametrize("name", ["set", "hold"])
def test_a_list_takes_one_value_at_a_time(headwater, name):
    """What stands behind is DATA."""
    headwater.write("counts.csv", as_csv([[1, 2], [3, 4]] * 20))
    value = "stay_on=0.6" if name == "set" else "stay_on"
    given = ["--components", 2, "--prior", "basis-selection", "--out", "x.h5"]
    headwater("fit", *given, f"--{name}", value, "counts.csv")
    headwater("fit", f"--{name}", value, "counts.csv", *given)
    headwater("fit", f"--{name}", value, "--hold", "stay_off", "counts.csv", *given)
    headwater.write("last.conf", f"burn-in = 5\n{name} = {value}\n")
    headwater("fit", "--config", "last.conf", "counts.csv", *given)
    headwater("fit", "counts.csv", "--config", "last.conf", *given)
    assert headwater.facts("x.h5")["options"]["burn-in"] == "5"


def test_a_list_grows_with_the_config_file(headwater):
    headwater.write("counts.csv", as_csv([[1, 2], [3, 4]] * 20))
    headwater.write("hold.conf", "hold = stay_on\n")
    headwater(*fit("counts.csv", "--config", "hold.conf", "--hold", "stay_off"))
    assert headwater.facts("x.h5")["options"]["hold"] == "stay_on,stay_off"


def test_a_config_file_that_is_a_folder(here):
    check_refused(here, fit("good.csv", "--config", "folder"),
                  "folder: cannot be opened: Is a directory", FAILED)


def test_values_of_a_config_file_are_checked_alike(headwater):
    headwater.write("good.csv", "1,2\n3,4\n0,1\n")
    for line, message in {
        "lag = 9223372036854775807": "--lag 9223372036854775807: expected a whole number from 0 to "
                                     "1000000",
        "engine = guess": "--engine guess: expected one of auto, exact, beam, fast, particle",
        "lag =": "bad.conf: lag has no value",
        "config = other.conf": "bad.conf: a config file cannot name another config file",
    }.items():
        headwater.write("bad.conf", f"burn-in = 5\n{line}\n")
        check_refused(headwater, fit("good.csv", "--config", "bad.conf"), message)


def test_flags_in_a_config_file(headwater):
    headwater.write("counts.csv", as_csv([[1, 2], [3, 4]] * 20))
    headwater.write("flags.conf", "background = yes\npaper-exact = no\n")
    headwater(*fit("counts.csv", "--config", "flags.conf"))
    options = headwater.facts("x.h5")["options"]
    assert (options["background"], options["paper-exact"]) == ("yes", "no")


def test_a_held_basis_must_be_given(here):
    message = "--hold basis needs a basis to hold: --init FILE"
    check_refused(here, fit("good.csv", "--hold", "basis"), message)
    check_refused(here, fit("good.csv", "--hold", "basis", "--init", "random"), message)


def test_batch_em_cannot_follow(here):
    check_refused(here, fit("good.csv", "--method", "batch", "--follow"),
                  "--method batch needs all data, so it cannot go with --follow")


@pytest.mark.parametrize("command", ["apply", "score"])
def test_engine_options_are_those_of_a_fit(here, command):
    out = ["--out", "x.csv"]
    check_refused(here, [command, "model.h5", "good.csv", *out, "--particles", 2 ** 24 + 1],
                  "--particles 16777217: expected a whole number from 1 to 16777216")
    check_refused(here, [command, "model.h5", "good.csv", *out, "--engine", "guess"],
                  "--engine guess: expected one of auto, exact, beam, fast, particle")


def test_model_files_name_options_as_before(headwater):
    headwater.write("counts.csv", as_csv([[1, 2], [3, 4]] * 20))
    headwater(*fit("counts.csv"))
    found = headwater.facts("x.h5")["options"]
    assert {found.pop("start-stay_off"), found.pop("start-stay_on")} == {"0.9", "0.7"}
    assert found == {
        "counts": "auto", "dispersion": "channel", "period": "", "phase": "0", "init": "auto",
            "start-on": "0",
        "per-component": "no", "hold": "", "background": "no", "method": "online",
        "engine": "auto", "proposal": "auto", "particles": "1000", "beam-width": "256",
        "resampling": "systematic", "resample-below": "0.5", "backward": "mcmc",
        "backward-draws": "2", "smoother": "auto", "lag": "0", "window-tolerance": "1e-06",
        "block": "0", "paper-exact": "no", "scale-in": "auto", "step": "auto", "burn-in": "0",
        "round": "0", "average": "polyak", "iterations": "200", "tolerance": "1e-09",
        "basis-shape": "1.000001", "basis-rate": "1e-06", "basis-floor": "1e-10", "transition-weight": "1e-06",
        "outliers": "skip", "standard-errors": "no"}


def test_the_page_of_options_is_fresh(headwater):
    assert headwater("options-page").decode() == (ROOT / "docs" / "options.md").read_text(), \
        "headwater options-page > docs/options.md"


@pytest.mark.parametrize("command", ["simulate", "fit", "apply", "score", "show"])
def test_the_page_has_every_option_of_the_help(headwater, command):
    page = headwater("options-page").decode().partition(f"\n## headwater {command}\n")[2]
    section = page.partition("\n## ")[0]
    words = headwater(command, "--help").decode()
    named = {line.split()[0] for line in words.splitlines() if line.startswith("  --")}
    assert named and all(f"| `{name}` |" in section for name in named)
