import { clipped, h, newId } from "../dom";
import type { Numbers, State } from "../state";
import { colour } from "../theme";
import { TimeChart } from "../time_chart";
import type { ChartOptions } from "../time_chart";
import { TimeGroup } from "../time_group";

// The last observations of a channel, and the forecast after them.
export function forecast(state: State): HTMLElement | null {
  const ahead = state.stream?.forecast;
  if (!ahead || ahead.channels.length === 0) return null;
  const seen = ahead.channels[0]!.recent.length;
  const steps = ahead.channels[0]!.mean.length;
  const none = (count: number): Numbers => Array.from({ length: count }, () => null);
  const x = Array.from({ length: seen + steps }, (_unused, i) => ahead.recent_first + i);
  const labels = ahead.times && ahead.recent_times ? [...ahead.recent_times, ...ahead.times] : undefined;
  const group = new TimeGroup(x[0]!, x[x.length - 1]!);
  const nameOfChannel = (channel: number | null) => (channel === null ? "all channels together" : state.channels[channel]!);

  const optionsFor = (i: number): ChartOptions => {
    const shown = ahead.channels[i]!;
    const later = (values: Numbers): Numbers => [...none(seen), ...values];
    const band = (low: number, high: number) =>
      ({ mean: none(seen + steps), low: later(shown.quantiles[low]!), high: later(shown.quantiles[high]!) });
    return {
      title: `Forecast of ${nameOfChannel(shown.channel)}`, x, labels, group, height: labels ? 260 : 240, y: { min: 0 },
      mark: ahead.first - 0.5,
      lines: [
        { label: "90 %", colour: () => colour("expected"), values: band(0, 4), width: 0 },
        { label: "50 %", colour: () => colour("expected"), values: band(1, 3), width: 0 },
        { label: "seen", colour: () => colour("seen"), values: { mean: [...shown.recent, ...none(steps)] }, width: 1.2, meanOnly: true },
        { label: "mean", colour: () => colour("expected"), values: { mean: later(shown.mean) }, width: 2, meanOnly: true },
      ],
    };
  };

  const chart = new TimeChart(optionsFor(0));
  const id = newId();
  const select = h("select", { id, onchange: (event) => chart.replace(optionsFor(Number((event.target as HTMLSelectElement).value))) },
    ...ahead.channels.map((shown, i) => h("option", { value: i }, clipped(nameOfChannel(shown.channel), 60))));
  return h("section", { id: "forecast", "aria-labelledby": "forecast-title" },
    h("div", { class: "section-head" }, h("h2", { id: "forecast-title" }, "Forecast"), group.toolbar()),
    h("p", { class: "quiet" }, `A forecast of the next ${steps} observations: the mean, and bands that contain `,
      "the count with probability 50 % and 90 %."),
    h("p", {}, h("label", { for: id }, "Channel "), select), chart.element);
}
