import type { TimeChart } from "./time_chart";
import { h } from "./dom";

// Charts over the same stretch of observations: what is zoomed in one is zoomed in all.
export class TimeGroup {
  private charts: TimeChart[] = [];
  private range: [number, number];
  private listeners: (() => void)[] = [];

  constructor(private first: number, private last: number) {
    this.range = [first, Math.max(last, first + 1)];
  }

  // Another stretch; what was zoomed is shown whole again.
  reset(first: number, last: number): void {
    [this.first, this.last] = [first, last];
    this.range = [first, Math.max(last, first + 1)];
  }

  join(chart: TimeChart): void {
    this.charts.push(chart);
  }

  get shown(): [number, number] {
    return this.range;
  }

  get isWhole(): boolean {
    return this.range[0] <= this.first && this.range[1] >= Math.max(this.last, this.first + 1);
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  show(from: number, to: number): void {
    const whole = Math.max(this.last - this.first, 1);
    const width = Math.min(Math.max(to - from, Math.min(4, whole)), whole);
    const start = Math.min(Math.max(from, this.first), this.first + whole - width);
    this.range = [start, start + width];
    for (const chart of this.charts) chart.showRange();
    for (const listener of this.listeners) listener();
  }

  zoom(factor: number, at?: number): void {
    const [from, to] = this.range;
    const centre = at ?? (from + to) / 2;
    this.show(centre - (centre - from) * factor, centre + (to - centre) * factor);
  }

  pan(part: number): void {
    const [from, to] = this.range;
    const step = part * (to - from);
    this.show(from + step, to + step);
  }

  all(): void {
    this.show(this.first, this.last);
  }

  // What the keys + - 0 and Shift with an arrow do; false for other keys.
  key(event: KeyboardEvent): boolean {
    if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0") this.all();
    else if (event.key === "ArrowLeft" && event.shiftKey) this.pan(-0.25);
    else if (event.key === "ArrowRight" && event.shiftKey) this.pan(0.25);
    else return false;
    return true;
  }

  toolbar(): HTMLElement {
    const button = (label: string, sign: string, act: () => void) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: act }, sign);
    return h("div", { class: "toolbar", role: "group", "aria-label": "Time shown" },
      button("Earlier", "‹", () => this.pan(-0.5)),
      button("Zoom out", "−", () => this.zoom(2)),
      button("Zoom in", "+", () => this.zoom(0.5)),
      button("Later", "›", () => this.pan(0.5)),
      button("Show all", "all", () => this.all()));
  }
}
