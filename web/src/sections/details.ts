import { h } from "../dom";
import type { State } from "../state";

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
