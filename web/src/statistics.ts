// The probability that n uniform numbers lie at least as far from uniform as these, by the largest distance of their
// distribution function (Kolmogorov and Smirnov), in Stephens' approximation. quantiles: at (i + 1/2) / length.
export function kolmogorovSmirnov(quantiles: number[], n: number): number {
  let distance = 0;
  quantiles.forEach((value, i) => {
    const low = i / quantiles.length;
    const high = (i + 1) / quantiles.length;
    // Where there are fewer quantiles than numbers, the distance is known up to one of their steps.
    distance = Math.max(distance, quantiles.length === n ? Math.max(value - low, high - value)
                                                         : Math.abs(value - (low + high) / 2));
  });
  const root = Math.sqrt(n);
  const scaled = (root + 0.12 + 0.11 / root) * distance;
  if (scaled < 0.2) return 1;
  let sum = 0;
  for (let k = 1; k < 100; ++k) sum += (k % 2 === 1 ? 2 : -2) * Math.exp(-2 * k * k * scaled * scaled);
  return Math.min(Math.max(sum, 0), 1);
}

// Indices sorted by falling value; ties in their order.
export function byFallingValue(values: number[]): number[] {
  return values.map((_value, i) => i).sort((a, b) => values[b]! - values[a]! || a - b);
}
