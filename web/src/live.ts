import { exact, h, nameOf, percent, plural, short, whole } from "./dom";
import { HeatMap, sortedChannels } from "./sections/basis";
import type { LiveState, Numbers } from "./state";
import { readState } from "./state";
import { colour, sourceColour } from "./theme";
import { TimeChart } from "./time_chart";
import { TimeGroup } from "./time_group";

// The page of a fit that runs: numbers and curves of the last minutes, brought up to date by server-sent events.

function duration(seconds: number): string {
  if (seconds < 90) return `${whole(seconds)} s`;
  if (seconds < 5400) return `${whole(seconds / 60)} min`;
  return `${short(seconds / 3600, 3)} h`;
}

class Tiles {
  readonly element = h("dl", { class: "tiles" });
  private readonly values = new Map<string, HTMLElement>();

  set(name: string, label: string, value: number, shown: string): void {
    let place = this.values.get(name);
    if (!place) {
      place = h("dd", { "data-figure": name });
      this.values.set(name, place);
      this.element.append(h("div", { class: "tile" }, h("dt", {}, label), place));
    }
    place.replaceChildren(exact(value, shown));
  }
}

// A chart over the seconds of the last minutes.
class LiveChart {
  readonly element: HTMLElement;
  private readonly group = new TimeGroup(0, 1);
  private readonly chart: TimeChart;

  constructor(title: string, private readonly line: () => string, height: number, y: { min?: number; max?: number }) {
    this.chart = new TimeChart({ title, x: [0, 1], unit: "second", group: this.group, height, y,
      lines: [{ label: title, colour: line, values: { mean: [null, null] } }] });
    this.element = this.chart.element;
  }

  show(title: string, seconds: number[], mean: Numbers, low?: Numbers): void {
    const x = seconds.length > 1 ? seconds : [0, ...seconds];
    const values = seconds.length > 1 ? mean : [null, ...mean];
    this.group.reset(x[0] ?? 0, x[x.length - 1] ?? 1);
    this.chart.replace({ x, lines: [
      { label: title, colour: this.line, values: low && seconds.length > 1 ? { mean: values, low, high: values } : { mean: values } }] });
  }
}

export class LivePage {
  readonly nodes: Node[];
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly tiles = new Tiles();
  private readonly predictive = new LiveChart("Log-probability of observations", () => colour("accent"), 160, {});
  private readonly health = new LiveChart("Part of the particles that carries the weight", () => colour("accent"), 110, { min: 0, max: 1 });
  private readonly healthBlock: HTMLElement;
  private readonly cards = h("div", { class: "cards" });
  private activations: LiveChart[] = [];
  private readonly basis = h("div", {});
  private readonly parameters = h("tbody", {});
  private readonly surprises = h("tbody", {});
  private heat: HeatMap | null = null;
  private shownSize = "";
  private state: LiveState;

