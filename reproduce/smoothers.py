"""Particle smoothers at equal time."""

from page import printed, section


def run(workshop):
    runs, length = workshop.size((12, 1000), (2, 50))
    output, line = workshop.bench("smoother_spread", runs, length)
    return section(
        "Smoothers at equal time",
        "The error of the statistics S2 of each particle smoother, compared with the exact ones. "
        f"Parameters are held at the truth. Each row is from {runs} seeds on one record of "
        f"{length:,} observations, of Example 1 (p = .8571, q = .6926) and of a slower chain. `s.d.` "
        "and `bias` are relative to the exact statistics; a bias no larger than \"its noise\" is "
        "not significant. The last column is variance times processor time: half the number means "
        "the same accuracy in half the time.",
        printed(line, output))
