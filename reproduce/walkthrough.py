"""Runs docs/walkthrough.md, writes what its commands print into it, and draws its picture."""

import os
import pathlib
import re
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np

import drawing
from page import commands, picture, section
from workshop import PROJECT, CommandFailed

# A block of commands, and the block below it with what they printed.
BLOCKS = re.compile(r"```sh\n(.*?)```\n```text\n(.*?)```", re.DOTALL)


def run_block(workshop, folder, block):
    if workshop.quick:  # searches for a start take most of the time
        block = block.replace("headwater fit ", "headwater fit --start-on 50 ")
    python = pathlib.Path(sys.executable).parent  # one that has NumPy
    path = f"{workshop.build}:{python}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder, text=True,
                          env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise CommandFailed(f"docs/walkthrough.md: {block.strip()}: {done.stdout.strip()}")
    return done.stdout


def by_hour_of_week(values):
    return values[:len(values) // 168 * 168].reshape(-1, 168, values.shape[1]).mean(axis=0)


def best_partner(activation, flows):
    """The flow that goes most like this activation, if one does."""
    likeness = [np.corrcoef(activation, flow)[0, 1] for flow in flows.T]
    return int(np.argmax(likeness)) if max(likeness) > 0.7 else None


def draw_source(stops_axis, week_axis, column, stops, week, flow, label):
    largest = np.argsort(column)[::-1][:5][::-1]
    stops_axis.barh(range(5), column[largest], color=drawing.PAPER, height=0.62)
    stops_axis.set_yticks(range(5), [stops[stop] for stop in largest], fontsize=6.5)
    stops_axis.tick_params(axis="y", length=0)
    stops_axis.spines["left"].set_visible(False)
    week_axis.fill_between(range(168), week, color=drawing.PAPER, linewidth=0)
    if flow is not None:
        week_axis.plot(flow, color=drawing.TRUTH, linewidth=1.0, linestyle=(0, (3, 1.5)))
    week_axis.set(xlim=(0, 167), ylim=(0, 1.05), yticks=[0, 1], xticks=[])
    week_axis.set_title(label, loc="left", pad=2, color=drawing.FAINT, fontsize=7.5)
    for day in range(24, 168, 24):
        week_axis.axvline(day, color="#dddddd", linewidth=0.6, zorder=0)


def draw(workshop, work):
    stops = (work.path / "city.csv").open().readline().strip().split(",")
    basis = work.basis("city7.h5")
    activations = np.loadtxt(work.path / "activations.csv", delimiter=",")
    flow_names = (work.path / "flows.csv").open().readline().strip().split(",")
    flows = np.loadtxt(work.path / "flows.csv", delimiter=",", skiprows=1)
    order = np.argsort(-basis.sum(axis=0) * activations.mean(axis=0))
    figure, axes = plt.subplots(len(order), 2, figsize=(8.6, 1.12 * len(order) + 0.5),
                                width_ratios=[1, 2.6])
    for row, k in zip(axes, order):
        partner = best_partner(activations[:, k], flows)
        known = partner is not None
        draw_source(*row, basis[:, k], stops, by_hour_of_week(activations)[:, k],
                    by_hour_of_week(flows)[:, partner] if known else None,
                    f"source {k + 1}" + (f": {flow_names[partner].replace('_', ' ')}" if known
                                         else ": the trickle by day"))
    axes[-1, 1].set_xticks(np.arange(12, 168, 24), "Mon Tue Wed Thu Fri Sat Sun".split())
    axes[-1, 1].tick_params(axis="x", length=0)
    axes[-1, 0].set_xlabel("boardings an hour while on", color=drawing.FAINT)
    drawing.legend(figure, {"mean activation found": drawing.PAPER, "flow that was put in": drawing.TRUTH},
                   loc="upper right", bbox_to_anchor=(0.99, 1.0))
    figure.subplots_adjust(left=0.1, right=0.985, top=0.945, bottom=0.06, hspace=0.5, wspace=0.08)
    drawing.save(workshop, figure, "city")


def draw_forecast(workshop, work):
    """The total of all stops: a week that was seen, the week that was forecast, and what came."""
    rows = np.loadtxt(work.path / "timed.csv", delimiter=",", skiprows=1, dtype=str)
    totals = rows[:, 1:].astype(float).sum(axis=1)
    lines = [line.split(",") for line in (work.path / "ahead.csv").read_text().splitlines()]
    channel, low, middle, high = (lines[0].index(name) for name in ("channel", "q0.05", "q0.5", "q0.95"))
    ahead = np.array([[float(line[column]) for column in (low, middle, high)]
                      for line in lines[1:] if line[channel] == "total"])
    seen, hours = 1344, np.arange(len(ahead))
    figure, axis = plt.subplots(figsize=(8.6, 2.4))
    axis.plot(np.arange(-168, 0), totals[seen - 168:seen], color=drawing.FAINT, linewidth=0.9)
    axis.fill_between(hours, ahead[:, 0], ahead[:, 2], color=drawing.PAPER, alpha=0.35, linewidth=0)
    axis.plot(hours, ahead[:, 1], color=drawing.PAPER, linewidth=1.0)
    axis.plot(hours, totals[seen:seen + len(ahead)], color=drawing.TRUTH, linewidth=0.9)
    axis.set(xlim=(-168, len(ahead) - 1), ylim=(0, None), ylabel="boardings an hour")
    axis.set_xticks(np.arange(-156, len(ahead), 24), 2 * "Mon Tue Wed Thu Fri Sat Sun".split())
    axis.tick_params(axis="x", length=0)
    drawing.legend(figure, {"seen": drawing.FAINT, "forecast": drawing.PAPER, "what came": drawing.TRUTH},
                   loc="upper right", bbox_to_anchor=(0.99, 1.0))
    figure.subplots_adjust(left=0.08, right=0.985, top=0.88, bottom=0.12)
    drawing.save(workshop, figure, "forecast")


def run(workshop):
    work = workshop.folder("walkthrough")
    examples = work.path / "examples"
    if not examples.exists():
        examples.symlink_to(PROJECT / "examples")
    page = (PROJECT / "docs" / "walkthrough.md").read_text()
    written = BLOCKS.sub(lambda match: f"```sh\n{match[1]}```\n```text\n"
                                       f"{run_block(workshop, work.path, match[1])}```", page)
    (workshop.docs / "walkthrough.md").write_text(written)
    draw(workshop, work)
    draw_forecast(workshop, work)
    return section("A simulated city", picture("city", "Each source of the city: where and when"),
                   "[The walk-through](walkthrough.md) fits this city step by step. The same run writes "
                   "its outputs.", commands(["./dev reproduce walkthrough"]))
