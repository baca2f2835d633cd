// Draws the lanes: only what is in view, and never more than one bar a pixel column of a lane.

const FADE = 46; // how far a pending operation's bar runs out
const MONO = '12px ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';
const CHARACTER = 7.25;
const NARROW = 5; // pixels below which a bar is a plain rectangle
const DIMMED = 0.4;

class Stage extends View {
  constructor(canvas, overview, app) {
    super();
    this.canvas = canvas;
    this.overview = new Overview(overview, this);
    this.app = app;
    this.colour = {};
  }

  /** Read the colours of the current theme from the style sheet. */
  readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["paper", "ink", "faint", "rule", "band", "write", "writeInk", "read", "readEdge", "readInk", "bad", "badInk", "badSoft", "maybe", "off", "offInk", "point", "path", "found", "focus"]) {
      this.colour[name] = style.getPropertyValue(`--${name}`).trim();
    }
    const c = this.colour;
    const paint = (fill, edge, ink) => ({ fill, edge, ink });
    this.paints = [
      paint(c.off, c.off, c.offInk), paint(c.read, c.readEdge, c.readInk), paint(c.write, c.write, c.writeInk),
      paint(c.paper, c.maybe, c.ink), paint(c.badSoft, c.bad, c.ink), paint(c.bad, c.bad, c.badInk),
    ];
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.overview.canvas]) {
      canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
      canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.wide = this.canvas.clientWidth;
    this.high = this.canvas.clientHeight;
    this.overview.prepare();
    this.clamp();
  }

  setLayout(layout) {
    this.layout = layout;
    this.overview.prepare();
  }

  draw() {
    const g = this.canvas.getContext("2d");
    g.fillStyle = this.colour.paper;
    g.fillRect(0, 0, this.wide, this.high);
    this.#drawLanes(g);
    g.save();
    g.beginPath();
    g.rect(GUTTER, AXIS, this.wide - GUTTER, this.high - AXIS);
    g.clip();
    this.#drawPath(g);
    this.#drawBars(g);
    this.#drawWalls(g);
    g.restore();
    this.#drawAxis(g);
    this.#drawScrollBar(g);
    this.overview.draw();
  }

  #drawLanes(g) {
    g.font = MONO;
    g.textBaseline = "middle";
    this.layout.lanes.forEach((lane, number) => {
      const top = this.laneTop(number);
      if (top + this.laneHeight < AXIS || top > this.high) return;
      if (number % 2 === 0) {
        g.fillStyle = this.colour.band;
        g.fillRect(0, top, this.wide, this.laneHeight);
      }
      g.fillStyle = this.colour.faint;
      const name = `process ${lane.name}`;
      g.fillText(name.length > 11 ? lane.name.slice(-11) : name, 8, top + this.laneHeight / 2);
    });
  }

  #drawBars(g) {
    const { layout, app } = this;
    const left = this.worldX(GUTTER);
    const special = [];
    const narrow = Array.from({ length: 6 }, () => []); // rectangles by colour: the dimmed ones first
    this.layout.lanes.forEach((lane, number) => {
      const top = this.laneTop(number);
      if (top + this.laneHeight < AXIS || top > this.high) return;
      let drawnTo = -1;
      let drawnAs = -1;
      for (let k = Math.max(0, layout.before(number, left)); k < lane.operations.length; k++) {
        const operation = lane.operations[k];
        const box = this.box(operation);
        if (box.x > this.wide) break;
        const kind = this.kind(operation);
        if (kind > 2 || operation === app.selected || operation === app.hovered || app.matches.has(operation)) {
          special.push(operation);
          continue;
        }
        const column = Math.floor(box.x + box.w);
        const rank = kind + (this.#isAside(operation) ? 0 : 3);
        if (column === drawnTo && rank <= drawnAs) continue;
        drawnTo = column;
        drawnAs = rank;
        if (box.w < NARROW) narrow[rank].push(box);
        else this.#drawBar(g, operation, box, kind);
      }
    });
    narrow.forEach((boxes, rank) => {
      g.fillStyle = this.paints[rank % 3].edge;
      g.globalAlpha = rank < 3 ? DIMMED : 1;
      for (const box of boxes) g.fillRect(box.x, box.y, box.w, box.h);
    });
    g.globalAlpha = 1;
    special.sort((a, b) => this.#weight(a) - this.#weight(b));
    for (const operation of special) this.#drawBar(g, operation, this.box(operation), this.kind(operation));
  }

  /** 0 is in no order, 1 leaves the state, 2 changes it, 3 legal next, 4 illegal next, 5 failing. */
  kind(operation) {
    const { history } = this.app;
    const mark = history.mark[operation];
    if (mark === 4 || (!mark && history.place[operation] < 0)) return 0;
    return mark ? 6 - mark : 1 + history.changing[operation];
  }

  #weight(operation) {
    return this.kind(operation) + (operation === this.app.selected ? 20 : 0) + (operation === this.app.hovered ? 10 : 0);
  }

  #drawBar(g, operation, box, kind) {
    const c = this.colour;
    const { app } = this;
    const aside = this.#isAside(operation);
    const { fill, edge, ink: strong } = this.paints[kind];
    const x = Math.max(box.x, GUTTER - 4);
    const w = Math.max(kind > 2 ? 3 : 1, Math.min(box.x + box.w, this.wide + 8) - x);
    const ink = aside ? c.ink : strong;
    g.globalAlpha = aside ? DIMMED : 1;
    if (w < NARROW) {
      g.fillStyle = edge;
      g.fillRect(x, box.y, w, box.h);
    } else {
      const radius = Math.min(5, w / 2, box.h / 2);
      g.beginPath();
      g.roundRect(x + 0.5, box.y + 0.5, w - 1, box.h - 1, radius);
      g.fillStyle = box.pending ? this.#faded(g, fill, box) : fill;
      g.fill();
      g.lineWidth = kind > 2 ? 2 : 1;
      g.strokeStyle = box.pending ? this.#faded(g, edge, box) : edge;
      g.setLineDash(box.pending ? [4, 3] : []);
      g.stroke();
      g.setLineDash([]);
    }
    if (w > 26 && box.h > 10) this.#words(g, operation, x + 6, box, w - 10, ink);
    if (app.matches.has(operation)) this.#frame(g, x, box, w, c.found, 2);
    if (operation === app.hovered) this.#frame(g, x, box, w, c.ink, 1.5);
    if (operation === app.selected) this.#frame(g, x, box, w, c.focus, 3);
    this.#dot(g, operation, box, kind);
    g.globalAlpha = 1;
  }

  /** Whether it is of another part than the selected operation, and so stands back. */
  #isAside(operation) {
    const { history, selected } = this.app;
    return selected >= 0 && history.part[operation] !== history.part[selected] && operation !== this.app.hovered;
  }

  /** The call and its result: in one line, or in two where the bar is too short for one and high enough for two. */
  #words(g, operation, x, box, room, ink) {
    const { history } = this.app;
    const pending = history.return[operation] < 0;
    const line = pending ? history.call(operation) : history.text(operation);
    const middle = box.y + box.h / 2;
    if (pending || box.h < 36 || line.length * CHARACTER <= room) {
      this.#label(g, line, x, middle, room, ink);
      return;
    }
    this.#label(g, history.call(operation), x, middle - 8, room, ink);
    this.#label(g, `→ ${history.result(operation)}`, x, middle + 7, room, ink);
  }

  #label(g, words, x, y, room, ink) {
    const most = Math.floor(room / CHARACTER);
    if (most < Math.min(words.length, 5)) return;
    g.font = MONO;
    g.textBaseline = "middle";
    g.fillStyle = ink;
    g.fillText(words.length > most ? `${words.slice(0, most - 1)}…` : words, x, y + 0.5);
  }

  #frame(g, x, box, w, colour, width) {
    g.lineWidth = width;
    g.strokeStyle = colour;
    g.beginPath();
    g.roundRect(x - 1, box.y - 1, w + 2, box.h + 2, Math.min(6, w / 2 + 1));
    g.stroke();
  }

  #faded(g, colour, box) {
    const end = Math.min(box.x + box.w, this.wide + 8);
    const gradient = g.createLinearGradient(Math.max(box.x, end - 3 * FADE), 0, end, 0);
    gradient.addColorStop(0, colour);
    gradient.addColorStop(1, `color-mix(in srgb, ${colour} 12%, transparent)`);
    return gradient;
  }

  /** The linearization point: a stem and a dot at the bar's foot; a cross where it would be illegal. */
  #dot(g, operation, box, kind) {
    const x = this.layout.point[operation];
    if (Number.isNaN(x) || (box.w < 9 && kind < 3)) return;
    const px = this.screenX(x);
    const bad = kind > 2;
    g.strokeStyle = bad ? (kind === 3 ? this.colour.maybe : this.colour.bad) : this.colour.point;
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(px, box.y + box.h * 0.84);
    g.lineTo(px, box.y + box.h);
    g.stroke();
    g.beginPath();
    g.arc(px, box.y + box.h, bad ? 4.5 : 3, 0, 7);
    g.fillStyle = bad && kind < 4 ? this.colour.paper : bad ? this.colour.bad : this.colour.point;
    g.fill();
    g.lineWidth = 1.2;
    g.strokeStyle = bad ? (kind === 3 ? this.colour.maybe : this.colour.paper) : this.colour.paper;
    g.stroke();
    if (kind > 3) {
      g.strokeStyle = this.colour.badInk;
      g.beginPath();
      for (const side of [-1, 1]) {
        g.moveTo(px - 2 * side, box.y + box.h - 2);
        g.lineTo(px + 2 * side, box.y + box.h + 2);
      }
      g.stroke();
    }
  }

  /** The order of the selected operation's part (else of the only part): a thin line from point to point. */
  #drawPath(g) {
    const { history, selected } = this.app;
    const only = history.raw.parts.length === 1 ? history.raw.parts[0] : null;
    const part = selected >= 0 ? history.partOf(selected) : only;
    if (!part || !part.order.length) return;
    const [left, right] = [this.worldX(GUTTER), this.worldX(this.wide)];
    const point = this.layout.point;
    const order = part.order.filter((i) => this.layout.lane.has(i));
    let low = order.findIndex((i) => point[i] >= left);
    if (low < 0) low = order.length;
    let high = low;
    while (high < order.length && point[order[high]] <= right) high++;
    if (high - low > 400) return;
    g.strokeStyle = this.colour.path;
    g.lineWidth = 1.25;
    g.setLineDash([2, 3]);
    g.beginPath();
    for (let k = Math.max(0, low - 1); k < Math.min(order.length, high + 1); k++) {
      const box = this.box(order[k]);
      g.lineTo(this.screenX(point[order[k]]), box.y + box.h);
    }
    g.stroke();
    g.setLineDash([]);
  }

  /** Where a longest order ends: nothing that returned up to here can be explained further. */
  #drawWalls(g) {
    const { selected, history } = this.app;
    for (const [failing, x] of this.layout.wall) {
      if (this.layout.wall.size > 1 && (selected < 0 || history.part[selected] !== history.part[failing])) continue;
      const px = Math.round(this.screenX(x)) + 0.5;
      g.strokeStyle = this.colour.bad;
      g.lineWidth = 1;
      g.setLineDash([5, 4]);
      g.beginPath();
      g.moveTo(px, AXIS);
      g.lineTo(px, this.high);
      g.stroke();
      g.setLineDash([]);
    }
  }

  /** How far the processes are scrolled, where there are too many for the window. */
  #drawScrollBar(g) {
    const room = this.high - AXIS;
    const all = this.layout.lanes.length * this.laneHeight + 8;
    if (all <= room + 1) return;
    g.fillStyle = this.colour.faint;
    g.globalAlpha = 0.5;
    g.fillRect(this.wide - 6, AXIS + (this.top / all) * room, 5, (room / all) * room);
    g.globalAlpha = 1;
  }

  #drawAxis(g) {
    const { layout, app } = this;
    g.fillStyle = this.colour.paper;
    g.fillRect(0, 0, this.wide, AXIS);
    g.strokeStyle = this.colour.rule;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(0, AXIS + 0.5);
    g.lineTo(this.wide, AXIS + 0.5);
    g.moveTo(GUTTER + 0.5, AXIS);
    g.lineTo(GUTTER + 0.5, this.high);
    g.stroke();
    g.font = MONO;
    g.textBaseline = "middle";
    g.fillStyle = this.colour.faint;
    g.fillText(app.byClock ? "time" : "events", 8, AXIS / 2);
    const step = niceStep(110 / this.scale);
    for (let x = Math.ceil(Math.max(0, this.worldX(GUTTER)) / step) * step; x <= layout.width; x += step) {
      const px = this.screenX(x);
      if (px > this.wide) break;
      g.fillRect(Math.round(px), AXIS - 5, 1, 5);
      if (px < this.wide - 60) g.fillText(layout.label(x), px + 4, AXIS / 2);
    }
  }
}

/** The least of 1, 2, 5, 10, 20, ... that is not below `least`. */
function niceStep(least) {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, least))));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least) ?? 10 * power;
}
