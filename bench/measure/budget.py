"""The ratios of the last release, beside those of this run."""

import json
import pathlib

FILE = pathlib.Path(__file__).parent.parent / "budget.json"
# Rounds of one run differ by about as much on a shared machine.
NOTICED = 0.85


def compared(ratios):
    """Lines that say which works got slower than in the last release, and which faster. ratios:
    work -> how many times slower the other side is."""
    budget = json.loads(FILE.read_text())
    known = {work: ratio for work, ratio in budget["ratios"].items() if work in ratios}
    lines = [f"Beside release {budget['release']} ({FILE.name}), {len(known)} of {len(ratios)} rows:"]
    for work, before in known.items():
        change = ratios[work] / before
        if change < NOTICED:
            lines.append(f"  SLOWER, {change:.2f} times as fast: {work}")
        elif change > 1 / NOTICED:
            lines.append(f"  faster, {change:.2f} times as fast: {work}")
    if len(lines) == 1:
        lines.append("  none is slower or faster by more than what one run differs from the next")
    return "\n".join(lines)


def write(release, ratios):
    rounded = {work: float(f"{ratio:.3g}") for work, ratio in ratios.items()}
    FILE.write_text(json.dumps({"release": release, "ratios": rounded}, indent=2) + "\n")
