import { h, nameOf, namesWidth, percent, short } from "../dom";
import type { State } from "../state";
import { isDark, onTheme } from "../theme";
import { whenVisible } from "../time_chart";

// The basis as a heat map: a row for each channel, sorted by the source that it has most of.

type Scale = "share" | "counts";

const kStops = {
  light: ["#fbfaf7", "#d3e2ef", "#8fb8d8", "#3f82b5", "#0b4f83", "#04284a"],
  dark: ["#191d21", "#16354c", "#1d5b85", "#3d8fc4", "#8cc4e8", "#e8f5ff"],
};

function shade(part: number): string {
  const stops = isDark() ? kStops.dark : kStops.light;
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  const mix = (from: string, to: string, j: number) => {
    const a = parseInt(from.slice(1 + 2 * j, 3 + 2 * j), 16);
    const b = parseInt(to.slice(1 + 2 * j, 3 + 2 * j), 16);
    return Math.round(a + (b - a) * (at - i));
  };
  return `rgb(${[0, 1, 2].map((j) => mix(stops[i]!, stops[i + 1]!, j)).join(",")})`;
}

// By the source with the largest entry; the strongest channel of a source first.
export function sortedChannels(basis: number[][]): number[] {
  const best = basis.map((row) => row.indexOf(Math.max(...row)));
  return basis.map((_row, m) => m)
    .sort((a, b) => best[a]! - best[b]! || basis[b]![best[b]!]! - basis[a]![best[a]!]! || a - b);
}

export class HeatMap {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { "aria-hidden": "true" });
  private frame: HTMLElement | null = null;
  private scale: Scale = "share";
  private at: [number, number] = [0, -1]; // column, row in the order shown
  private largest: number[] = [];
  private sums: number[] = [];

  constructor(private basis: number[][], private readonly order: number[], title: string,
              names: string[], headOf: (component: number) => string,
              private readonly tell: (channel: number, component: number) => void) {
    this.replace(basis);
    const frame = h("div", {
      class: "heat-frame", tabindex: 0, role: "application",
      "aria-label": `Basis ${title}: ${basis.length} channels by ${this.columns} sources. Arrow keys read entries.`,
      onkeydown: (event) => this.key(event as KeyboardEvent),
      onmousemove: (event) => this.point(event as MouseEvent),
    }, this.canvas);
    this.frame = frame;
    const labels = this.rowHeight >= 13
      ? h("div", { class: "heat-names", "aria-hidden": "true" }, ...order.map((m) => nameOf(names[m]!))) : null;
    if (labels) labels.style.setProperty("--names", namesWidth(names));
    const head = this.columns <= 30
      ? h("div", { class: "heat-head", "aria-hidden": "true" }, ...(basis[0] ?? []).map((_value, k) => h("span", {}, headOf(k)))) : null;
    this.element = h("figure", { class: labels ? "heat with-names" : "heat" },
      h("figcaption", {}, title), h("div", { class: "heat-body" }, labels, h("div", { class: "heat-right" }, head, frame)));
    if (head) this.element.classList.add("with-head");
    this.element.style.setProperty("--row", `${this.rowHeight}px`);
    whenVisible(frame, () => this.draw());
    onTheme(() => this.draw());
  }

  private get columns(): number {
    return this.basis[0]?.length ?? 0;
  }

  private get rowHeight(): number {
    return Math.max(Math.min(Math.floor(640 / Math.max(this.basis.length, 1)), 22), this.basis.length > 640 ? 1 : 2);
  }

  // Other numbers, for as many channels and sources.
  replace(basis: number[][]): void {
    this.basis = basis;
    this.sums = basis.map((row) => row.reduce((sum, value) => sum + value, 0));
    this.largest = (basis[0] ?? []).map((_value, k) => basis.reduce((most, row) => Math.max(most, row[k]!), 1e-300));
    if (this.frame) this.draw();
  }

  setScale(scale: Scale): void {
    this.scale = scale;
    this.draw();
  }

  partOf(channel: number, component: number): number {
    const value = this.basis[channel]![component]!;
    if (this.scale === "counts") return Math.sqrt(value / this.largest[component]!);
    return this.sums[channel]! > 0 ? value / this.sums[channel]! : 0;
  }

  private draw(): void {
    const width = this.frame?.clientWidth ?? 0;
    const height = this.rowHeight * this.order.length;
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    const cell = width / this.columns;
    const gap = cell > 12 ? 1 : 0;
    this.order.forEach((channel, row) => {
      for (let k = 0; k < this.columns; ++k) {
        context.fillStyle = shade(this.partOf(channel, k));
        context.fillRect(k * cell, row * this.rowHeight, cell - gap, this.rowHeight - (this.rowHeight > 6 ? 1 : 0));
      }
    });
    const [k, row] = this.at;
    if (row < 0) return;
    context.strokeStyle = isDark() ? "#ffb454" : "#c2410c";
    context.lineWidth = 2;
    context.strokeRect(k * cell, row * this.rowHeight, cell - gap, Math.max(this.rowHeight - 1, 2));
  }

  private move(column: number, row: number): void {
    this.at = [Math.min(Math.max(column, 0), this.columns - 1), Math.min(Math.max(row, 0), this.order.length - 1)];
    this.draw();
    this.tell(this.order[this.at[1]]!, this.at[0]);
  }

  private key(event: KeyboardEvent): void {
    const steps: { [key: string]: [number, number] } = {
      ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    this.move(this.at[0] + step[0], this.at[1] + step[1]);
  }

  private point(event: MouseEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * this.columns);
    const row = Math.floor((event.clientY - box.top) / this.rowHeight);
    if (row >= 0 && row < this.order.length) this.move(column, row);
  }
}

