"""Particle smoothers at equal time."""

from page import printed, section


def run(workshop):
    runs, length = workshop.size((12, 1000), (2, 50))
    output, line = workshop.bench("smoother_spread", runs, length)
    return section(
        "Smoothers at equal time",
        "How far the statistics S2 of each particle smoother lie from the exact ones, parameters "
        f"held at the truth, over {runs} seeds on one record of {length:,} observations of Example "
        "1 (p = .8571, q = .6926) and of a slower chain. The variance at equal time is the last "
        "column, variance times processor time: half of it is the same accuracy in half the time. "
        "`s.d.` and `bias` are relative to the exact statistics; a bias no larger than \"its "
        "noise\" is none.",
        printed(line, output))
