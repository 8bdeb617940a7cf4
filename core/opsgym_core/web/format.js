// Formats numbers for users, as the command line does. Invariant: an unknown number is never shown as 0.

export const NOTHING = "–";
export const MINUS = "\u2212";

export const percent = (share) => share == null ? NOTHING : `${(100 * share).toFixed(1)}%`;
export const number = (value) => value == null ? NOTHING : value.toFixed(1);
export const count = (value) => value.toLocaleString("en-US");
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/** Percentage points, signed. */
export const points = (share) =>
  share == null ? NOTHING : `${share < 0 ? MINUS : "+"}${Math.abs(100 * share).toFixed(1)} pp`;

/** Dollars; small amounts with enough digits to differ from $0. */
export function dollars(amount) {
  if (amount == null) return "unknown";
  if (amount === 0) return "$0";
  if (amount >= 1) return `$${amount.toFixed(2)}`;
  return amount >= 0.0001 ? `$${amount.toFixed(4)}` : "<$0.0001";
}

/** A duration: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 04 min`. */
export function seconds(duration) {
  if (duration == null) return NOTHING;
  if (duration < 9.95) return `${duration.toFixed(1)} s`;
  const whole = Math.round(duration);
  const two = (part) => String(part).padStart(2, "0");
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor(whole % 3600 / 60))} min`;
}

/** A 95 % interval of a share. */
export function interval(range) {
  return range ? `${(100 * range.low).toFixed(1)}–${(100 * range.high).toFixed(1)}%` : NOTHING;
}

/** Counts by reason: `2 gym_lost, 1 pending`. */
export function reasonCounts(counts) {
  return Object.entries(counts).map(([reason, times]) => `${count(times)} ${reason.split("/").pop()}`).join(", ");
}

/** A share: `3 of 4`. */
export const shareOf = (share) => `${count(share.passed)} of ${count(share.total)}`;

/** A time, to the minute, in UTC. */
export const moment = (stamp) => stamp ? `${stamp.slice(0, 10)} ${stamp.slice(11, 16)} UTC` : NOTHING;

export const words = (name) => name.replaceAll("_", " ");
