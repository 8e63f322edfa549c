// The data model of the pages, version 1: docs/state.md describes every field.

export type Numbers = (number | null)[];

export interface Series {
  mean: Numbers;
  low?: Numbers; // where a point stands for several observations
  high?: Numbers;
}

export interface Clock {
  every: number; // observations a point
  times?: string[];
}

export interface ParameterValues {
  [name: string]: number | number[] | number[][];
}

export interface ModelFacts {
  channels: number;
  components: number;
  background: boolean;
  observations: number;
  log_likelihood: number;
  log_likelihood_after_start: number;
  observations_after_start: number;
  impossible_observations: number;
  outliers: number;
  revivals: number;
  prior: { name: string; parameters: ParameterValues };
  counts: { law: string; [name: string]: unknown };
  periods: { period: number; profile: number[][] | number[] | number }[];
  engine: string;
  engine_reason?: string;
  lost_mass?: number;
  proposal?: string;
  effective_part?: number;
  method: string;
  iterations: number;
  converged?: boolean;
  seed: number;
  version: string;
  options: { [name: string]: string };
  warnings?: string[];
  over_running_mean?: { gain: number; standard_error: number; observations: number };
  choice_of_components?: ComponentScore[];
  choice_of_prior?: PriorScore[];
  standard_errors?: { information: string; profiles?: (number[][] | number[] | number | null)[] };
  stability?: { restarts: number; found: number[] };
}

export interface Score {
  score: number;
  standard_error: number; // of the difference to the one that it is compared with
  chosen: boolean;
}

export interface ComponentScore extends Score {
  components: number;
}

export interface PriorScore extends Score {
  prior: string;
  counts: string;
}

export interface Trace {
  unit: "observations" | "iterations";
  t: number[];
  log_likelihood: Numbers;
  parameters: { name: string; values: Numbers }[];
  basis: { component: number; channel: number; values: Numbers }[];
}

export interface Prediction {
  channel: number;
  rank: string;
  explained: number;
  seen: Series;
  expected: Series;
  recent_seen: Numbers;
  recent_expected: Numbers;
}

export interface Surprise {
  t: number;
  time?: string;
  tail_probability: number | null;
  log_predictive: number | null;
  cells: { channel: number; expected: number; seen: number; deviation: number | null; p?: number }[];
}

export interface Forecast {
  first: number;
  recent_first: number;
  recent_times?: string[];
  times?: string[];
  levels: number[];
  channels: { channel: number | null; recent: Numbers; mean: Numbers; quantiles: Numbers[] }[];
}

export interface Health extends Partial<Record<"effective_size" | "lost_mass", Clock & { series: Series }>> {
  kind: "particles" | "beam";
  size: number;
  resampled?: number;
}

export interface Stream {
  observations: number;
  sequences: number;
  impossible_observations: number;
  missing_cells: number;
  log_likelihood: number;
  median_explained: number | null;
  explained: Numbers;
  mean_counts: Numbers;
  shares: number[];
  activations: Clock & { series: Series[] };
  log_predictive: Clock & { series: Series };
  health?: Health;
  predictions: Clock & {
    recent_first: number;
    recent_times?: string[];
    channels: Prediction[];
  };
  calibration: { rows: number; histogram: number[]; quantiles: number[] };
  surprises: Surprise[];
  forecast?: Forecast;
}

export interface Live {
  has_started: boolean;
  is_finished: boolean;
  rows: number;
  bad_rows: number;
  rate: number;
  seconds: number;
  silent_seconds: number;
  recent_log_predictive: number;
  surprising: number;
  effective_part?: number;
  checkpoints: number;
  checkpoint_rows: number;
  samples: {
    seconds: number[];
    t: number[];
    log_predictive: Numbers;
    least_log_predictive: Numbers;
    effective_part?: Numbers;
    activations: Numbers[];
  };
  surprises: { t: number; time?: string; log_predictive: number; excess: number }[];
}

// A fit that runs.
export interface LiveState {
  format: "headwater-state";
  version: number;
  kind: "live";
  data: string;
  model: ModelFacts;
  channels: string[];
  basis: number[][]; // empty until the fit has started
  live: Live;
}

export interface State {
  format: "headwater-state";
  version: number;
  kind: "report";
  title: string;
  data?: string;
  model: ModelFacts;
  channels: string[];
  basis: number[][]; // a row a channel; background last
  standard_errors?: number[][];
  truth?: { relative_error: number; basis: number[][] };
  trace?: Trace;
  stream?: Stream;
}

export const kVersion = 1;

// Text of the page, or why it cannot be read.
export function readState(text: string): State | LiveState | string {
  let state: State | LiveState;
  try {
    state = JSON.parse(text) as State | LiveState;
  } catch {
    return "The data of this page cannot be read.";
  }
  if (state.format !== "headwater-state") return "The data of this page are not headwater's.";
  if (state.version > kVersion) {
    return `The data of this page have version ${state.version}; this page reads version ${kVersion}.`;
  }
  return state;
}
