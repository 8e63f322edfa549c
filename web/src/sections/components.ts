import { exact, h, short } from "../dom";
import type { State } from "../state";

// How many sources: the scores of each number, where fit was asked to choose.
export function components(state: State): HTMLElement | null {
  const scores = state.model.choice_of_components;
  if (!scores || scores.length === 0) return null;
  return h("section", { id: "components", "aria-labelledby": "components-title" },
    h("h2", { id: "components-title" }, "How many sources"),
    h("p", { class: "quiet" }, "The mean log-probability of observations that the start had not seen, for each number of sources."),
    h("table", { class: "numbers" },
      h("thead", {}, h("tr", {}, ...["sources", "score", "standard error", ""].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, ...scores.map((row) => h("tr", { class: row.chosen ? "chosen" : undefined },
        h("th", { scope: "row" }, row.components), h("td", {}, exact(row.score, short(row.score, 5))),
        h("td", {}, exact(row.standard_error, short(row.standard_error, 2))), h("td", {}, row.chosen ? "chosen" : ""))))));
}

export function details(state: State): HTMLElement {
  const { model } = state;
  const rows: [string, string][] = [
    ["method", model.method], ["engine", model.engine_reason ? `${model.engine}: ${model.engine_reason}` : model.engine],
    ["prior", model.prior.name], ["law of the counts", model.counts.law],
    ["M-steps or iterations", String(model.iterations)], ["seed", String(model.seed)], ["headwater", model.version],
    ...Object.entries(model.options),
  ];
  return h("section", { id: "options", "data-short": "Options", "aria-labelledby": "options-title" },
    h("h2", { id: "options-title" }, "How it was made"),
    h("details", {}, h("summary", {}, "Options of the fit"),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Options of the fit" },
        h("table", { class: "pairs" }, h("tbody", {}, ...rows.map(([name, text]) =>
          h("tr", {}, h("th", { scope: "row" }, name), h("td", { "data-option": name }, text))))))));
}
