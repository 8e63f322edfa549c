"""What can be asked of the command that cannot be done, and what it should say.

Each case is (arguments, message). The message stands behind `headwater: `, as it is or as a pattern
for all of it.
"""

import re

DATA_FILES = {
    "good.csv": "1,2\n3,4\n0,1\n",
    "wide.csv": "1,2,3\n3,4,5\n",
    "short_row.csv": "1,2\n3,4\n3\n",
    "long_row.csv": "a,b\n1,2\n3,4,5\n",
    "negative.csv": "1,2\n-1,3\n",
    "infinite.csv": "1,2\n1,inf\n",
    "huge.csv": "1,2\n1e999,1\n",
    "text.csv": "a,b\n1,2\n1,many\n",
    "half_header.csv": "a,2\n1,2\n",
    "empty.csv": "",
    "header_only.csv": "a,b\n",
    "blank.csv": "\n\n\n",
    "plain.txt": "1,2\n",
    "one_row.csv": "1,2\n",
    "three_rows.csv": "1,2\n3,4\n5,6\n",
    "hole.csv": "1,2\n,4\n",
    "sum_not_one.csv": "0.5,0.4\n0.5,0.5\n",
    "not_hdf5.h5": "1,2\n",
    "empty.h5": "",
    "junk.conf": "no such thing = 3\n",
}


def near(pattern):
    return re.compile(pattern)


def fit(data="good.csv", *more, components=2, prior="basis-selection", out="x.h5"):
    return ["fit", data, "--components", components, "--prior", prior, "--out", out, *more]


def simulate(*more, length=5, out="x.csv", prior="basis-selection"):
    return ["simulate", "--prior", prior, "--length", length, "--out", out, *more]


RANDOM_BASIS = ["--channels", 2, "--components", 2]

DATA = {
    "too few cells": (fit("short_row.csv"), "short_row.csv:3: 1 cell where 2 were expected"),
    "too many cells": (fit("long_row.csv"), "long_row.csv:3: 3 cells where 2 were expected"),
    "negative": (fit("negative.csv"), "negative.csv:2: column 1: '-1' is negative; observations "
                                      "must be 0 or more"),
    "infinite": (fit("infinite.csv"), "infinite.csv:2: column 2: 'inf' is not finite; "
                                      "observations must be finite"),
    "beyond a double": (fit("huge.csv"), near("huge.csv:2: column 1: '1e999' is out of range.*")),
    "text": (fit("text.csv"), "text.csv:3: column 2: 'many' is not a number"),
    "text in the first row": (fit("half_header.csv"),
                              near("half_header.csv:1: column 1: 'a' is not a number.*")),
    "empty": (fit("empty.csv"), "empty.csv: holds no observations"),
    "blank": (fit("blank.csv"), "blank.csv: holds no observations"),
    "header only": (fit("header_only.csv"), "header_only.csv: holds a header but no observations"),
    "missing": (fit("nowhere.csv"), "nowhere.csv: cannot be opened: No such file or directory"),
    "folder": (fit("folder.csv"), "folder.csv: cannot be opened: Is a directory"),
    "unknown kind": (fit("plain.txt"), near("plain.txt: unknown kind of file; expected .csv.*")),
    "npy negative": (fit("negative.npy"), near("negative.npy: row 2, column 2: -4 is negative.*")),
    "npy of 3 dimensions": (fit("cube.npy"), near("cube.npy: has 3 dimensions; expected 2.*")),
    "npy of words": (fit("words.npy"), near("words.npy: holds values of type '<U1'; expected.*")),
    "npy without rows": (fit("none.npy"), "none.npy: holds no observations"),
    "npy that is text": (fit("not_npy.npy"), "not_npy.npy: is not an NPY file"),
    "npy cut off": (fit("cut.npy"), near("cut.npy: is cut off; .*")),
    "apply": (["apply", "model.h5", "short_row.csv", "--out", "x.csv"],
              "short_row.csv:3: 1 cell where 2 were expected"),
    "smooth": (["apply", "model.h5", "negative.csv", "--out", "x.csv", "--smooth"],
               near("negative.csv:2: column 1: '-1' is negative.*")),
    "score": (["score", "model.h5", "text.csv", "--out", "x.csv", "--predict", "p.csv"],
              "text.csv:3: column 2: 'many' is not a number"),
    "batch": (fit("short_row.csv", "--method", "batch"),
              "short_row.csv:3: 1 cell where 2 were expected"),
    "batch on a folder": (fit("folder.csv", "--method", "batch"),
                          "folder.csv: cannot be opened: Is a directory"),
}

