import { exact, h, nameOf, percent, plural, short, whole } from "../dom";
import type { State } from "../state";
import { kolmogorovSmirnov } from "../statistics";

// The first lines of the page: what was fitted, and how well, in sentences; then the same in figures.

type Piece = Node | string;
const sentence = (...pieces: Piece[]) => h("p", {}, ...pieces);
const strong = (...pieces: Piece[]) => h("strong", {}, ...pieces);

function whatWasFitted({ model }: State): HTMLElement {
  const law = model.counts.law === "poisson" ? "Poisson counts"
    : model.counts.law === "negative-binomial" ? "negative binomial counts, which scatter more than Poisson's"
    : model.counts.law === "drifting" ? "counts of channels whose levels drift" : `${model.counts.law} counts`;
  const periods = model.periods.map((season) => whole(season.period));
  const season = periods.length > 0 ? ` and a period of ${periods.join(" and ")} observations` : "";
  return sentence(
    "The model has ", strong(exact(model.components, plural(model.components, "source"))),
    model.background ? " and a background that is always on" : "", ", learned from ",
    strong(exact(model.observations, plural(model.observations, "observation"))), " of ",
    strong(exact(model.channels, plural(model.channels, "channel"))),
    `, with the prior ${model.prior.name}, ${law}${season}.`);
}

function howItLearned({ model }: State): HTMLElement {
  if (model.method === "batch") {
    return sentence("Batch EM ", model.converged ? "converged after " : "stopped at the limit of ",
      exact(model.iterations, plural(model.iterations, "iteration")), " with the log-likelihood ",
      exact(model.log_likelihood, whole(model.log_likelihood)), " (",
      exact(model.log_likelihood / model.observations, short(model.log_likelihood / model.observations, 4)),
      " an observation).");
  }
  const after = model.observations_after_start;
  const isPart = after > 0 && after < model.observations;
  const mean = isPart ? model.log_likelihood_after_start / after : model.log_likelihood / model.observations;
  return sentence("During the fit, an observation had a log-probability of ",
    strong(exact(mean, short(mean, 4))), " on average, before it was learned from",
    isPart ? ` (over the ${whole(after)} observations after its start).` : ".");
}

function howItPredicts({ stream, data }: State): HTMLElement | null {
  if (!stream || stream.median_explained === null) return null;
  const part = stream.median_explained;
  const text = exact(part, percent(Math.abs(part)));
  const where = `On ${data ?? "the data"}, one step ahead, `;
  if (part > 0.005) {
    return sentence(where, "it explains ", strong(text),
      " of the variance that a running mean leaves in the median channel.");
  }
  if (part > -0.005) return sentence(where, "it predicts the median channel as well as a running mean does.");
  return sentence(where, "it predicts the median channel ", strong("worse than a running mean"), ": squared errors are ",
    text, " larger.");
}

export function calibrationVerdict({ stream }: State): { isGood: boolean; text: string; p: number } | null {
  if (!stream || stream.calibration.rows < 20) return null;
  const { rows, quantiles, histogram } = stream.calibration;
  const p = kolmogorovSmirnov(quantiles, rows);
  const surprising = histogram[0]! / rows; // bins of 1/20
  if (p > 0.001) return { isGood: true, p, text: "Its uncertainty is right: observations are as surprising as they should be." };
  const mean = quantiles.reduce((sum, value) => sum + value, 0) / quantiles.length;
  const isTooSure = surprising > 0.05 && mean < 0.5;
  return {
    isGood: false, p,
    text: isTooSure
      ? `It is too sure of itself: ${percent(surprising)} of the observations are as surprising as 5 % should be.`
      : mean > 0.5 ? "It is not sure enough of itself: observations are less surprising than it expects."
                   : "Its uncertainty is not quite right: observations are not as surprising as it expects.",
  };
}

function mostSurprising(state: State): HTMLElement | null {
  const row = state.stream?.surprises[0];
  if (!row || row.tail_probability === null || row.tail_probability > 0.01) return null;
  const cell = row.cells[0];
  const when = row.time ?? `observation ${whole(row.t)}`;
  return sentence("The most surprising was ", h("a", { href: "#surprises" }, when),
    ` (probability ${short(row.tail_probability, 2)})`,
    ...(cell ? [": channel ", nameOf(state.channels[cell.channel]!),
                ` had ${short(cell.seen)} where ${short(cell.expected)} were expected.`] : ["."]));
}

// What `headwater fit` and `show` say of a fit that is not good, as sentences.
const asSentence = (note: string) =>
  (note.startsWith("predicts ") ? `The model ${note}` : note.charAt(0).toUpperCase() + note.slice(1)) + ".";

function warnings({ model, stream }: State): HTMLElement[] {
  const lines: string[] = (model.warnings ?? []).map(asSentence);
  if (model.impossible_observations > 0) {
    lines.push(`${plural(model.impossible_observations, "observation")} of the fit had probability 0 and were treated as missing.`);
  }
  if (model.outliers > 0) lines.push(`${plural(model.outliers, "outlier")} of the fit were treated as missing.`);
  if (model.effective_part !== undefined && model.effective_part < 0.05 && model.method === "online") {
    lines.push(`Only ${percent(model.effective_part)} of the particles carried the weight: too few to rely on.`);
  }
  if (stream && stream.impossible_observations > 0) {
    lines.push(`${plural(stream.impossible_observations, "observation")} of the data are impossible under the model.`);
  }
  if (stream && stream.missing_cells > 0) {
    const cells = stream.observations * model.channels;
    lines.push(`${percent(stream.missing_cells / cells)} of the cells are missing; they were skipped, never filled in.`);
  }
  return lines.map((line) => h("p", { class: "note" }, line));
}

function figures(state: State): HTMLElement {
  const { model, stream, truth } = state;
  const tile = (label: string, name: string, value: number, shown: string) =>
    h("div", { class: "tile" }, h("dt", {}, label), h("dd", { "data-figure": name }, exact(value, shown)));
  const tiles = [
    tile("sources", "components", model.components, whole(model.components)),
    tile("channels", "channels", model.channels, whole(model.channels)),
    tile("observations", "observations", model.observations, whole(model.observations)),
    tile("log-likelihood of the fit", "log_likelihood", model.log_likelihood, whole(model.log_likelihood)),
  ];
  if (stream) {
    const each = stream.log_likelihood / Math.max(stream.observations - stream.impossible_observations, 1);
    tiles.push(tile("log-probability an observation, on the data", "per_observation", each, short(each, 4)));
  }
  if (truth) {
    tiles.push(tile("distance from the truth", "relative_error", truth.relative_error, percent(truth.relative_error)));
  }
  return h("dl", { class: "tiles" }, ...tiles);
}

export function summary(state: State): HTMLElement {
  const verdict = calibrationVerdict(state);
  return h("section", { id: "summary", class: "lede" },
    whatWasFitted(state), howItLearned(state), howItPredicts(state),
    verdict && sentence(verdict.text),
    mostSurprising(state), ...warnings(state), figures(state));
}
