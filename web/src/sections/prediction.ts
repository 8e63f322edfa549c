import { exact, h, nameOf, percent, plural } from "../dom";
import type { Prediction, State } from "../state";
import { colour } from "../theme";
import { TimeChart, pointsOf } from "../time_chart";
import { TimeGroup } from "../time_group";

// Predictions beside what came, for the channels that are predicted best, worst and in between.

const seenColour = () => colour("seen");
const expectedColour = () => colour("expected");

function recentChart(state: State, shown: Prediction, group: TimeGroup): HTMLElement {
  const { recent_first: first, recent_times: labels } = state.stream!.predictions;
  return new TimeChart({
    title: `Counts of channel ${state.channels[shown.channel]} and their predictions, last observations`,
    x: shown.recent_seen.map((_value, i) => first + i), labels, group, height: labels ? 150 : 136, y: { min: 0 },
    lines: [
      { label: "seen", colour: seenColour, values: { mean: shown.recent_seen }, width: 1, points: shown.recent_seen.length <= 100 },
      { label: "expected", colour: expectedColour, values: { mean: shown.recent_expected }, width: 2, meanOnly: true },
    ],
  }).element;
}

function wholeChart(state: State, shown: Prediction, group: TimeGroup): HTMLElement {
  const { every, times } = state.stream!.predictions;
  return new TimeChart({
    title: `Counts of channel ${state.channels[shown.channel]} and their predictions, whole stream`,
    x: pointsOf(shown.seen.mean.length, every), labels: times, group, height: 110, y: { min: 0 },
    lines: [
      { label: "seen", colour: seenColour, values: shown.seen, width: 1 },
      { label: "expected", colour: expectedColour, values: { mean: shown.expected.mean }, width: 1.5, meanOnly: true },
    ],
  }).element;
}

export function prediction(state: State, group: TimeGroup): HTMLElement | null {
  const stream = state.stream;
  if (!stream || stream.predictions.channels.length === 0) return null;
  const { channels, recent_first: first, every } = stream.predictions;
  const rows = channels[0]!.recent_seen.length;
  const recent = new TimeGroup(first, first + rows - 1);
  const isPart = stream.observations > rows;
  const names: { [rank: string]: string } = {
    best: "channel predicted best", median: "median channel", worst: "channel predicted worst" };
  const figures = channels.map((shown) => {
    const part = shown.explained;
    return h("article", { class: "card plain" },
      h("header", {}, h("h3", {}, `The ${names[shown.rank] ?? shown.rank}: `, nameOf(state.channels[shown.channel]!)),
        h("p", { class: "share" }, exact(part, percent(part)), " of its variance explained")),
      isPart ? h("h4", {}, `Last ${plural(rows, "observation")}`) : null, recentChart(state, shown, recent),
      isPart ? h("h4", {}, "Whole stream", every > 1 ? `, means of ${every} observations and their range` : "") : null,
      isPart ? wholeChart(state, shown, group) : null);
  });
  return h("section", { id: "prediction", "data-short": "Prediction", "aria-labelledby": "prediction-title" },
    h("div", { class: "section-head" }, h("h2", { id: "prediction-title" }, "Prediction and data"), recent.toolbar()),
    h("p", { class: "quiet" }, "What the model expected of an observation, given all before it, ",
      h("span", { class: "key expected" }, "expected"), ", and what came, ", h("span", { class: "key seen" }, "seen"),
      ". Explained is the part of the squared error of a running mean that the prediction saves; channels are ranked by it. ",
      "The model is the final one: on the data that it was fitted to, this flatters it a little."),
    h("div", { class: "stack" }, ...figures));
}
