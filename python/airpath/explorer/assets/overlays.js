// Marks over the lines of a panel: outages, levels, congestion events.
import { H, TIMES } from "./head.js";
import { EVENTS, pathOf } from "./marks.js";
import { capacity, marks } from "./series.js";
import { state } from "./state.js";
import { colourOf, css, lookOf } from "./theme.js";

/** Return the stretches of at least two intervals without capacity. */
export function outages() {
  const values = capacity(), found = [];
  for (let i = 0, first = -1; values && i <= values.length; i++) {
    const none = i < values.length && values[i] !== null && values[i] <= 0;
    if (none && first < 0) first = i;
    if (!none && first >= 0) {
      if (i - first >= 2) found.push([first ? TIMES[first - 1] : 0, TIMES[i - 1]]);
      first = -1;
    }
  }
  return found;
}

/** Shade stretches of time. */
export function shade(u, stretches) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.fillStyle = css("--outage");
  for (const [from, to] of stretches) {
    if (to < u.scales.x.min || from > u.scales.x.max) continue;
    const left = Math.max(bbox.left, u.valToPos(from, "x", true)), right = Math.min(bbox.left + bbox.width, u.valToPos(to, "x", true));
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}

/** Draw horizontal lines with their labels. */
export function drawLevels(u, levels) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = css("--soft");
  ctx.lineWidth = devicePixelRatio;
  ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  levels.forEach(([value, text], k) => {
    const y = u.valToPos(value, "y", true);
    if (y < bbox.top || y > bbox.top + bbox.height) return;
    ctx.setLineDash([5 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    // Neighbouring levels have their labels at different ends.
    ctx.textAlign = k % 2 ? "left" : "right";
    ctx.fillText(text, k % 2 ? bbox.left + 4 : bbox.left + bbox.width - 4, y - 3 * devicePixelRatio);
  });
  ctx.restore();
}

/** Draw labelled stretches of time, a row for each shown scheme that has any. */
export function drawStretches(u, { stretches, colours }) {
  const { ctx, bbox } = u, ratio = devicePixelRatio;
  const rows = [...new Set(stretches.map(([scheme]) => scheme))].filter(scheme => !state.off.has(scheme));
  const height = bbox.height / Math.max(1, rows.length);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (const [scheme, label, confidence, from, to] of stretches) {
    const row = rows.indexOf(scheme);
    if (row < 0 || to < u.scales.x.min || from > u.scales.x.max) continue;
    const left = Math.max(bbox.left, u.valToPos(from, "x", true)), right = Math.min(bbox.left + bbox.width, u.valToPos(to, "x", true));
    const top = bbox.top + row * height;
    ctx.globalAlpha = 0.2 + 0.5 * confidence;
    ctx.fillStyle = colours[label] || "#7f7f7f";
    ctx.fillRect(left, top + 1, Math.max(1, right - left), height - 2);
    ctx.globalAlpha = 1;
    ctx.fillStyle = css("--ink");
    if (ctx.measureText(label).width + 8 * ratio < right - left && height > 12 * ratio) ctx.fillText(label, left + 4 * ratio, top + height / 2);
  }
  ctx.restore();
  if (rows.length > 1) markRows(u, rows, height);
}

/** Draw the mark of each scheme to the left of its row. */
function markRows({ ctx, bbox }, rows, height) {
  const ratio = devicePixelRatio;
  ctx.save();
  rows.forEach((scheme, row) => {
    const look = lookOf(scheme);
    ctx.setTransform(ratio, 0, 0, ratio, bbox.left - 10 * ratio, bbox.top + (row + 0.5) * height);
    ctx.fillStyle = colourOf(look);
    ctx.fill(new Path2D(pathOf(look.marker)));
  });
  ctx.restore();
}

function heightAt(values, time) {
  const i = Math.min(TIMES.length - 1, Math.max(0, Math.ceil(time / H.time.step) - 1));
  return values[i] ?? values[i - 1] ?? values[i + 1] ?? null;
}

/** Mark the congestion events on the lines of their schemes. */
export function drawMarks(u, lines) {
  const { ctx, bbox } = u, ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { scheme, event, times } of marks()) {
    const line = lines.find(one => one.scheme === scheme);
    if (!line) continue;
    const path = new Path2D(pathOf(EVENTS[event]));
    for (const time of times) {
      if (time < u.scales.x.min || time > u.scales.x.max) continue;
      const height = heightAt(line.values, time);
      if (height === null) continue;
      ctx.setTransform(ratio, 0, 0, ratio, u.valToPos(time, "x", true), u.valToPos(height, "y", true));
      ctx.fillStyle = colourOf(lookOf(scheme, line.look));
      ctx.strokeStyle = css("--ink");
      ctx.lineWidth = 0.8;
      ctx.fill(path);
      ctx.stroke(path);
    }
  }
  ctx.restore();
}
