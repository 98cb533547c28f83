// Everything together.
import { bar, updateBar } from "./bar.js";
import { buildDetails } from "./details.js";
import { buildDistributions, drawDistributions } from "./distributions.js";
import { byId } from "./dom.js";
import { H } from "./head.js";
import { listenToKeys } from "./keys.js";
import { drawMap, hasMap, lightPictures } from "./map.js";
import { drawMatrix } from "./matrix.js";
import { drawPanels, lightPanels, printPanels, updatePanels } from "./panels.js";
import { drawPictures } from "./pictures.js";
import { savingButtons } from "./saving.js";
import { readAddress, save, state } from "./state.js";
import { drawTable, lightTable } from "./table.js";
import { applyTheme, isDark, onSystemTheme } from "./theme.js";

export const actions = {
  /** Show what changed: schemes were shown or hidden. */
  draw() {
    updateBar();
    drawMap(actions);
    drawTable(actions);
    drawDistributions();
    updatePanels();
    save();
  },
  /** Show another seed. */
  seed() {
    updateBar();
    drawPanels();
    save();
  },
  /** Light up a scheme everywhere, or none. */
  light(scheme) {
    if (state.lit === scheme) return;
    state.lit = scheme;
    lightPictures();
    lightTable();
    lightPanels();
  },
  /** Change between light and dark. */
  theme() {
    state.theme = isDark() ? "light" : "dark";
    everything();
    save();
  },
};

function everything() {
  applyTheme();
  bar(actions);
  updateBar();
  drawPictures();
  drawMap(actions);
  drawTable(actions);
  drawPanels();
  drawDistributions();
  drawMatrix();
}

readAddress();
document.querySelector("main").hidden = false;
byId("map").hidden = !hasMap;
byId("two").classList.toggle("single", !hasMap);
if (H.panels_first) byId("two").before(byId("time"));
buildDetails(savingButtons());
buildDistributions();
everything();
listenToKeys(actions);
onSystemTheme(everything);
addEventListener("hashchange", () => (readAddress(), everything()));

let width = innerWidth, late = 0;
addEventListener("resize", () => {
  // A phone changes the height of the page when its address bar goes away.
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(late);
  late = setTimeout(everything, 150);
});

let before = "";
addEventListener("beforeprint", () => {
  before = state.theme;
  state.theme = "light";
  everything();
  printPanels(true);
});
addEventListener("afterprint", () => {
  state.theme = before;
  printPanels(false);
  everything();
});
requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("painted")));
