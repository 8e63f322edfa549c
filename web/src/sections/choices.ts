import { exact, h, plural, short, svg, whole } from "../dom";
import type { Score, State } from "../state";

// What the fit has chosen by predictions: how many sources, and which prior.

const kWidth = 180;
const kHeight = 18;
const kMargin = 10;

interface Range {
  low: number; // not above 0
  high: number; // not below 0
}

// The difference of a row to the one it is compared with, and two standard errors to either side. All rows
// have one scale; the line is no difference. A row that is too far behind is an arrow at the edge.
function differencePicture(difference: number, error: number, { low, high }: Range): SVGElement {
  const at = (value: number) => kMargin + ((value - low) * (kWidth - 2 * kMargin)) / (high - low);
  const inside = (x: number) => Math.min(Math.max(x, 2), kWidth - 2);
  const middle = kHeight / 2;
  return svg("svg", { class: "difference", viewBox: `0 0 ${kWidth} ${kHeight}`, width: kWidth, height: kHeight, "aria-hidden": "true" },
    svg("line", { class: "zero", x1: at(0), x2: at(0), y1: 0, y2: kHeight }),
    ...(difference < low
      ? [svg("path", { class: "point", d: `M2 ${middle} l8 -4 v8 z` })]
      : [svg("line", { class: "error", x1: inside(at(difference - 2 * error)), x2: inside(at(difference + 2 * error)), y1: middle, y2: middle }),
         svg("circle", { class: "point", cx: at(difference), cy: middle, r: 4 })]));
}

// So wide that close rows can be told apart: the far ones become arrows.
function rangeOf(rows: Score[], reference: Score): Range {
  const others = rows.filter((row) => row !== reference);
  const behind = others.map((row) => Math.max(reference.score - row.score + 2 * row.standard_error, 0)).sort((a, b) => a - b);
  const middle = behind[Math.floor((behind.length - 1) / 2)] ?? 0;
  const low = -Math.max(Math.min(behind[behind.length - 1] ?? 0, 3 * middle), 1e-12);
  return { low, high: Math.max(0, ...others.map((row) => row.score - reference.score + 2 * row.standard_error)) };
}

function table<Row extends Score>(label: string, heads: string[], rows: Row[], reference: Row, cells: (row: Row) => (string | number)[]): HTMLElement {
  const range = rangeOf(rows, reference);
  const line = (row: Row) => {
    const [first, ...others] = cells(row);
    const difference = row.score - reference.score;
    return h("tr", { class: row.chosen ? "chosen" : undefined },
      h("th", { scope: "row" }, first), ...others.map((text) => h("td", { class: "word" }, text)),
      h("td", { "data-score": "score" }, exact(row.score, short(row.score, 5))),
      h("td", { "data-score": "difference" }, row === reference ? "–" : exact(difference, short(difference, 3))),
      h("td", { "data-score": "standard_error" }, row === reference ? "–" : exact(row.standard_error, short(row.standard_error, 2))),
      h("td", { class: "drawing" }, differencePicture(difference, row === reference ? 0 : row.standard_error, range)),
      h("td", { class: "word" }, row.chosen ? "chosen" : ""));
  };
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h("table", { class: "numbers choices" },
      h("thead", {}, h("tr", {}, ...[...heads, "nats an observation", "difference", "standard error"].map((text) => h("th", { scope: "col" }, text)),
        h("th", { scope: "col", class: "drawing" }, h("span", { class: "unseen" }, "difference and two standard errors")), h("th", { scope: "col" }, h("span", { class: "unseen" }, "chosen")))),
      h("tbody", {}, ...rows.map(line))));
}

const best = <Row extends Score>(rows: Row[]) => rows.reduce((a, b) => (b.score > a.score ? b : a));

export function components(state: State): HTMLElement | null {
  const rows = state.model.choice_of_components;
  if (!rows || rows.length === 0) return null;
  return h("section", { id: "components", "aria-labelledby": "components-title" },
    h("h2", { id: "components-title" }, "How many sources"),
    h("p", { class: "quiet" }, "The score is the mean log-probability of an observation that the fit had not seen; the difference is from the best score. "
      + "The chosen fit has the fewest sources that predict as well as the best, within one standard error or .001 nats a cell."),
    table("Scores of the numbers of sources", ["sources"], rows, best(rows), (row) => [whole(row.components)]));
}

export function priors(state: State): HTMLElement | null {
  const rows = state.model.choice_of_prior;
  if (!rows || rows.length === 0) return null;
  const chosen = rows.find((row) => row.chosen) ?? best(rows);
  return h("section", { id: "priors", "aria-labelledby": "priors-title" },
    h("h2", { id: "priors-title" }, "Which prior"),
    h("p", { class: "quiet" }, `The prior was chosen among ${plural(rows.length, "prior")}, each with the law of the counts that suits it. `
      + "The score is for predictions of held-out observations; the difference is from the chosen prior."),
    table("Scores of the priors", ["prior", "counts"], rows, chosen, (row) => [row.prior, row.counts]));
}
