"""Fixtures for the tests of the command.

The command is tested only from outside, as another program would use it. HEADWATER is its path:

    HEADWATER=build/release/headwater python3 -m pytest tests/command
"""

import os

# The reference matrices are small, so threads would only slow each other down.
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
    """The command, run in an empty folder of its own for each test."""
    return Command(path_of_command(), tmp_path)


@pytest.fixture(scope="module")
def shared_headwater(tmp_path_factory):
    """The command in a folder that the tests of a module share; they must not change its files."""
    return Command(path_of_command(), tmp_path_factory.mktemp("shared"))
