#!/usr/bin/env python3
"""A simulated city: boardings at 24 stops, one row per hour, with a daily and a weekly rhythm.

Six flows of people switch on and off: to work, home again, school, shopping, nights out, and
matches at the stadium, which have no timetable. Schools have a holiday of two weeks, and one
afternoon a fair brings people to a park where hardly anybody boards otherwise. The strength of each
flow varies from day to day, and every stop always has a few boardings.

Usage: examples/city.py COUNTS.csv [--weeks W] [--seed S] [--times START] [--flows FILE.csv]
"""

import argparse

import numpy as np

STOPS = """harbour station market townhall library museum theatre cinema stadium park hospital
university schoolnorth schoolsouth factory depot mall bridge oldtown newtown hillside lakeside
airport zoo""".split()

# Boardings per hour while a flow is on, at its main stops.
FLOWS = {
    "to_work": dict(hillside=45, lakeside=38, newtown=50, oldtown=25, bridge=18, station=30),
    "home": dict(station=40, townhall=32, harbour=22, factory=28, hospital=15, university=20),
    "school": dict(schoolnorth=42, schoolsouth=36, library=12, newtown=8, hillside=7),
    "shopping": dict(mall=40, market=35, oldtown=18, townhall=8, zoo=9),
    "nights_out": dict(theatre=16, cinema=22, harbour=20, oldtown=15, station=8),
    "match": dict(stadium=90, station=25, bridge=12, harbour=6),
}
FAIR = dict(park=70, zoo=15)


def intended(weeks, random):
    """Which flow is on in which hour, by timetable and by chance: hours x flows."""
    hours = np.arange(weeks * 168)
    day, hour = hours // 24, hours % 24
    weekday, week = day % 7, hours // 168
    working = weekday < 5
    holiday = (week >= weeks // 2) & (week < weeks // 2 + 2)
    later = random.integers(0, 2, size=weeks * 7)[day]  # some days begin an hour later
    matches = random.choice(weeks * 7, size=weeks, replace=False)
    match_start = dict(zip(matches, random.integers(14, 20, size=weeks)))
    start = np.array([match_start.get(each, 99) for each in range(weeks * 7)])[day]
    friday_night = np.isin((hours - 4) // 24 % 7, [4, 5])  # a night lasts until 4 o'clock
    return np.stack([
        working & (hour >= 6 + later) & (hour <= 8 + later),
        working & (hour >= 16 + later) & (hour <= 18 + later),
        working & ~holiday & np.isin(hour, [7, 13, 14, 15]),
        np.where(weekday == 5, (hour >= 9) & (hour <= 17), (weekday < 6) & (hour >= 10 + later)
                 & (hour <= 12) | working & (hour >= 18) & (hour <= 19 + later)),
        friday_night & ((hour >= 20 + later) | (hour <= 2)),
        (hour >= start) & (hour <= start + 3)], axis=1).astype(float)


def basis():
    return np.array([[flow.get(stop, 0.3) for flow in FLOWS.values()] for stop in STOPS])


def city(weeks, seed):
    random = np.random.default_rng(seed)
    flows = intended(weeks, random)
    strength = random.gamma(60, 1 / 60, size=(weeks * 7, len(FLOWS)))
    background = random.uniform(0.3, 2, size=len(STOPS))
    night = np.tile(np.where((np.arange(24) >= 1) & (np.arange(24) <= 4), 0.4, 1), weeks * 7)
    intensity = (flows * strength.repeat(24, axis=0)) @ basis().T + np.outer(night, background)
    fair = (weeks * 3 // 4 * 7 + 6) * 24 + np.arange(13, 18)  # a Sunday afternoon
    intensity[fair] += [FAIR.get(stop, 0) for stop in STOPS]
    return random.poisson(intensity), flows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", help="the CSV file to write")
    parser.add_argument("--weeks", type=int, default=26)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", metavar="START",
                        help="a first column 'time', from this one on, which should be a Monday: 2026-01-05T00:00")
    parser.add_argument("--flows", help="what was on when, as CSV")
    options = parser.parse_args()
    counts, flows = city(options.weeks, options.seed)
    columns, header = counts.astype(str), STOPS
    if options.times:
        times = np.datetime64(options.times, "m") + 60 * np.arange(len(counts))
        columns, header = np.column_stack([times.astype(str), columns]), ["time", *STOPS]
    np.savetxt(options.counts, columns, fmt="%s", delimiter=",", header=",".join(header), comments="")
    if options.flows:
        np.savetxt(options.flows, flows, fmt="%d", delimiter=",", header=",".join(FLOWS), comments="")


if __name__ == "__main__":
    main()
