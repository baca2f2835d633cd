// What part of a layout is in view: x to pixels and back, zooming, scrolling, and which operation lies where.

const GUTTER = 92; // for the names of the processes
const AXIS = 26;
const CLOSEST = 400; // pixels a unit of x
const TALLEST = 58; // pixels a lane

class View {
  constructor() {
    this.left = 0; // the x at the left edge
    this.scale = 1; // pixels a unit of x
    this.top = 0; // pixels scrolled down
    this.wide = 0;
    this.high = 0;
  }

  get laneHeight() {
    return Math.max(20, Math.min(TALLEST, (this.high - AXIS - 8) / Math.max(1, this.layout.lanes.length)));
  }

  /** The scale at which everything fits. */
  get #least() {
    return Math.min(90, this.room / Math.max(1, this.layout.width + 0.3));
  }

  get room() {
    return Math.max(40, this.wide - GUTTER - 16);
  }

  screenX(x) {
    return GUTTER + 8 + (x - this.left) * this.scale;
  }

  worldX(pixel) {
    return this.left + (pixel - GUTTER - 8) / this.scale;
  }

  laneTop(lane) {
    return AXIS + 4 + lane * this.laneHeight - this.top;
  }

  fit() {
    this.scale = this.#least;
    this.left = 0;
    this.top = 0;
    this.clamp();
  }

  zoom(factor, pixel) {
    const x = this.worldX(pixel);
    this.scale *= factor;
    this.clamp();
    this.left = x - (pixel - GUTTER - 8) / this.scale;
    this.clamp();
  }

  clamp() {
    if (!this.layout) return;
    this.scale = Math.max(this.#least, Math.min(CLOSEST, this.scale));
    this.left = Math.max(0, Math.min(this.left, this.layout.width + 0.3 - this.room / this.scale));
    const all = this.layout.lanes.length * this.laneHeight;
    this.top = Math.max(0, Math.min(this.top, all - (this.high - AXIS - 8)));
  }

  /** Bring an operation into view, close enough to be read. */
  reveal(operation, close = false) {
    const { x0, x1, lane, width } = this.layout;
    const end = Math.min(x1[operation], width);
    if (close) this.scale = Math.max(this.scale, Math.min(60, this.room / 24));
    this.clamp();
    const [from, to] = [this.screenX(x0[operation]), this.screenX(end)];
    const long = to - from > this.room;
    if (close || from < GUTTER + 8 || to > this.wide - 8) {
      if (!(long && from < this.wide - 80 && to > GUTTER + 80) || close) {
        const x = long ? x0[operation] + (this.room * 0.4) / this.scale : this.layout.centre(operation);
        this.left = x - this.room / 2 / this.scale;
      }
    }
    const top = this.laneTop(lane.get(operation));
    if (top < AXIS) this.top -= AXIS + 4 - top;
    if (top + this.laneHeight > this.high) this.top += top + this.laneHeight - this.high + 4;
    this.clamp();
  }

  /** The operation drawn at a place, or -1. */
  hit(px, py) {
    const lane = Math.floor((py - AXIS - 4 + this.top) / this.laneHeight);
    if (py < AXIS || px < GUTTER || !this.layout.lanes[lane]) return -1;
    const x = this.worldX(px);
    const operation = this.layout.nearest(lane, x);
    const far = Math.max(0, this.layout.x0[operation] - x, x - this.layout.x1[operation]) * this.scale;
    return far <= 3 ? operation : -1;
  }

  /** The rectangle of an operation, in pixels of the canvas. */
  box(operation) {
    const { x0, x1, lane, width } = this.layout;
    const height = this.laneHeight;
    const inset = Math.max(2, height * 0.12);
    const from = this.screenX(x0[operation]);
    const pending = x1[operation] === Infinity;
    const to = pending ? Math.max(from + 12, this.screenX(width) + 8) : this.screenX(x1[operation]);
    return { x: from, y: this.laneTop(lane.get(operation)) + inset, w: Math.max(1, to - from), h: height - 2 * inset, pending };
  }
}
