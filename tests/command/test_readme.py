"""The README's example: the same task in the shell and in C++, with the same result."""

import os
import pathlib
import re
import subprocess

import pytest

from support import TIMEOUT

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def commands_of_the_task():
    task = README.read_text().split("## The same task in the shell")[1]
    return re.search(r"^```sh\n(.*?)^```$", task, re.DOTALL | re.MULTILINE)[1]


def in_folder_of(headwater, line):
    path = f"{os.path.dirname(headwater.binary)}:{os.environ['PATH']}"
    done = subprocess.run(line, cwd=headwater.folder, env={**os.environ, "PATH": path},
                          capture_output=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.skipif("README_PROGRAM" not in os.environ, reason="set README_PROGRAM to example_readme")
def test_shell_and_cpp_find_the_same(headwater):
    in_folder_of(headwater, ["bash", "-euo", "pipefail", "-c", commands_of_the_task()])
    from_shell = headwater("show", "model.h5", "--basis")
    os.remove(headwater.path("model.h5"))
    in_folder_of(headwater, [os.path.abspath(os.environ["README_PROGRAM"])])
    assert headwater("show", "model.h5", "--basis") == from_shell
