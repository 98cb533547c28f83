// What a server of results adds: the list of results, overlays and differences, sweeps, parts of runs.
import { byId, el } from "./dom.js";
import { END, H } from "./head.js";
import { showDetail } from "./panels.js";
import { shown, state } from "./state.js";

const S = H.served, POLL_MS = 5000;
const chosen = new Set(S.shown);
const query = parts => "?" + new URLSearchParams(parts).toString();

/** Return an answer of the server, or nothing if it has ended. */
async function ask(path) {
  try {
    const answer = await fetch(path);
    return answer.ok ? answer : null;
  } catch {
    return null;
  }
}

// ---- the list of results

const list = el("details", { id: "results", class: "noprint" });
const rows = el("tbody");
const open = extra => () => {
  if (chosen.size) location.href = query({ show: [...chosen].join(","), ...extra });
};

function row(one) {
  const change = event => (event.target.checked ? chosen.add(one.key) : chosen.delete(one.key));
  return el("tr", {},
    el("td", {}, el("input", { type: "checkbox", checked: chosen.has(one.key), onchange: change, "aria-label": `choose ${one.name}` })),
    el("th", { scope: "row" }, el("a", { href: query({ show: one.key }), "aria-current": S.shown.includes(one.key) ? "page" : undefined }, one.name)),
    el("td", {}, one.kind === "runs" ? one.schemes.join(", ") : one.kind), el("td", {}, one.created));
}

let known = "";

async function refresh() {
  if (document.hidden) return;
  const answer = await ask("index");
  if (!answer) return;
  const text = await answer.text();
  if (text === known) return;
  known = text;
  const found = JSON.parse(text);
  list.querySelector("summary").textContent = `${found.length} results below ${S.roots.join(", ")}`;
  rows.replaceChildren(...found.map(row));
}

list.append(
  el("summary", {}, "Results"),
  el("p", {}, el("button", { onclick: open({}) }, "overlay chosen"), " ", el("button", { onclick: open({ diff: "" }) }, "difference of two")),
  el("div", { class: "scroll" }, el("table", { class: "plain" }, rows)),
);
byId("first").before(list);
list.open = !S.shown.length;
await refresh();
setInterval(refresh, POLL_MS);

// ---- axes of a sweep

function select(name, options, value) {
  return el("label", { class: "small" }, `${name} `, el("select", { name },
    ...options.map(one => el("option", { value: one, selected: one === value }, one))), " ");
}

if (S.sweep) {
  const form = el("form", { class: "noprint", onchange: () => (location.href = query(Object.fromEntries(new FormData(form)))) },
    el("input", { type: "hidden", name: "show", value: S.shown[0] }),
    ...S.sweep.choices.map(([name, options, value]) => select(name, options, value)));
  byId("first").before(form);
}

// ---- single flows and packets of the range in view

let latest = 0;

async function detail() {
  const [scheme, ...others] = shown();
  const wanted = S.shown.length === 1 && !S.sweep && scheme !== undefined && !others.length && state.seed !== "mean";
  if (!wanted || (state.from === 0 && state.to === END)) return showDetail([]);
  const mine = ++latest, width = Math.round(byId("panels").clientWidth);
  const head = await ask("head" + query({ show: S.shown[0], scheme, seed: state.seed, from: state.from, to: state.to, width }));
  if (!head) return;
  const { panels, block } = await head.json();
  const answer = await ask("block" + query({ key: block }));
  if (!answer || mine !== latest) return;
  const bytes = await new Response(answer.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const view = new DataView(bytes);
  const valuesAt = ([at, count, lo, step]) => {
    let n = 0;
    return Array.from({ length: count }, (_, i) => {
      n = (n + view.getUint16(2 * (at + i), true)) & 65535;
      return n === 65535 ? null : lo + n * step;
    });
  };
  showDetail(panels.map(panel => ({
    ...panel, over: false, marks: false, levels: [], second: null, times: valuesAt(panel.times),
    fixed: panel.lines.map(([name, place], k) => ({ scheme, label: name, name, look: "", role: "line", values: valuesAt(place), dash: k ? [[6, 3], [2, 2], [9, 3, 2, 3]][(k - 1) % 3] : [] })),
  })));
}

addEventListener("settled", detail);
detail();
