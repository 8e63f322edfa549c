import { exact, h, nameOf, percent, short } from "../dom";
import type { State, Trace } from "../state";
import { colour, sourceColour } from "../theme";
import { TimeChart, pointsOf } from "../time_chart";
import { TimeGroup } from "../time_group";

// How the fit went: the log-likelihood, the parameters and the largest entries of the basis over the observations.

const kDashes = [undefined, [6, 3], [2, 3]];

function gains(trace: Trace): { t: number[]; values: (number | null)[] } {
  if (trace.unit === "iterations") return { t: trace.t, values: trace.log_likelihood };
  const t: number[] = [];
  const values: (number | null)[] = [];
  const every = Math.max(Math.floor(trace.t.length / 60), 1);
  let [before, sum] = [0, 0];
  trace.t.forEach((time, i) => {
    const value = trace.log_likelihood[i];
    if (value === null || value === undefined || time <= before) return;
    if ((i + 1) % every !== 0) return;
    t.push(time);
    values.push((value - sum) / (time - before));
    [before, sum] = [time, value];
  });
  return { t, values };
}

function legend(entries: { label: Node | string; colour: string; dash: boolean }[]): HTMLElement {
  return h("ul", { class: "legend" }, ...entries.map((entry) => {
    const swatch = h("span", { class: entry.dash ? "swatch dashed" : "swatch" });
    swatch.style.borderColor = entry.colour;
    return h("li", {}, swatch, entry.label);
  }));
}

function block(title: string, ...content: (Node | null)[]): HTMLElement {
  return h("article", { class: "card plain" }, h("h3", {}, title), ...content);
}

function entriesOf(state: State, trace: Trace, group: TimeGroup): HTMLElement[] {
  const components = [...new Set(trace.basis.map((entry) => entry.component))];
  return components.map((k) => {
    const entries = trace.basis.filter((entry) => entry.component === k);
    return block(`Source ${k + 1}`, new TimeChart({
      title: `Largest entries of source ${k + 1} over the fit`, x: trace.t, unit: trace.unit.slice(0, -1), group, height: 120, y: { min: 0 },
      lines: entries.map((entry, i) => ({
        label: state.channels[entry.channel]!, colour: () => sourceColour(k), values: { mean: entry.values }, meanOnly: true, dash: kDashes[i],
      })),
    }).element, legend(entries.map((entry, i) => ({
      label: nameOf(state.channels[entry.channel]!), colour: `var(--source-${k % 7})`, dash: i > 0 }))));
  });
}

function parameterTable(state: State): HTMLElement | null {
  const rows = Object.entries(state.model.prior.parameters).flatMap(([name, value]): [string, number][] => {
    if (typeof value === "number") return [[name, value]];
    if (value.every((entry) => typeof entry === "number")) return (value as number[]).map((entry, k) => [`${name} of source ${k + 1}`, entry]);
    return [];
  });
  if (rows.length === 0) return null;
  return h("table", { class: "pairs" }, h("caption", {}, `Parameters of the prior ${state.model.prior.name}`),
    h("tbody", {}, ...rows.slice(0, 60).map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name),
      h("td", { class: "right", "data-parameter": name }, exact(value, short(value, 5)))))));
}

export function estimates(state: State): HTMLElement {
  const trace = state.trace;
  const group = trace && new TimeGroup(trace.t[0]!, trace.t[trace.t.length - 1]!);
  const blocks: HTMLElement[] = [];
  if (trace && group) {
    const { t, values } = gains(trace);
    const unit = trace.unit.slice(0, -1);
    if (t.length > 1) {
      const title = trace.unit === "iterations" ? "Log-likelihood" : "Log-probability an observation, as the fit went";
      blocks.push(block(title, new TimeChart({ title, x: t, unit, group, height: 150,
        lines: [{ label: "log-probability", colour: () => colour("accent"), values: { mean: values }, meanOnly: true }] }).element));
    }
    if (trace.parameters.length > 0) {
      blocks.push(block("Parameters of the prior", new TimeChart({
        title: "Parameters of the prior over the fit", x: trace.t, unit, group, height: 150,
        lines: trace.parameters.slice(0, 12).map((parameter, i) => ({
          label: parameter.name, colour: () => sourceColour(i), values: { mean: parameter.values }, meanOnly: true })),
      }).element, legend(trace.parameters.slice(0, 12).map((parameter, i) => ({
        label: parameter.name, colour: `var(--source-${i % 7})`, dash: false })))));
    }
    blocks.push(...entriesOf(state, trace, group));
  }
  return h("section", { id: "estimates", "data-short": "Fit", "aria-labelledby": "estimates-title" },
    h("div", { class: "section-head" }, h("h2", { id: "estimates-title" }, "How the fit went"), group ? group.toolbar() : null),
    parameterTable(state),
    trace ? h("p", { class: "quiet" }, "Estimates that still drift at the end ask for a longer stream. Of each source, the largest entries of its column.")
          : h("p", { class: "quiet" }, "The model holds no trace of its estimates."),
    h("div", { class: "cards" }, ...blocks));
}

export function health(state: State, group: TimeGroup): HTMLElement | null {
  const found = state.stream?.health;
  const clock = found?.effective_size ?? found?.lost_mass;
  if (!found || !clock) return null;
  const isBeam = found.kind === "beam";
  const title = isBeam ? "Probability that the beam did not keep" : "Effective number of particles";
  const sorted = clock.series.mean.filter((value): value is number => value !== null).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return h("section", { id: "health", "aria-labelledby": "health-title" },
    h("h2", { id: "health-title" }, isBeam ? "Beam" : "Particles"),
    h("p", { class: "quiet" }, isBeam
      ? `The beam keeps the ${found.size} most probable states. If it loses much, a larger --beam-width keeps more.`
      : `On the median observation, ${percent(median / found.size)} of the ${found.size} particles carry the weight` +
        `${found.resampled !== undefined ? `; ${percent(found.resampled)} of the steps begin with a resampling` : ""}. ` +
        "Below 5 %, results are not to be relied on."),
    new TimeChart({ title, x: pointsOf(clock.series.mean.length, clock.every), labels: clock.times, group, height: 140,
      y: isBeam ? { min: 0 } : { min: 0, max: found.size },
      lines: [{ label: title, colour: () => colour("accent"), values: clock.series }] }).element);
}

export function surpriseOverTime(state: State, group: TimeGroup): HTMLElement | null {
  const clock = state.stream?.log_predictive;
  if (!clock) return null;
  return h("section", { id: "fitness", "data-short": "Over time", "aria-labelledby": "fitness-title" },
    h("div", { class: "section-head" }, h("h2", { id: "fitness-title" }, "How well it predicts, over time"), group.toolbar()),
    h("p", { class: "quiet" }, "The log-probability of each observation, given all before it. Where it falls for long, the stream has changed."),
    new TimeChart({ title: "Log-probability of observations over time", x: pointsOf(clock.series.mean.length, clock.every),
      labels: clock.times, group, height: 170,
      lines: [{ label: "log-probability", colour: () => colour("accent"), values: clock.series }] }).element);
}
