"""The package is tested as it is installed, beside the command:

    HEADWATER=build/release/headwater python -m pytest python/tests
"""

import os

# Matrices are small here: threads would only be in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "agg")

import subprocess

import numpy as np
import pytest

import headwater


def pytest_configure():
    command = os.environ.get("HEADWATER", "")
    if not os.access(command, os.X_OK):
        raise pytest.UsageError("set HEADWATER to the path of the command")


@pytest.fixture
def command(tmp_path):
    """Runs the command in the test's folder and returns its standard output."""
    path = os.path.abspath(os.environ["HEADWATER"])

    def run(*arguments):
        line = [path, *map(str, arguments)]
        return subprocess.run(line, cwd=tmp_path, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE).stdout
    return run


@pytest.fixture(scope="session")
def simulation():
    """The paper's first example, short."""
    return headwater.simulate("basis-selection", channels=8, components=5, length=3000, seed=3)


@pytest.fixture
def counts():
    """A few counts, for what does not depend on them."""
    return np.random.default_rng(1).poisson(3, size=(60, 4)).astype(float)
