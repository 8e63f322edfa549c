import { h, nameOf, short, whole } from "../dom";
import type { State, Surprise } from "../state";

function unusual(state: State, row: Surprise): HTMLElement {
  return h("ul", { class: "cells" }, ...row.cells.slice(0, 3).map((cell) => h("li", {},
    nameOf(/^\d+$/.test(state.channels[cell.channel]!) ? `channel ${state.channels[cell.channel]}` : state.channels[cell.channel]!),
    h("strong", {}, short(cell.seen, 4)), " seen, ", short(cell.expected), " expected")));
}

export function surprises(state: State): HTMLElement | null {
  const rows = state.stream?.surprises ?? [];
  if (rows.length === 0) return null;
  return h("section", { id: "surprises", "data-short": "Surprises", "aria-labelledby": "surprises-title" },
    h("h2", { id: "surprises-title" }, "Most surprising observations"),
    h("p", { class: "quiet" }, "The observations that the model found least probable, given all earlier ones. ",
      "If the model is right, the smallest tail probability is about 1 / ", whole(state.stream!.observations), "."),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Most surprising observations" },
      h("table", { class: "wide" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "observation"),
        rows[0]!.time !== undefined && h("th", { scope: "col" }, "time"),
        h("th", { scope: "col", class: "right" }, "tail probability"), h("th", { scope: "col" }, "what was unusual"))),
        h("tbody", {}, ...rows.map((row) => h("tr", {}, h("th", { scope: "row" }, whole(row.t)),
          row.time !== undefined && h("td", { class: "nowrap" }, row.time),
          h("td", { class: "right" }, row.log_predictive === null ? "impossible" : short(row.tail_probability, 2)),
          h("td", {}, unusual(state, row))))))));
}
