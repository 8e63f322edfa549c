import { h, percent, plural, short, svg } from "../dom";
import type { State } from "../state";
import { calibrationVerdict } from "./summary";

const kSize = 260;
const kLeft = 58;
const kBottom = 30;

function frame(title: string, xLabel: string, yLabel: string, ticks: [string, number][], ...content: SVGElement[]): SVGElement {
  const right = kLeft + kSize;
  return svg("svg", { viewBox: `0 0 ${right + 10} ${kSize + kBottom + 18}`, role: "img", "aria-label": title, class: "picture" },
    svg("line", { x1: kLeft, x2: right, y1: kSize + 8, y2: kSize + 8, class: "axis" }),
    ...ticks.map(([text, y]) => svg("text", { x: kLeft - 6, y: y + 4, "text-anchor": "end" }, text)),
    ...[0, 0.5, 1].map((x) => svg("text", { x: kLeft + x * kSize, y: kSize + 24, "text-anchor": "middle" }, String(x))),
    svg("text", { x: kLeft + kSize / 2, y: kSize + 42, "text-anchor": "middle" }, xLabel),
    svg("text", { x: 12, y: kSize / 2 + 8, transform: `rotate(-90 12 ${kSize / 2 + 8})`, "text-anchor": "middle" }, yLabel),
    ...content);
}

function histogram(state: State): SVGElement {
  const { histogram: bins, rows } = state.stream!.calibration;
  const expected = rows / bins.length;
  // 99 % of the bins of a calibrated model lie in this band.
  const spread = 2.576 * Math.sqrt(expected * (1 - 1 / bins.length));
  const top = Math.max(...bins, expected + spread) * 1.05;
  const y = (value: number) => 8 + kSize * (1 - Math.max(value, 0) / top);
  const width = kSize / bins.length;
  return frame(`Histogram of ${rows} tail probabilities`, "tail probability", "observations",
    [["0", y(0)], [short(expected), y(expected)]],
    svg("rect", { x: kLeft, width: kSize, y: y(expected + spread), height: y(expected - spread) - y(expected + spread), class: "band" }),
    ...bins.map((count, i) => svg("rect", { x: kLeft + i * width + 1, width: width - 2, y: y(count), height: y(0) - y(count), class: "column" },
      svg("title", {}, `${short(i / bins.length)} to ${short((i + 1) / bins.length)}: ${count}`))),
    svg("line", { x1: kLeft, x2: kLeft + kSize, y1: y(expected), y2: y(expected), class: "ideal" }));
}

function quantiles(state: State): SVGElement {
  const { quantiles: found, rows } = state.stream!.calibration;
  const place = (x: number, y: number) => `${(kLeft + x * kSize).toFixed(1)},${(8 + (1 - y) * kSize).toFixed(1)}`;
  const band = 1.628 / Math.sqrt(rows); // 99 % by Kolmogorov and Smirnov
  const corners = [[0, 0], [0, Math.min(band, 1)], [Math.max(1 - band, 0), 1], [1, 1], [1, Math.max(1 - band, 0)], [Math.min(band, 1), 0]];
  return frame(`Quantiles of ${rows} tail probabilities beside uniform ones`, "uniform", "found",
    [["0", 8 + kSize], ["0.5", 8 + kSize / 2], ["1", 8]],
    svg("polygon", { points: corners.map(([x, y]) => place(x!, y!)).join(" "), class: "band" }),
    svg("line", { x1: kLeft, x2: kLeft + kSize, y1: kSize + 8, y2: 8, class: "ideal" }),
    svg("polyline", { points: found.map((value, i) => place((i + 0.5) / found.length, value)).join(" "), class: "curve" }));
}

export function calibration(state: State): HTMLElement | null {
  const stream = state.stream;
  if (!stream || stream.calibration.rows < 20) return null;
  const verdict = calibrationVerdict(state)!;
  return h("section", { id: "calibration", "aria-labelledby": "calibration-title" },
    h("h2", { id: "calibration-title" }, "Calibration"),
    h("p", { class: "quiet" }, "The tail probability of an observation is the probability of one at least as surprising. ",
      "If the model is right, these numbers are uniform between 0 and 1: columns of equal height, a straight line. ",
      `They were computed for ${plural(stream.calibration.rows, "observation")} at equal distances. The shaded region contains 99 % of right models.`),
    h("div", { class: "pictures" }, h("figure", {}, histogram(state), h("figcaption", {}, "Histogram")),
      h("figure", {}, quantiles(state), h("figcaption", {}, "Quantiles"))),
    h("p", {}, verdict.text, ` (Kolmogorov–Smirnov test: p = ${verdict.p < 1e-12 ? "0" : short(verdict.p, 2)}; `,
      `${percent(stream.calibration.histogram[0]! / stream.calibration.rows)} of the tail probabilities lie below 0.05.)`));
}
