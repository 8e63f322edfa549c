"""Our sides of the table's rows, beside those of another version."""

from collections import namedtuple

from measure.compare import compare
from measure.ours import Ours
from measure.rows import Rows

TARGET = 0.97  # times the speed of the other version
# 0.1 does not know these options of bench_step_times: it has the Poisson law alone, and no filter at
# the average.
UNKNOWN = "average", "counts"

NOTES = """\
Both versions take the same steps of the same streams by turns: Poisson counts, --average none,
--proposal auto. The ratio is the other version's time over this one's. The row with the average has
no target: this version runs a second filter there, which 0.1 does not have
(docs/decisions/55-predictions-by-the-average.md)."""

Side = namedtuple("Side", "case here there target")


class RowsOfVersions(Rows):
    """Each of our sides, with its twin of another build in place of the row's peer."""

    def __init__(self, ours, other_build, table, options):
        super().__init__(ours, table, options)
        self.other = Ours(other_build, ours.folder, unknown=UNKNOWN)
        self.seen = set()

    def our_side(self, stream, model, clock="processor_us", **options):
        options.pop("proposal", None)  # 0.1 cannot be told
        case = repr((stream, model, clock, sorted(options.items())))
        options = {"counts": "poisson", **options}
        return Side(case, self.side_of(self.ours, stream, model, clock, options),
                    self.side_of(self.other, stream, model, clock, options),
                    TARGET if options.get("average", "none") == "none" else None)

    def compare(self, work, ours, theirs, target=None):
        name, _, peer = work.partition("; ")
        for side, title in (ours, name), (theirs, peer or f"the other side of: {name}"):
            if isinstance(side, Side) and side.case not in self.seen and self.only in title:
                self.seen.add(side.case)
                self.table.add(title, compare(side.here, side.there, self.rounds),
                               side.target)

    def large_memory(self):
        """No time."""

    def search_on_two_threads(self):
        """Searches look for more than those of 0.1."""
