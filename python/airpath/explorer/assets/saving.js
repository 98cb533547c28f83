// Figures and values of the view, as files.
import { byId, el } from "./dom.js";
import { H, TIMES } from "./head.js";
import { shownCharts } from "./panels.js";
import { state } from "./state.js";
import { colourOf, css, lookOf } from "./theme.js";

const NAME = H.title.replace(/[^A-Za-z0-9.+-]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "airpath";

function download(name, url) {
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

function save(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  download(name, url);
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Save the panels as they are, as one PNG file. */
function savePng() {
  const charts = shownCharts(), ratio = devicePixelRatio, title = 20 * ratio;
  if (!charts.length) return;
  const canvases = charts.map(({ u }) => u.ctx.canvas);
  const picture = el("canvas");
  picture.width = Math.max(...canvases.map(one => one.width));
  picture.height = canvases.reduce((sum, one) => sum + one.height + title, 0);
  const ctx = picture.getContext("2d");
  ctx.fillStyle = css("--back");
  ctx.fillRect(0, 0, picture.width, picture.height);
  ctx.fillStyle = css("--ink");
  ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
  let y = 0;
  charts.forEach(({ panel }, k) => {
    ctx.fillText(panel.unit ? `${panel.title} (${panel.unit})` : panel.title, 52 * ratio, y + 14 * ratio);
    ctx.drawImage(canvases[k], 0, y + title);
    y += canvases[k].height + title;
  });
  download(`${NAME}.png`, picture.toDataURL("image/png"));
}

const escaped = text => text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`);

/** Return one panel in view as SVG. */
function panelSvg({ u, panel, lines }, top) {
  const box = { left: u.bbox.left / devicePixelRatio, top: u.bbox.top / devicePixelRatio + 18, width: u.bbox.width / devicePixelRatio, height: u.bbox.height / devicePixelRatio };
  const X = time => (box.left + u.valToPos(time, "x")).toFixed(1), Y = value => (box.top + u.valToPos(value, "y")).toFixed(1);
  const inView = TIMES.map((time, i) => i).filter(i => TIMES[i] >= state.from && TIMES[i] <= state.to);
  const path = values => {
    let text = "", up = true;
    for (const i of inView) {
      if (values[i] === null || values[i] === undefined) up = true;
      else {
        text += `${up ? "M" : "L"}${X(TIMES[i])} ${Y(values[i])}`;
        up = false;
      }
    }
    return text;
  };
  const parts = [`<g transform="translate(0 ${top})" font-family="sans-serif" font-size="11" fill="${css("--ink")}">`];
  parts.push(`<text x="${box.left}" y="12" font-weight="600">${escaped(panel.unit ? `${panel.title} (${panel.unit})` : panel.title)}</text>`);
  parts.push(`<rect x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}" fill="none" stroke="${css("--line")}"/>`);
  for (const value of u.axes[0]._splits || []) parts.push(`<text x="${X(value)}" y="${box.top + box.height + 14}" text-anchor="middle">${+value.toPrecision(6)} s</text>`);
  for (const value of u.axes[1]._splits || []) parts.push(`<text x="${box.left - 6}" y="${+Y(value) + 4}" text-anchor="end">${+value.toPrecision(6)}</text>`);
  if (u.series[1].label === "capacity") parts.push(`<path d="${path(u.data[1])}" fill="none" stroke="${css("--cap-line")}" stroke-width="1"/>`);
  for (const line of lines) {
    if (state.off.has(line.scheme)) continue;
    const dash = line.dash.length ? ` stroke-dasharray="${line.dash.join(" ")}"` : "";
    parts.push(`<path d="${path(line.values)}" fill="none" stroke="${colourOf(lookOf(line.scheme, line.look))}" stroke-width="1.4"${dash}><title>${escaped(line.name)}</title></path>`);
  }
  return { text: parts.join("\n") + "</g>", height: box.top + box.height + 26 };
}

/** Save the panels in view as one SVG file. */
function saveSvg() {
  const charts = shownCharts(), parts = [];
  let top = 0;
  for (const chart of charts) {
    const { text, height } = panelSvg(chart, top);
    parts.push(text);
    top += height;
  }
  const width = charts.length ? charts[0].u.width : 600;
  const names = H.schemes.filter((_, k) => !state.off.has(k)), columns = Math.max(1, Math.floor(width / 130));
  names.forEach((look, k) => {
    const x = 52 + (k % columns) * 130, y = top + 14 + Math.floor(k / columns) * 16;
    parts.push(`<line x1="${x}" x2="${x + 20}" y1="${y - 4}" y2="${y - 4}" stroke="${colourOf(look)}" stroke-width="1.6" stroke-dasharray="${look.dash.join(" ")}"/><text x="${x + 25}" y="${y}" font-family="sans-serif" font-size="11" fill="${css("--ink")}">${escaped(look.name)}</text>`);
  });
  top += Math.ceil(names.length / columns) * 16 + 8;
  save(`${NAME}.svg`, `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" viewBox="0 0 ${width} ${top}"><rect width="100%" height="100%" fill="${css("--back")}"/>${parts.join("\n")}</svg>`, "image/svg+xml");
}

const quoted = text => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Save the values of the panels in view as CSV: panel, line, time, value. */
function saveCsv() {
  const rows = ["panel,unit,line,time_s,value"];
  for (const { panel, lines } of shownCharts())
    for (const line of lines) {
      if (state.off.has(line.scheme)) continue;
      line.values.forEach((value, i) => {
        if (value !== null && TIMES[i] >= state.from && TIMES[i] <= state.to)
          rows.push([panel.title, panel.unit, line.name, +TIMES[i].toFixed(6), +value.toPrecision(6)].map(one => quoted(String(one))).join(","));
      });
    }
  save(`${NAME}.csv`, rows.join("\n") + "\n", "text/csv");
}

/** The buttons that save. */
export const savingButtons = () => [
  el("button", { id: "save-png", onclick: savePng }, "save panels (PNG)"), " ",
  el("button", { id: "save-svg", onclick: saveSvg }, "save panels (SVG)"), " ",
  el("button", { id: "save-csv", onclick: saveCsv }, "save values in view (CSV)"),
];
