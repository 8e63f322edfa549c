import uPlot from "uplot";
import { h, short, whole } from "./dom";
import { colour, onTheme } from "./theme";
import { TimeGroup } from "./time_group";
import { thinned } from "./thinning";
import type { Thinned } from "./thinning";
import type { Series } from "./state";

export interface Line {
  label: string;
  colour: () => string;
  values: Series;
  width?: number;
  dash?: number[];
  steps?: boolean;
  points?: boolean;
  meanOnly?: boolean; // no range is drawn around the mean
}

export interface ChartOptions {
  title: string; // for those who cannot see it
  x: number[];
  labels?: string[]; // what the points are called: time stamps, usually
  unit?: string; // what x counts
  lines: Line[];
  group?: TimeGroup;
  height?: number;
  y?: { min?: number; max?: number; label?: string };
  mark?: number; // a vertical line
}

const kFont = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

// "2010-01-01T05:00:00" -> the day, and the time below it unless the range is too long for that to say anything.
const kStamp = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?/;
function tickLabel(label: string, daysOnly: boolean): string {
  const match = kStamp.exec(label);
  if (match) return daysOnly || !match[2] ? match[1]! : `${match[1]}\n${match[2]}`;
  return label.length > 16 ? label.slice(0, 15) + "…" : label;
}

const kDay = 86400e3;
function areDaysApart(from: string, to: string, days: number): boolean {
  const [first, last] = [kStamp.exec(from), kStamp.exec(to)];
  return first !== null && last !== null && Date.parse(last[1]!) - Date.parse(first[1]!) > days * kDay;
}

// A chart of one or more lines over time. Drag zooms, a double click shows all; with the keyboard, arrows move a
// cursor whose numbers are written below the chart.
export class TimeChart {
  readonly element: HTMLElement;
  private plot: uPlot | null = null;
  private readonly holder: HTMLElement;
  private readonly readout: HTMLElement;
  private readonly group: TimeGroup;
  private view: Thinned = { x: [], series: [], first: [] };

  constructor(private options: ChartOptions) {
    const x = options.x;
    this.group = options.group ?? new TimeGroup(x[0] ?? 0, x[x.length - 1] ?? 1);
    this.group.join(this);
    this.holder = h("div", {
      class: "plot", tabindex: 0, role: "application",
      "aria-label": `${options.title}. Arrow keys read values, plus and minus zoom, 0 shows all.`,
      onkeydown: (event) => this.key(event as KeyboardEvent),
      onwheel: (event) => this.wheel(event as WheelEvent),
    });
    this.holder.style.minHeight = `${options.height ?? 140}px`;
    this.readout = h("output", { class: "readout", "aria-live": "polite" }, "\u00a0");
    this.element = h("div", { class: "chart" }, this.holder, this.readout);
    onTheme(() => this.redraw());
    whenVisible(this.holder, () => this.redraw());
  }

  showRange(): void {
    this.plot?.setData(this.data());
    this.note();
  }

  // What is drawn, for whoever asks the page.
  private note(): void {
    const [from, to] = this.group.shown;
    Object.assign(this.holder.dataset, { from: String(from), to: String(to), points: String(this.view.x.length) });
  }

  replace(options: Partial<ChartOptions>): void {
    const columns = this.numColumns();
    this.options = { ...this.options, ...options };
    if (!this.plot) return;
    if (this.numColumns() !== columns) this.redraw();
    else this.showRange();
  }

  private numColumns(): number {
    return this.options.lines.reduce((sum, line) => sum + (this.hasBand(line) ? 3 : 1), 1);
  }

  private redraw(): void {
    if (this.holder.clientWidth === 0) return;
    this.plot?.destroy();
    this.plot = new uPlot(this.plotOptions(), this.data(), this.holder);
    const canvas = this.holder.querySelector("canvas");
    canvas?.setAttribute("aria-hidden", "true");
    this.note();
  }

  // What lies in the range shown, with no more points than can be told apart.
  private data(): uPlot.AlignedData {
    const [from, to] = this.group.shown;
    const most = Math.max(Math.floor(this.holder.clientWidth / 3), 50);
    this.view = thinned(this.options.x, this.options.lines.map((line) => line.values), from, to, most);
    const columns: (number | null)[][] = [];
    this.options.lines.forEach((line, i) => {
      const values = this.view.series[i]!;
      if (this.hasBand(line)) columns.push(values.high ?? values.mean, values.low ?? values.mean);
      columns.push(values.mean);
    });
    return [this.view.x, ...columns] as uPlot.AlignedData;
  }

  // Lines that are drawn as a mean alone say so.
  private hasBand(line: Line): boolean {
    return !line.meanOnly;
  }

  private plotOptions(): uPlot.Options {
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    for (const line of this.options.lines) {
      const shade = line.colour();
      const paths = line.steps ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {};
      if (this.hasBand(line)) {
        bands.push({ series: [series.length, series.length + 1], fill: translucent(shade) });
        for (let i = 0; i < 2; ++i) series.push({ stroke: "transparent", width: 0, points: { show: false }, ...paths });
      }
      series.push({
        label: line.label, stroke: shade, width: line.width ?? 1.5, dash: line.dash, spanGaps: false,
        points: { show: line.points ?? this.options.x.length <= 2, size: 5, fill: shade },
        ...paths,
      });
    }
    const axis = { stroke: colour("quiet"), font: kFont, labelFont: kFont,
                   grid: { stroke: colour("rule"), width: 1 }, ticks: { stroke: colour("rule"), width: 1, size: 4 } };
    const hasTimes = this.options.labels !== undefined;
    return {
      width: this.holder.clientWidth,
      height: this.options.height ?? 140,
      padding: [8, 26, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 7 }, y: false },
      scales: {
        x: { time: false, range: () => this.group.shown },
        y: { range: (_plot, min, max) => this.yRange(min, max) },
      },
      axes: [
        { ...axis, size: () => (hasTimes && !this.showsDaysOnly() ? 42 : 26), space: hasTimes ? 96 : 70,
          values: (_plot, ticks) => ticks.map((tick) => this.tickText(tick)) },
        { ...axis, size: 52, gap: 4, space: 28, values: (_plot, ticks) => ticks.map((tick) => short(tick, 4)) },
      ],
      series, bands,
      hooks: {
        setCursor: [(plot) => this.readAt(plot.cursor.idx ?? null)],
        setSelect: [(plot) => {
          const { left, width } = plot.select;
          if (width > 3) this.group.show(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }],
        ready: [(plot) => plot.over.addEventListener("dblclick", () => this.group.all())],
        draw: [(plot) => this.drawMark(plot)],
      },
    };
  }

