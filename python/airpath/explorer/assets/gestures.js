// Wheel and touch over a panel: uPlot has only the mouse.

const FAR_PX = 8;

/** Add Ctrl + wheel to zoom, one finger to choose a range, and two fingers to move. `go` sets the range. */
export function gestures(u, go) {
  const over = u.over, pointers = new Map();
  let begin = null, moved = false;
  const at = x => u.posToVal(x - over.getBoundingClientRect().left, "x");
  const range = () => [u.scales.x.min, u.scales.x.max];

  over.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const [low, high] = range(), here = at(event.clientX), factor = event.deltaY < 0 ? 0.75 : 1 / 0.75;
    go(here - (here - low) * factor, here + (high - here) * factor);
  }, { passive: false });

  const middle = () => [...pointers.values()].reduce((sum, x) => sum + x, 0) / pointers.size;
  over.addEventListener("pointerdown", event => {
    if (event.pointerType !== "touch") return;
    pointers.set(event.pointerId, event.clientX);
    // What began with two fingers does not choose a range when the second one leaves.
    moved = pointers.size > 1;
    begin = { x: middle(), range: range() };
  });
  over.addEventListener("pointermove", event => {
    if (!pointers.has(event.pointerId)) return;
    pointers.set(event.pointerId, event.clientX);
    const box = over.getBoundingClientRect();
    if (pointers.size === 2) {
      const [low, high] = begin.range, shift = ((begin.x - middle()) / box.width) * (high - low);
      go(low + shift, high + shift);
    } else if (!moved) {
      const [left, right] = [begin.x, event.clientX].sort((a, b) => a - b);
      u.setSelect({ left: Math.max(0, left - box.left), width: Math.min(box.right, right) - Math.max(box.left, left), top: 0, height: box.height }, false);
    }
  });
  const end = event => {
    if (!pointers.has(event.pointerId)) return;
    pointers.delete(event.pointerId);
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    if (!moved && event.type === "pointerup" && Math.abs(event.clientX - begin.x) > FAR_PX) {
      const [low, high] = [at(begin.x), at(event.clientX)].sort((a, b) => a - b);
      go(low, high);
    }
  };
  over.addEventListener("pointerup", end);
  over.addEventListener("pointercancel", end);
}