SHAPES = {
    "start with too few rows": (fit("good.csv", "--init", "one_row.csv"),
                                near("one_row.csv: has 1 rows?; good.csv has 2 channels")),
    "start with too many rows": (fit("good.csv", "--init", "three_rows.csv"),
                                 "three_rows.csv: has 3 rows; good.csv has 2 channels"),
    "start with too many columns": (fit("good.csv", "--init", "wide.csv"),
                                    near("wide.csv: .*3 columns.* 2.*")),
    "start with too few columns": (fit("good.csv", "--init", "good.csv", components=3),
                                   near("good.csv: .*2 columns.* 3.*")),
    "start missing": (fit("good.csv", "--init", "nowhere.csv"),
                      "nowhere.csv: cannot be opened: No such file or directory"),
    "start with a hole": (fit("good.csv", "--init", "hole.csv"), near("hole.csv:2: column 1: .*")),
    "start negative": (fit("good.csv", "--init", "negative.csv"),
                       "negative.csv:2: column 1: '-1' is negative; entries must be 0 or more"),
    "apply to other channels": (["apply", "model.h5", "wide.csv", "--out", "x.csv"],
                                "wide.csv: has 3 channels; model.h5 was fitted to 2"),
    "score of other channels": (["score", "model.h5", "wide.csv"],
                                "wide.csv: has 3 channels; model.h5 was fitted to 2"),
    "simulate with another K": (simulate("--basis", "wide.csv", "--components", 2),
                                "wide.csv: has 3 columns; --components says 2"),
    "compare with another shape": (["show", "model.h5", "--compare", "wide.csv"],
                                   near("wide.csv: is 2x3; the basis of model.h5 is 2x2")),
}

MODELS = {
    "missing": ("nowhere.h5", "nowhere.h5: cannot be opened: No such file or directory"),
    "folder": ("folder.h5", "folder.h5: cannot be opened: Is a directory"),
    "text": ("not_hdf5.h5", "not_hdf5.h5: is not an HDF5 file"),
    "empty": ("empty.h5", "empty.h5: is not an HDF5 file"),
    "of another program": ("foreign.h5", "foreign.h5: is not a headwater model"),
}

WRITING = {
    "model in a missing folder": (fit(out="nowhere/x.h5"),
                                  "nowhere/x.h5: cannot be written: No such file or directory"),
    "model that is a folder": (fit(out="folder.h5"),
                               "folder.h5: cannot be written: Is a directory"),
    "model on a full disk": (fit(out="/dev/full"),
                             "/dev/full: cannot be written: No space left on device"),
    "log in a missing folder": (fit("good.csv", "--log", "nowhere/x.log"),
                                "nowhere/x.log: cannot be written: No such file or directory"),
    "log on a full disk": (fit("good.csv", "--log", "/dev/full"),
                           "/dev/full: cannot be written: No space left on device"),
    "activations that are a folder": (["apply", "model.h5", "good.csv", "--out", "folder.csv"],
                                      "folder.csv: cannot be written: Is a directory"),
    "activations on a full disk": (["apply", "model.h5", "good.csv", "--out", "/dev/full"],
                                   "/dev/full: cannot be written: No space left on device"),
    "activations of unknown kind": (["apply", "model.h5", "good.csv", "--out", "x.doc"],
                                    near("x.doc: unknown kind of file; expected .csv.*")),
    "score in a missing folder": (["score", "model.h5", "good.csv", "--out", "nowhere/x.csv"],
                                  "nowhere/x.csv: cannot be written: No such file or directory"),
    "score on a full disk": (["score", "model.h5", "good.csv", "--out", "/dev/full"],
                             "/dev/full: cannot be written: No space left on device"),
    "stream in a missing folder": (simulate(*RANDOM_BASIS, out="nowhere/x.csv"),
                                   "nowhere/x.csv: cannot be written: No such file or directory"),
    "stream on a full disk": (simulate(*RANDOM_BASIS, out="/dev/full"),
                              "/dev/full: cannot be written: No space left on device"),
    "basis in a missing folder": (simulate(*RANDOM_BASIS, "--save-basis", "nowhere/b.csv"),
                                  "nowhere/b.csv: cannot be written: No such file or directory"),
    "activations in a missing folder": (
        simulate(*RANDOM_BASIS, "--save-activations", "nowhere/a.csv"),
        "nowhere/a.csv: cannot be written: No such file or directory"),
}

