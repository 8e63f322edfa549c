import type { Numbers, Series } from "./state";

export interface Thinned {
  x: number[];
  series: Series[];
  first: number[]; // the point that each of them begins with, among all points
}

// The points from `from` to `to` and one beyond on either side, joined so that there are at most about `most`: their
// means, and the least and largest of them. Joined points begin at multiples of their number, so that nothing flickers
// when the range moves.
export function thinned(x: number[], series: Series[], from: number, to: number, most: number): Thinned {
  let begin = 0;
  while (begin < x.length && x[begin]! < from) ++begin;
  let end = begin;
  while (end < x.length && x[end]! <= to) ++end;
  begin = Math.max(begin - 1, 0);
  end = Math.min(end + 1, x.length);
  const each = Math.max(Math.ceil((end - begin) / most), 1);
  begin -= begin % each;
  if (each === 1) {
    const cut = (values: Numbers) => values.slice(begin, end);
    return {
      x: x.slice(begin, end), first: x.slice(begin, end).map((_x, i) => begin + i),
      series: series.map(({ mean, low, high }) => (low && high ? { mean: cut(mean), low: cut(low), high: cut(high) } : { mean: cut(mean) })),
    };
  }
  const out: Thinned = { x: [], first: [], series: series.map(() => ({ mean: [], low: [], high: [] })) };
  for (let i = begin; i < end; i += each) {
    const last = Math.min(i + each, end);
    out.x.push((x[i]! + x[last - 1]!) / 2);
    out.first.push(i);
    series.forEach((values, k) => {
      const joined = out.series[k]!;
      joined.mean.push(reduced(values.mean, i, last, (a, b) => a + b, true));
      joined.low!.push(reduced(values.low ?? values.mean, i, last, Math.min, false));
      joined.high!.push(reduced(values.high ?? values.mean, i, last, Math.max, false));
    });
  }
  return out;
}

function reduced(values: Numbers, begin: number, end: number, join: (a: number, b: number) => number, isMean: boolean): number | null {
  let result: number | null = null;
  let count = 0;
  for (let i = begin; i < end; ++i) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    result = result === null ? value : join(result, value);
    ++count;
  }
  return result !== null && isMean ? result / count : result;
}
