"""headwater-mpi on several ranks of this machine, for tests of the command."""

import os
import shutil

import pytest

from support import TIMEOUT, Command

PROGRAM = os.environ.get("HEADWATER_MPI", "")
MARKS = [
    pytest.mark.skipif(not PROGRAM, reason="HEADWATER_MPI is not set: headwater-mpi was not built"),
    pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun"),
]

# All ranks on this machine, without a network, as any user, on fewer cores than ranks.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
                   OMPI_MCA_btl="self,vader", OMPI_MCA_pml="ob1",
                   OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_plm="isolated")

PARTICLES = ("--prior", "gamma", "--engine", "particle", "--particles", 40)
FAST = ("--prior", "gamma", "--engine", "fast")


class Ranks(Command):
    """headwater-mpi on so many ranks, in the folder of another command."""

    def __init__(self, command, size):
        super().__init__(os.path.abspath(PROGRAM), command.folder)
        self.size = size

    def line(self, *arguments):
        return ["mpirun", "--quiet", "-n", str(self.size)] + super().line(*arguments)

    def start(self, *arguments, **streams):
        return super().start(*arguments, env=ENVIRONMENT, **streams)

    def attempt(self, *arguments, given=b"", timeout=TIMEOUT, **streams):
        return super().attempt(*arguments, given=given, timeout=timeout, env=ENVIRONMENT, **streams)


def process_of_rank(rank, mpirun):
    """The process of a rank: mpirun's child is its supervisor, whose child it is."""
    parents = {}
    for path in os.listdir("/proc"):
        try:
            with open(f"/proc/{path}/stat") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{path}/environ", "rb") as file:
                variables = file.read().split(b"\0")
        except (OSError, IndexError, ValueError):
            continue
        if f"OMPI_COMM_WORLD_RANK={rank}".encode() in variables:
            parents[int(path)] = parent
    return next(process for process, parent in parents.items()
                if parents.get(parent) == mpirun)