REACH = near("prior 'basis-selection' with \\d+ components has more than 16384 states, the exact "
             "engine's reach.*")

USAGE = {
    "no command": ([], "a command is missing: one of simulate, fit, apply, score, show; headwater --help says more"),
    "unknown command": (["guess"], near(".*guess.*")),
    "unknown option at the top": (["--guess"], near(".*--guess.*")),
    "unknown option": (fit("good.csv", "--guess"), near(".*--guess.*")),
    "one argument too many": (fit("good.csv", "more.csv"), near(".*more.csv.*")),
    "no prior": (["fit", "good.csv", "--components", 2, "--out", "x.h5"], "--prior is required"),
    "no components": (["fit", "good.csv", "--prior", "basis-selection", "--out", "x.h5"],
                      "--components is required"),
    "no output": (["fit", "good.csv", "--components", 2, "--prior", "basis-selection"],
                  "--out is required"),
    "no data": (["fit", "--components", 2, "--prior", "basis-selection", "--out", "x.h5"],
                "DATA is required"),
    "no model": (["show"], "MODEL is required"),
    "apply without output": (["apply", "model.h5", "good.csv"], "--out is required"),
    "two views at once": (["show", "model.h5", "--json", "--basis"],
                          near(".*--json.*--basis.*|.*--basis.*--json.*")),
    "K = 0": (fit(components=0), "components is 0; expected 1 or more"),
    "K negative": (fit(components=-3), "components is -3; expected 1 or more"),
    "K not whole": (fit(components=2.5), near(".*--components.*2.5.*")),
    "K = 15": (fit("good.csv", "--engine", "exact", components=15), REACH),
    "K = 40": (fit("good.csv", "--engine", "exact", components=40), REACH),
    "K = 1000": (fit("good.csv", "--engine", "exact", components=1000), REACH),
    "K = 1000000000": (fit(components=1000000000),
                       "components is 1000000000; expected at most 65536"),
    "unknown prior": (fit(prior="guess"), near("unknown prior 'guess'; .*basis-selection.*")),
    "unknown parameter": (fit("good.csv", "--set", "guess=0.5"),
                          "prior 'basis-selection' has no parameter 'guess'; it has: stay_off, "
                          "stay_on"),
    "unknown parameter held": (fit("good.csv", "--hold", "guess"),
                               near("prior 'basis-selection' has no parameter 'guess'.*")),
    "set without value": (fit("good.csv", "--set", "stay_on"),
                          "--set stay_on: expected NAME=VALUE"),
    "set to nothing": (fit("good.csv", "--set", "stay_on="),
                       near("--set stay_on=: expected a number.*")),
    "set to a word": (fit("good.csv", "--set", "stay_on=often"),
                      near("--set stay_on=often: expected a number.*")),
    "set to too many values": (fit("good.csv", "--set", "stay_on=0.1,0.2,0.3"),
                               near("stay_on has 3 values; expected 1, or 2.*")),
    "unknown engine": (fit("good.csv", "--engine", "guess"),
                       near("--engine guess: expected one of .*exact.*")),
    "unknown method": (fit("good.csv", "--method", "guess"),
                       "--method guess: expected one of online, batch"),
    "unknown smoother": (fit("good.csv", "--smoother", "guess"),
                         near("--smoother guess: expected one of .*forward.*")),
    "unknown average": (fit("good.csv", "--average", "guess"),
                        "--average guess: expected one of auto, none, polyak"),
    "step that sums to little": (fit("good.csv", "--step", "power:0.4"),
                                 near(".*step power:0.4: .*over 0.5 and at most 1.*")),
    "step without number": (fit("good.csv", "--step", "power:x"),
                            near(".*step '?power:x'?: expected power:A or constant:G.*")),
    "step over 1": (fit("good.csv", "--step", "constant:2"),
                    near(".*step constant:2: .*inside \\(0, 1\\).*")),
    "step of unknown kind": (fit("good.csv", "--step", "linear:0.7"),
                             near(".*step '?linear:0.7'?: expected power:A or constant:G.*")),
    "burn-in 0": (fit("good.csv", "--burn-in", 0), near("(--)?burn-in is 0; expected 1 or more")),
    "burn-in not a number": (fit("good.csv", "--burn-in", "x"), near(".*--burn-in.*x.*")),
    "no iterations": (fit("good.csv", "--iterations", 0),
                      near("(--)?iterations is 0; expected 1 or more")),
    "tolerance negative": (fit("good.csv", "--tolerance", -1),
                           near("(--)?tolerance is -1; expected .*")),
    "paper-exact with a window": (fit("good.csv", "--paper-exact", "--smoother", "lag"),
                                  near(".*paper-exact.*lag.*")),
    "paper-exact with backward draws": (fit("good.csv", "--paper-exact", "--smoother", "paris"),
                                        near(".*paper-exact.*paris.*")),
    "exact engine, continuous prior": (
        fit("good.csv", "--engine", "exact", prior="gamma"),
        near("prior 'gamma' has infinitely many states.*use engine particle")),
    "exact engine, particle smoother": (fit("good.csv", "--smoother", "paris"),
                                        near("smoother paris .*exact engine has lag and forward")),
    "exact engine, genealogies": (fit("good.csv", "--smoother", "path"),
                                  near("smoother path .*exact engine has lag and forward")),
    "no particles": (fit("good.csv", "--particles", 0),
                     "particles is 0; expected a number from 1 to 16777216"),
    "unknown resampling": (fit("good.csv", "--resampling", "guess"),
                           near(".*resampling.*guess.*systematic.*residual.*")),
    "resample-below negative": (fit("good.csv", "--resample-below", -1),
                                "resample-below is -1; expected 0 or more"),
    "no threads": (fit("good.csv", "--threads", 0),
                   "threads is 0; expected a number from 1 to 1024"),
    "unknown proposal": (fit("good.csv", "--proposal", "guess"),
                         near("--proposal guess: expected one of auto, prior.*")),
    "unknown backward draws": (fit("good.csv", "--backward", "guess"),
                               "--backward guess: expected one of mcmc, rejection, exact"),
    "no backward draws": (fit("good.csv", "--backward-draws", 0),
                          "backward-draws is 0; expected 1 or more"),
    "score without particles": (["score", "model.h5", "good.csv", "--particles", 0],
                                near("particles is 0; .*")),
    "option of the config file unknown": (fit("good.csv", "--config", "junk.conf"),
                                          near(".*no such thing.*")),
    "no length": (["simulate", "--prior", "basis-selection", *RANDOM_BASIS, "--out", "x.csv"],
                  "--length is required"),
    "length 0": (simulate(*RANDOM_BASIS, length=0), "--length 0: expected 1 or more"),
    "neither basis nor size": (simulate(), near(".*--basis.*--channels.*--components.*")),
    "transition of another size": (
        simulate(*RANDOM_BASIS, "--transition", "three_rows.csv", prior="finite"),
        near("prior 'finite': the transition matrix is 3x2; expected 2x2.*")),
    "transition that does not sum to 1": (
        simulate(*RANDOM_BASIS, "--transition", "sum_not_one.csv", prior="finite"),
        near("prior 'finite': transition row 1: sums to 0.9; expected 1")),
    "states of another size": (simulate(*RANDOM_BASIS, "--states", "wide.csv", prior="finite"),
                               near("prior 'finite': the states have 3 columns; expected 2.*")),
}