  private yRange(min: number | null, max: number | null): [number, number] {
    const asked = this.options.y ?? {};
    let low = asked.min ?? min ?? 0;
    let high = asked.max ?? max ?? 1;
    if (!(high > low)) [low, high] = [low === 0 ? 0 : low - Math.abs(low) * 0.1, low + (Math.abs(low) * 0.1 || 1)];
    const margin = 0.05 * (high - low);
    return [asked.min ?? low - margin, asked.max ?? high + margin];
  }

  private drawMark(plot: uPlot): void {
    if (this.options.mark === undefined) return;
    const at = Math.round(plot.valToPos(this.options.mark, "x", true));
    plot.ctx.save();
    plot.ctx.strokeStyle = colour("quiet");
    plot.ctx.setLineDash([4, 4]);
    plot.ctx.beginPath();
    plot.ctx.moveTo(at, plot.bbox.top);
    plot.ctx.lineTo(at, plot.bbox.top + plot.bbox.height);
    plot.ctx.stroke();
    plot.ctx.restore();
  }

  // The point of `x` that is nearest to a value.
  private nearest(value: number, x = this.options.x): number {
    let low = 0;
    let high = x.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (x[middle]! <= value) low = middle;
      else high = middle;
    }
    return value - x[low]! <= x[high]! - value ? low : high;
  }

  private tickText(tick: number): string {
    if (!this.options.labels) return Number.isInteger(tick) ? whole(tick) : short(tick);
    return Number.isInteger(tick) ? tickLabel(this.options.labels[this.nearest(tick)] ?? "", this.showsDaysOnly()) : "";
  }

  private showsDaysOnly(): boolean {
    const [from, to] = this.group.shown;
    const labels = this.options.labels ?? [];
    return areDaysApart(labels[this.nearest(from)] ?? "", labels[this.nearest(to)] ?? "", 6);
  }

  private readAt(index: number | null): void {
    if (index === null || index === undefined || this.view.x[index] === undefined) return;
    const x = this.view.x[index]!;
    const where = this.options.labels?.[this.view.first[index]!] ?? `${this.options.unit ?? "observation"} ${whole(x)}`;
    const values = this.options.lines.map((line, i) => {
      const { mean, low, high } = this.view.series[i]!;
      const isRange = !line.meanOnly && low && high && low[index] !== high[index];
      const label = this.options.lines.length > 1 ? `${line.label} ` : "";
      if (line.width === 0) return low?.[index] == null ? "" : `${label}${short(low[index])} to ${short(high?.[index])}`;
      return mean[index] == null ? "" : `${label}${short(mean[index], 4)}${isRange ? ` (${short(low[index])} to ${short(high[index])})` : ""}`;
    });
    this.readout.textContent = `${where}: ${values.filter((text) => text !== "").join(", ")}`;
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const plot = this.plot;
    if (this.group.key(event)) {
      event.preventDefault();
    } else if (plot && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      const step = event.key === "ArrowLeft" ? -1 : 1;
      const [min, max] = this.group.shown;
      const points = this.view.x;
      let index = plot.cursor.idx ?? this.nearest((min + max) / 2, points);
      index = Math.min(Math.max(index + step, 0), points.length - 1);
      const x = points[index]!;
      if (x < min || x > max) this.group.pan(step * 0.25);
      plot.setCursor({ left: plot.valToPos(x, "x"), top: plot.over.clientHeight / 2 });
      event.preventDefault();
    }
  }

  // Plain turning of the wheel scrolls the page.
  private wheel(event: WheelEvent): void {
    if (!this.plot || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    const left = event.clientX - this.plot.over.getBoundingClientRect().left;
    this.group.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.plot.posToVal(left, "x"));
  }
}

export function translucent(shade: string): string {
  const match = /^#(..)(..)(..)$/.exec(shade);
  if (!match) return shade;
  const [red, green, blue] = match.slice(1).map((part) => parseInt(part!, 16));
  return `rgba(${red}, ${green}, ${blue}, 0.22)`;
}

// Calls draw() when the element first comes near the window or the page is printed, and when its width
// changes after that.
export function whenVisible(element: HTMLElement, draw: () => void): void {
  let drawnWidth = 0;
  const resized = new ResizeObserver(() => {
    if (element.clientWidth === drawnWidth || element.clientWidth === 0) return;
    drawnWidth = element.clientWidth;
    draw();
  });
  const begin = () => {
    seen.disconnect();
    window.removeEventListener("beforeprint", begin);
    drawnWidth = element.clientWidth;
    draw();
    resized.observe(element);
  };
  const seen = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) begin();
  }, { rootMargin: "400px" });
  seen.observe(element);
  window.addEventListener("beforeprint", begin);
}

// The numbers of the first observations of the points of a thinned series.
export const pointsOf = (count: number, every: number) =>
  Array.from({ length: count }, (_unused, i) => i * every + 1);
