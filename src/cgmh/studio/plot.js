// Lines over steps as SVG: small, exact, and saved as it is seen.

import { svg } from "./dom.js";

const WIDTH = 640, HEIGHT = 240, LEFT = 46, RIGHT = 10, TOP = 10, BOTTOM = 34;
const POINTS = 200; // of a line; more cannot be seen

/** Round numbers between two. */
export function ticks(low, high, about = 5) {
  const rough = (high - low) / about || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}

export class LinePlot {
  constructor(title, axis) {
    this.lines = [];
    this.grid = svg("g", { class: "grid-lines" });
    this.paths = svg("g", { class: "lines", fill: "none" });
    this.element = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title, class: "plot" },
      this.grid, this.paths, svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, axis));
  }

  /** Draw values [line][step]; one line may stand out. */
  draw(values, chosen = -1) {
    const steps = Math.max(2, ...values.map((line) => line.length));
    let low = Infinity, high = -Infinity;
    for (const line of values) for (const value of line) { low = Math.min(low, value); high = Math.max(high, value); }
    if (!Number.isFinite(low)) { low = -1; high = 0; }
    if (low === high) { low -= 1; high += 1; }
    const x = (at) => LEFT + (WIDTH - LEFT - RIGHT) * at / (steps - 1);
    const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low);
    this.drawGrid(low, high, steps, x, y);
    while (this.lines.length < values.length) {
      const line = svg("path", { "stroke-width": 1 });
      this.lines.push(line);
      this.paths.append(line);
    }
    this.lines.forEach((path, at) => {
      const line = values[at] ?? [];
      const stride = Math.max(1, Math.ceil(line.length / POINTS));
      let d = "";
      for (let place = 0; place < line.length; place += stride) d += `${d ? "L" : "M"}${x(place).toFixed(1)} ${y(line[place]).toFixed(1)}`;
      path.setAttribute("d", d);
      path.setAttribute("class", at === chosen ? "chosen" : "line");
    });
    const front = this.lines[chosen];
    if (front && this.paths.lastElementChild !== front) this.paths.append(front);
  }

  drawGrid(low, high, steps, x, y) {
    const key = [low, high, steps].map((value) => value.toPrecision(4)).join();
    if (key === this.key) return;
    this.key = key;
    this.grid.replaceChildren(
      ...ticks(low, high).flatMap((value) => [
        svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
        svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, String(value))]),
      ...[1, ...ticks(2, steps)].filter(Number.isInteger).map((at) => svg("text", { x: x(at - 1), y: HEIGHT - 18, "text-anchor": "middle" }, String(at))));
  }

  /** The plot as a file, with its colours in it, and what it shows. */
  text(about) {
    const copy = this.element.cloneNode(true);
    copy.prepend(svg("title", {}, copy.getAttribute("aria-label")), svg("desc", {}, about));
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("font-family", "sans-serif");
    copy.setAttribute("font-size", "12");
    for (const line of copy.querySelectorAll("line")) line.setAttribute("stroke", "#ccc");
    for (const path of copy.querySelectorAll("path")) {
      path.setAttribute("stroke", path.getAttribute("class") === "chosen" ? "#b4540a" : "#155e63");
      path.setAttribute("stroke-opacity", path.getAttribute("class") === "chosen" ? "1" : "0.35");
    }
    return new XMLSerializer().serializeToString(copy);
  }
}
