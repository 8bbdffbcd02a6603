// Have the chains mixed? The same figures as split_rhat and ess of cgmh.sampling.trace, of draws [chain][step].

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const squares = (values, middle = mean(values)) => values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
const variance = (values) => squares(values) / (values.length - 1);

/** Each chain in two halves; of an odd number the middle draw is left out. Null where there are fewer than 4 draws. */
function halves(draws) {
  const length = Math.min(...draws.map((chain) => chain.length));
  const half = Math.floor(length / 2);
  return half < 2 ? null : draws.flatMap((chain) => [chain.slice(0, half), chain.slice(length - half, length)]);
}

/** Split R-hat; NaN if no chain ever moves, or there are too few draws. */
export function splitRhat(draws) {
  const parts = halves(draws);
  if (!parts) return NaN;
  const num = parts[0].length, within = mean(parts.map(variance));
  return within ? Math.sqrt(((num - 1) / num * within + variance(parts.map(mean))) / within) : NaN;
}

/** Effective number of independent draws, over split chains, by Geyer's initial monotone sequence. */
export function ess(draws) {
  const parts = halves(draws);
  if (!parts) return NaN;
  const num = parts[0].length, means = parts.map(mean);
  const covariance = (lag) => mean(parts.map((part, at) => {
    let sum = 0;
    for (let place = 0; place + lag < num; place++) sum += (part[place] - means[at]) * (part[place + lag] - means[at]);
    return sum / num;
  }));
  const within = covariance(0) * num / (num - 1);
  if (!within) return NaN;
  const total = within * (num - 1) / num + variance(means);
  const correlation = (lag) => (lag ? 1 - (within - covariance(lag) * num / (num - 1)) / total : 1);
  let sum = 0, least = Infinity;
  for (let lag = 0; lag + 1 < num; lag += 2) { // of an exact chain positive and falling
    const pair = correlation(lag) + correlation(lag + 1);
    if (pair < 0) break;
    least = Math.min(least, pair);
    sum += least;
  }
  const count = parts.length * num;
  return count / Math.max(2 * sum - 1, 1 / Math.log10(count));
}

/** How far the figures are to be trusted: "good", "fair" or "poor" (the bounds of Vehtari et al. 2021, and wider ones). */
export const trust = (rhat, effective) => (rhat < 1.01 && effective >= 400 ? "good" : rhat < 1.05 && effective >= 100 ? "fair" : "poor");