const kMostTableRows = 200;

function table(state: State, order: number[]): HTMLElement {
  const columns = state.basis[0]?.length ?? 0;
  const head = Array.from({ length: columns }, (_unused, k) =>
    h("th", { scope: "col" }, k < state.model.components ? `source ${k + 1}` : "background"));
  const shown = order.slice(0, kMostTableRows);
  return h("details", {}, h("summary", {}, "The same as a table"),
    order.length > shown.length && h("p", { class: "quiet small" },
      `The first ${shown.length} channels; headwater show --basis prints all.`),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The basis as a table" },
      h("table", { class: "numbers" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "channel"), ...head)),
        h("tbody", {}, ...shown.map((m) => h("tr", {}, h("th", { scope: "row" }, nameOf(state.channels[m]!)),
          ...state.basis[m]!.map((value) => h("td", {}, short(value, 4)))))))));
}

export function basis(state: State): HTMLElement {
  const order = sortedChannels(state.basis);
  const readout = h("output", { class: "readout", "aria-live": "polite" }, "\u00a0");
  const sourceName = (k: number) => (k < state.model.components ? `source ${k + 1}` : "the background");
  const headOf = (k: number) => (k < state.model.components ? `${k + 1}` : "bg");
  const found = new HeatMap(state.basis, order, state.truth ? "found" : "", state.channels, headOf, (channel, k) => {
    const sum = state.basis[channel]!.reduce((all, value) => all + value, 0);
    const value = state.basis[channel]![k]!;
    readout.textContent = `channel ${state.channels[channel]}, ${sourceName(k)}: ${short(value, 4)} counts, ` +
      `${percent(sum > 0 ? value / sum : 0)} of the channel` +
      (state.truth && k < state.model.components ? `; truth ${short(state.truth.basis[channel]![k]!, 4)}` : "");
  });
  const maps = [found];
  if (state.truth) maps.push(new HeatMap(state.truth.basis, order, "truth", state.channels, headOf, (channel, k) => {
    readout.textContent = `channel ${state.channels[channel]}, ${sourceName(k)}: truth ${short(state.truth!.basis[channel]![k]!, 4)}`;
  }));
  const choice = (scale: Scale, label: string, isOn: boolean) => h("label", {},
    h("input", { type: "radio", name: "scale", value: scale, checked: isOn,
                 onchange: () => maps.forEach((map) => map.setScale(scale)) }), label);
  return h("section", { id: "basis", "aria-labelledby": "basis-title" },
    h("h2", { id: "basis-title" }, "Basis"),
    h("p", { class: "quiet" }, "A row for each channel, sorted by the source that it has most of; a column for each source",
      state.model.background ? ", the background last." : "."),
    h("fieldset", { class: "choice" }, h("legend", {}, "Colours show"),
      choice("share", "a source's part of the channel", true),
      choice("counts", "counts, beside the source's largest", false)),
    h("div", { class: "heats" }, ...maps.map((map) => map.element)), readout, table(state, order));
}
