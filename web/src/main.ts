import { h, nameOf } from "./dom";
import { readState } from "./state";
import type { State } from "./state";
import { basis } from "./sections/basis";
import { calibration } from "./sections/calibration";
import { components, priors } from "./sections/choices";
import { details } from "./sections/details";
import { estimates, health, surpriseOverTime } from "./sections/estimates";
import { forecast } from "./sections/forecast";
import { prediction } from "./sections/prediction";
import { sources } from "./sections/sources";
import { summary } from "./sections/summary";
import { surprises } from "./sections/surprises";
import { toggleTheme } from "./theme";
import { LivePage, follow } from "./live";
import { TimeGroup } from "./time_group";

function navigation(sections: HTMLElement[]): HTMLElement {
  const links = sections.filter((section) => section.id !== "summary").map((section) =>
    h("a", { href: `#${section.id}` }, section.dataset.short ?? section.querySelector("h2")?.textContent ?? section.id));
  return h("nav", { "aria-label": "Sections" }, ...links);
}

function masthead(brand: string, ...title: Node[]): HTMLElement {
  return h("header", { class: "masthead" },
    h("div", {}, h("p", { class: "brand" }, brand), h("h1", {}, ...title)),
    h("button", { type: "button", class: "theme", "aria-label": "Light or dark", title: "Light or dark", onclick: toggleTheme }, "◐"));
}

function render(state: State): Node[] {
  const group = new TimeGroup(1, Math.max(state.stream?.observations ?? 2, 2));
  const sections = [
    summary(state), sources(state, group), basis(state), prediction(state, group), surpriseOverTime(state, group), surprises(state),
    calibration(state), forecast(state), components(state), priors(state), health(state, group), estimates(state), details(state),
  ].filter((section): section is HTMLElement => section !== null);
  return [
    h("a", { href: "#content", class: "skip" }, "Skip to the content"), masthead("headwater report", nameOf(state.title), ...(state.data ? [h("span", { class: "quiet" }, " on "), nameOf(state.data)] : [])),
    navigation(sections),
    h("main", { id: "content" }, ...sections),
    h("footer", {}, `Made by headwater ${state.model.version}. This file needs no network and sends nothing anywhere.`),
  ];
}

const page = document.getElementById("page")!;
const state = readState(document.getElementById("state")?.textContent ?? "");
if (typeof state === "string") {
  page.append(h("p", { class: "notice", role: "alert" }, state));
} else if (state.kind === "live") {
  const live = new LivePage(state);
  page.append(masthead("headwater, live", nameOf(state.data)), h("main", { id: "content" }, ...live.nodes),
    h("footer", {}, `headwater ${state.model.version}. Metrics for Prometheus: /metrics. The numbers of this page: /state.json.`));
  follow(live);
} else {
  page.append(...render(state));
}
document.documentElement.dataset.ready = "yes";
