import { exact, h, nameOf, namesWidth, percent, plural, short, whole } from "../dom";
import type { State } from "../state";
import { byFallingValue } from "../statistics";
import { colour, sourceClass, sourceColour } from "../theme";
import { TimeChart, pointsOf } from "../time_chart";
import { TimeGroup } from "../time_group";

const kChannelsShown = 8;
const kSourcesShown = 24;

// The strongest channels of a source as bars, with the truth and the standard error where they are known.
function strongestChannels(state: State, component: number): HTMLElement {
  const column = state.basis.map((row) => row[component]!);
  const order = byFallingValue(column).slice(0, kChannelsShown);
  const errorOf = (m: number) => state.standard_errors?.[m]?.[component] ?? 0;
  const truthOf = (m: number) => state.truth?.basis[m]?.[component];
  const largest = Math.max(...order.map((m) => Math.max(column[m]! + 2 * errorOf(m), truthOf(m) ?? 0)), 1e-300);
  const bars = order.map((m) => {
    const value = column[m]!;
    const bar = h("span", { class: "bar-fill" });
    bar.style.width = `${(100 * value) / largest}%`;
    const track = h("span", { class: "bar" }, bar);
    const error = errorOf(m);
    if (error > 0) {
      const whisker = h("span", { class: "whisker" });
      whisker.style.left = `${(100 * Math.max(value - 2 * error, 0)) / largest}%`;
      whisker.style.width = `${(100 * (Math.min(value, 2 * error) + 2 * error)) / largest}%`;
      track.append(whisker);
    }
    const truth = truthOf(m);
    if (truth !== undefined) {
      const mark = h("span", { class: "truth", title: `truth ${short(truth)}` });
      mark.style.left = `${(100 * truth) / largest}%`;
      track.append(mark);
    }
    return h("li", {}, nameOf(state.channels[m]!), track,
      exact(value, short(value) + (error > 0 ? ` ± ${short(2 * error, 2)}` : "")));
  });
  const rest = column.length - order.length;
  const list = h("ol", { class: state.standard_errors ? "bars with-errors" : "bars" }, ...bars);
  list.style.setProperty("--names", namesWidth(order.map((m) => state.channels[m]!)));
  return h("div", {}, list,
    rest > 0 && h("p", { class: "quiet small" }, `and ${plural(rest, "weaker channel")}`));
}

function activationChart(state: State, component: number, group: TimeGroup): HTMLElement | null {
  const activations = state.stream?.activations;
  const series = activations?.series[component];
  if (!activations || !series) return null;
  return h("div", {}, h("h4", {}, "Activation over time"), new TimeChart({
    title: `Activation of source ${component + 1} over time`,
    x: pointsOf(series.mean.length, activations.every), labels: activations.times, group,
    lines: [{ label: "activation", colour: () => sourceColour(component), values: series }],
    height: activations.times ? 130 : 116, y: { min: 0 },
  }).element);
}

type Profile = number[][] | number[] | number;

function profileRows(profile: Profile, components: number): number[][] {
  if (typeof profile === "number") return [[profile]];
  if (components === 1 && profile.every((value) => typeof value === "number")) return [profile as number[]];
  return profile as number[][];
}

function profileCharts(state: State, component: number): HTMLElement[] {
  return state.model.periods.map((season, p) => {
    const row = profileRows(season.profile, state.model.components)[component] ?? [];
    const known = state.model.standard_errors?.profiles?.[p];
    const errors = known === undefined || known === null ? null : profileRows(known, state.model.components)[component] ?? null;
    const values = errors ? { mean: row, low: row.map((gain, h) => Math.max(gain - 2 * errors[h]!, 0)), high: row.map((gain, h) => gain + 2 * errors[h]!) }
                          : { mean: row };
    return h("div", {}, h("h4", {}, `Profile over the period of ${season.period}${errors ? ", with bands of two standard errors" : ""}`), new TimeChart({
      title: `Gain of source ${component + 1} at each phase of the period ${season.period}`,
      x: row.map((_value, i) => i), unit: "phase", height: 96, y: { min: 0 },
      lines: [{ label: "gain", colour: () => sourceColour(component), values, steps: row.length <= 60, meanOnly: !errors },
              { label: "mean", colour: () => colour("quiet"), values: { mean: row.map(() => 1) }, width: 1, dash: [4, 4], meanOnly: true }],
    }).element);
  });
}

// In how many of the fits with other seeds this source was found too. Those that at most half of the others
// have found are marked: the warning at the top of the page is about them.
function foundAgain({ model }: State, component: number): HTMLElement | null {
  const count = model.stability?.found[component];
  if (!model.stability || count === undefined) return null;
  const { restarts } = model.stability;
  const isUnsure = 2 * (count - 1) <= restarts - 1;
  return h("p", { class: isUnsure ? "stability unsure" : "stability", "data-found": count },
    isUnsure ? "⚠ " : "", `found by ${whole(count)} of ${plural(restarts, "fit")}`);
}

function card(state: State, component: number, group: TimeGroup): HTMLElement {
  const isBackground = component >= state.model.components;
  const share = state.stream?.shares[component];
  const total = state.basis.reduce((sum, row) => sum + row[component]!, 0);
  const title = isBackground ? "Background" : `Source ${component + 1}`;
  return h("article", { class: `card ${sourceClass(component)}`, "data-source": component + 1, "aria-label": title },
    h("header", {}, h("h3", {}, title),
      share !== undefined
        ? h("p", { class: "share" }, exact(share, percent(share)), " of all counts")
        : h("p", { class: "share" }, exact(total, short(total)), " counts an observation while it is on")),
    !isBackground && foundAgain(state, component),
    h("h4", {}, "Strongest channels"), strongestChannels(state, component),
    !isBackground && activationChart(state, component, group),
    ...(isBackground ? [] : profileCharts(state, component)));
}

export function sources(state: State, group: TimeGroup): HTMLElement {
  const columns = state.basis[0]?.length ?? 0;
  const all = Array.from({ length: columns }, (_unused, k) => k);
  const shares = state.stream?.shares;
  // The background comes last, whatever its share.
  const order = shares
    ? [...byFallingValue(shares.slice(0, state.model.components)), ...all.slice(state.model.components)] : all;
  const grid = h("div", { class: "cards" }, ...order.slice(0, kSourcesShown).map((k) => card(state, k, group)));
  const rest = order.slice(kSourcesShown);
  const more = rest.length > 0 && h("button", {
    type: "button", class: "more",
    onclick: (event) => {
      grid.append(...rest.map((k) => card(state, k, group)));
      (event.target as HTMLElement).remove();
    },
  }, `Show ${plural(rest.length, "more source")}`);
  return h("section", { id: "sources", "aria-labelledby": "sources-title" },
    h("div", { class: "section-head" }, h("h2", { id: "sources-title" }, "Sources"), state.stream ? group.toolbar() : null),
    h("p", { class: "quiet" }, "A source adds its column of the basis, times its activation, to the expected counts.",
      state.stream && " Drag over a chart to zoom; all charts over time move together.",
      state.truth && " Dark marks on the bars are the truth."),
    grid, more);
}