  constructor(state: LiveState) {
    this.state = state;
    this.healthBlock = h("section", { id: "health", hidden: true }, h("h2", {}, "Particles"),
      h("p", { class: "quiet" }, "Below 5 %, results are not to be relied on."), this.health.element);
    this.nodes = [
      h("section", { class: "lede" }, this.status, this.tiles.element),
      h("section", { id: "fitness" }, h("h2", {}, "How well it predicts"),
        h("p", { class: "quiet" }, "The mean log-probability of the observations since the point before, given all before them, and the least. Seconds since the fit began."),
        this.predictive.element),
      h("section", { id: "sources" }, h("h2", {}, "Sources"),
        h("p", { class: "quiet" }, "Activations of the last minutes, as they were each time this page was brought up to date."), this.cards),
      h("section", { id: "surprises" }, h("h2", {}, "Surprises"),
        h("p", { class: "quiet" }, "The latest observations whose log-probability was 6 standard deviations or more below its recent mean."),
        h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Surprises" },
          h("table", {}, h("thead", {}, h("tr", {}, ...["observation", "time", "log-probability", "standard deviations"].map((text) =>
            h("th", { scope: "col" }, text)))), this.surprises))),
      h("section", { id: "basis" }, h("h2", {}, "Basis"), this.basis),
      this.healthBlock,
      h("section", { id: "estimates" }, h("h2", {}, "Parameters of the prior"), h("table", { class: "pairs" }, this.parameters)),
    ];
    this.show(state);
  }

  setStatus(text: string): void {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  show(state: LiveState): void {
    this.state = state;
    const { model, live } = state;
    const size = `${model.components} ${state.basis.length}`;
    if (size !== this.shownSize) this.build(size);
    this.setStatus(live.is_finished ? "The stream has ended; the fit is done."
      : !live.has_started ? `Collecting observations to choose a start from: ${plural(live.rows, "row")} so far.`
      : `Running, ${live.silent_seconds > 5 ? `and waiting for the stream since ${duration(live.silent_seconds)}` : `${short(live.rate)} observations a second`}.`);
    const tiles = this.tiles;
    tiles.set("observations", "observations", model.observations, whole(model.observations));
    tiles.set("rate", "observations a second", live.rate, short(live.rate));
    tiles.set("recent_log_predictive", "log-probability, lately", live.recent_log_predictive, short(live.recent_log_predictive, 4));
    tiles.set("log_likelihood", "log-likelihood so far", model.log_likelihood, whole(model.log_likelihood));
    tiles.set("surprising", "surprises", live.surprising, whole(live.surprising));
    tiles.set("impossible_observations", "impossible observations", model.impossible_observations, whole(model.impossible_observations));
    if (live.bad_rows > 0) tiles.set("bad_rows", "rows that could not be read", live.bad_rows, whole(live.bad_rows));
    if (live.checkpoints > 0) tiles.set("checkpoint_rows", "observations in the last checkpoint", live.checkpoint_rows, whole(live.checkpoint_rows));
    if (live.effective_part !== undefined) {
      tiles.set("effective_part", "particles that carry the weight", live.effective_part, percent(live.effective_part));
    }
    tiles.set("seconds", "running", live.seconds, duration(live.seconds));
    const { seconds } = live.samples;
    this.predictive.show("log-probability", seconds, live.samples.log_predictive, live.samples.least_log_predictive);
    this.healthBlock.hidden = live.samples.effective_part === undefined;
    if (live.samples.effective_part) this.health.show("part", seconds, live.samples.effective_part);
    this.activations.forEach((chart, k) => chart.show("activation", seconds, live.samples.activations[k] ?? []));
    this.heat?.replace(state.basis);
    this.parameters.replaceChildren(...Object.entries(model.prior.parameters).filter(([, value]) => typeof value === "number")
      .map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name),
        h("td", { class: "right", "data-parameter": name }, exact(value as number, short(value as number, 5))))));
    this.surprises.replaceChildren(...(live.surprises.length === 0
      ? [h("tr", {}, h("td", { colspan: 4, class: "quiet" }, "none so far"))]
      : live.surprises.map((row) => h("tr", {}, h("th", { scope: "row" }, whole(row.t)), h("td", {}, row.time ?? ""),
          h("td", { class: "right" }, short(row.log_predictive, 4)), h("td", { class: "right" }, short(row.excess, 3))))));
  }

  // Another number of sources or channels: it is known only when the fit has started.
  private build(size: string): void {
    this.shownSize = size;
    const { model, basis, channels } = this.state;
    this.activations = Array.from({ length: Math.min(model.components, 24) }, (_unused, k) =>
      new LiveChart(`Activation of source ${k + 1}`, () => sourceColour(k), 100, { min: 0 }));
    this.cards.replaceChildren(...this.activations.map((chart, k) => h("article", { class: `card source-${k % 7}` },
      h("h3", {}, `Source ${k + 1}`), chart.element)));
    this.heat = null;
    if (basis.length === 0) {
      this.basis.replaceChildren(h("p", { class: "quiet" }, model.channels > 0 && this.state.live.has_started
        ? "The basis is too large to be shown while the fit runs." : "Not yet."));
      return;
    }
    const readout = h("output", { class: "readout" }, "\u00a0");
    this.heat = new HeatMap(basis, sortedChannels(basis), "", channels, (k) => (k < model.components ? `${k + 1}` : "bg"), (channel, k) => {
      readout.replaceChildren("channel ", nameOf(channels[channel]!), `, source ${k + 1}: ${short(this.state.basis[channel]![k]!, 4)} counts`);
    });
    this.basis.replaceChildren(h("p", { class: "quiet" }, "A source's part of each channel; channels in the order in which the fit began."), this.heat.element, readout);
  }
}

// Follows the events of the server that this page is from. A browser connects again by itself.
export function follow(page: LivePage): void {
  const events = new EventSource("/events");
  let isFinished = false;
  events.onmessage = (event) => {
    const state = readState(event.data as string);
    if (typeof state === "string" || state.kind !== "live") return;
    isFinished = state.live.is_finished;
    page.show(state);
    if (isFinished) events.close();
  };
  events.onerror = () => {
    if (!isFinished) page.setStatus("The fit cannot be reached; trying again.");
  };
}
