"""Fixtures for the tests of the command.

The command is tested from outside only, as another program would use it. Say where it is:

    HEADWATER=build/release/headwater python3 -m pytest tests/command
"""

import os

# The matrices of the references are small: threads would only be in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from support import Command


def path_of_command():
    name = os.environ.get("HEADWATER", "")
    if not name:
        raise pytest.UsageError("set HEADWATER to the path of the command that is to be tested")
    path = os.path.abspath(name)
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        raise pytest.UsageError(f"HEADWATER={name}: there is no command that can be run")
    return path


def pytest_configure():
    path_of_command()


@pytest.fixture
def headwater(tmp_path):
    """The command, run in an empty folder of the test's own."""
    return Command(path_of_command(), tmp_path)


@pytest.fixture(scope="module")
def shared_headwater(tmp_path_factory):
    """The command in a folder that the tests of a module share; they only read what is there."""
    return Command(path_of_command(), tmp_path_factory.mktemp("shared"))
