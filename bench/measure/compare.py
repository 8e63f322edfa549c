"""Times two programs alternately and prints a table of the ratios."""

import statistics
import time
from collections import namedtuple

# Medians over the rounds; low and high are the smallest and largest ratio of a round.
Comparison = namedtuple("Comparison", "ours theirs ratio low high")


def compare(ours, theirs, rounds):
    """Each side is a function that returns microseconds per step. The two sides alternate within a
    round, so that a temporary slowdown of the machine affects both."""
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    ratios = [b / a for a, b in pairs]
    return Comparison(statistics.median(a for a, _ in pairs),
                      statistics.median(b for _, b in pairs),
                      statistics.median(ratios), min(ratios), max(ratios))


class Repeated:
    """The peer's side: calls `step(y)` for successive observations, `count` of them per round. The
    first `warm` calls, made when the side is asked for the first time, are not timed."""

    def __init__(self, step, data, count, warm=20):
        self.step, self.data, self.count, self.warm, self.t = step, data, count, warm, 0

    def make(self, count):
        for _ in range(count):
            self.step(self.data[self.t % len(self.data)])
            self.t += 1

    def __call__(self):
        if self.t == 0:
            self.make(self.warm)
        began = time.process_time()
        self.make(self.count)
        return 1e6 * (time.process_time() - began) / self.count


def plain(number, digits=4):
    """Formats a number with that many significant digits and without an exponent."""
    return f"{number:,.0f}" if number >= 10 ** (digits - 1) else f"{number:.{digits}g}"


class Table:
    """Prints rows as they are measured: work | ours | peer | ratio (spread) | target | verdict."""

    def __init__(self, title):
        self.met = self.missed = 0
        self.ratios = {}  # of each work, for the budget; the larger the better
        print(f"\n{title}\n")
        self.line("work", "ours us", "peer us", "ratio (spread)", "target", "")
        print("-" * 130)

    def line(self, work, ours, theirs, ratio, target, verdict):
        print(f"{work:<70} {ours:>9} {theirs:>9} {ratio:>21} {target:>8}  {verdict}".rstrip(),
              flush=True)

    def add(self, work, comparison, target=None):
        """target: the ratio that should be reached, if any."""
        self.ratios[work] = comparison.ratio
        ratio = "{} ({}..{})".format(*(plain(x, 3) for x in comparison[2:]))
        met = target is None or comparison.ratio >= target
        self.line(work, plain(comparison.ours), plain(comparison.theirs), ratio,
                  "" if target is None else f">= {target:g}",
                  "" if target is None else self.verdict(met))

    def add_at_most(self, work, value, unit, limit, name=None):
        """name: of the work in the budget, where `work` has figures of this run in it."""
        self.ratios[name or work] = 1 / value
        self.line(work, "", "", f"{value:.3g} {unit}".strip(), f"<= {limit:g}",
                  self.verdict(value <= limit))

    def verdict(self, met):
        self.met += met
        self.missed += not met
        return "met" if met else "MISSED"

    def summary(self):
        return f"{self.met} targets met, {self.missed} missed."
