"""Kills a fit with SIGKILL after random observations and goes on from its last checkpoint.

    python3 tests/command/crash.py build/release/headwater --kills 100

Each time the checkpoint must be usable. The model, the log and the activations must in the end be
the same, byte for byte, as those of a fit that was not killed.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LENGTH = 6000
OUTPUTS = ("model.h5", "log.jsonl", "x.csv")
FIT = ("fit", "counts.csv", "--components", "3", "--prior", "relaxed-selection",
       "--particles", "200", "--init", "random", "--quiet")


def line(command, *extra):
    return [command, *FIT, "--out", OUTPUTS[0], "--log", OUTPUTS[1], "--activations", OUTPUTS[2],
            *extra]


def run(command, folder, *extra):
    subprocess.run(line(command, *extra), cwd=folder, check=True)
    return [(folder / name).read_bytes() for name in OUTPUTS]


def observations_in_log(folder):
    path = folder / OUTPUTS[1]
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kill_once(command, folder, observations):
    """Starts a fit and kills it when its log has so many lines; True if it was still running."""
    for path in folder.iterdir():
        if path.name != "counts.csv":
            path.unlink()
    fit = subprocess.Popen(line(command, "--checkpoint", "c", "--checkpoint-every", "100"),
                           cwd=folder)
    while observations_in_log(folder) < observations and fit.poll() is None:
        time.sleep(0.001)
    fit.kill()
    return fit.wait() != 0


def crash(command, folder, kills, seed):
    """Returns (kills survived, kills after a checkpoint had been written)."""
    subprocess.run([command, "simulate", "--prior", "relaxed-selection", "--channels", "6",
                    "--components", "3", "--length", str(LENGTH), "--seed", "1", "--out", "counts.csv"],
                   cwd=folder, check=True)
    expected = run(command, folder)
    moments = random.Random(seed)
    survived = resumed = tried = 0
    while tried < kills:
        if not kill_once(command, folder, moments.randrange(LENGTH)):
            continue  # it was done before: that is no kill
        tried += 1
        has_checkpoint = (folder / "c").exists()
        found = run(command, folder, *(["--resume", "c"] if has_checkpoint else []))
        resumed += has_checkpoint
        survived += found == expected
    return survived, resumed


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        survived, resumed = crash(str(Path(arguments.command).resolve()), Path(folder),
                                  arguments.kills, arguments.seed)
    print(f"{survived} of {arguments.kills} kills survived with the same bytes; {resumed} of them "
          "went on from a checkpoint")
    sys.exit(survived != arguments.kills)


if __name__ == "__main__":
    main()
