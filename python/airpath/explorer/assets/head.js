// The data of the page: names and places of series in the head, numbers in the block.
import { byId } from "./dom.js";

/** The head, as `airpath.explorer.head` writes it. */
export const H = JSON.parse(byId("head").textContent);

if (typeof DecompressionStream === "undefined") {
  byId("findings").textContent = "This browser is too old to show the page: it needs DecompressionStream (2023 or later).";
  throw new Error("no DecompressionStream");
}

async function unpacked() {
  const packed = Uint8Array.from(atob(byId("block").textContent.trim()), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(stream).arrayBuffer();
  const view = new DataView(bytes), numbers = new Uint16Array(bytes.byteLength / 2);
  for (let i = 0; i < numbers.length; i++) numbers[i] = view.getUint16(2 * i, true);
  return numbers;
}

const deltas = await unpacked();
const decoded = new Map();

/** Return the values of a series at a place [at, count, lo, step]; null where there is no value. @param {number[]} place */
export function valuesAt(place) {
  const [at, count, lo, step] = place;
  if (decoded.has(at)) return decoded.get(at);
  const values = new Array(count);
  let n = 0;
  for (let i = 0; i < count; i++) {
    n = (n + deltas[at + i]) & 65535;
    values[i] = n === 65535 ? null : lo + n * step;
  }
  decoded.set(at, values);
  return values;
}

/** End of each interval, in seconds. */
export const TIMES = valuesAt(H.time.ends);

/** End of the runs, in seconds. */
export const END = TIMES.length ? TIMES[TIMES.length - 1] : 1;

/** Indices of the schemes. */
export const ALL = H.schemes.map((_, k) => k);
