// The whole history in a strip: a bar an operation, violations over the full height, and a frame around what is in view.

class Overview {
  constructor(canvas, stage) {
    this.canvas = canvas;
    this.stage = stage;
  }

  /** Draw all bars once; they change with the layout and the colours only. */
  prepare() {
    const { layout, app, colour } = this.stage;
    if (!layout || !this.canvas.clientWidth || !colour.paper) return;
    this.bars = document.createElement("canvas");
    this.bars.width = this.canvas.width;
    this.bars.height = this.canvas.height;
    const g = this.bars.getContext("2d");
    const ratio = this.bars.width / this.canvas.clientWidth;
    const unit = (this.bars.width - (GUTTER + 16) * ratio) / (layout.width + 0.3);
    const high = this.bars.height / layout.lanes.length;
    const colours = [colour.off, colour.readEdge, colour.write, colour.maybe, colour.bad, colour.bad];
    const bar = (i, least, full) => {
      const x = (GUTTER + 8) * ratio + layout.x0[i] * unit;
      const w = Math.max(least, (Math.min(layout.x1[i], layout.width) - layout.x0[i]) * unit);
      g.fillStyle = colours[this.stage.kind(i)];
      if (full) g.fillRect(x, 0, w, this.bars.height);
      else g.fillRect(x, layout.lane.get(i) * high, w, Math.max(1, high - 1));
    };
    g.globalAlpha = 0.8;
    for (const i of layout.shown) if (app.history.mark[i] !== 1) bar(i, 0.7, false);
    g.globalAlpha = 1;
    for (const i of app.history.errors) if (layout.lane.has(i)) bar(i, 2 * ratio, true);
  }

  draw() {
    const { layout, app, colour } = this.stage;
    const g = this.canvas.getContext("2d");
    const [wide, high] = [this.canvas.clientWidth, this.canvas.clientHeight];
    g.fillStyle = colour.paper;
    g.fillRect(0, 0, wide, high);
    g.drawImage(this.bars, 0, 0, wide, high);
    const unit = (wide - GUTTER - 16) / (layout.width + 0.3);
    g.fillStyle = colour.found;
    for (const i of app.matches) {
      if (layout.lane.has(i)) g.fillRect(GUTTER + 8 + layout.x0[i] * unit - 1, high - 5, 2, 5);
    }
    const from = GUTTER + 8 + this.stage.left * unit;
    const to = Math.min(wide - 4, from + (this.stage.room / this.stage.scale) * unit);
    g.fillStyle = colour.paper;
    g.globalAlpha = 0.55;
    g.fillRect(GUTTER, 0, from - GUTTER, high);
    g.fillRect(to, 0, wide - to, high);
    g.globalAlpha = 1;
    g.strokeStyle = colour.focus;
    g.lineWidth = 1.5;
    g.strokeRect(from + 0.75, 0.75, Math.max(2, to - from - 1.5), high - 1.5);
    g.fillStyle = colour.bad;
    for (const i of app.history.errors) {
      if (layout.lane.has(i)) g.fillRect(GUTTER + 8 + layout.x0[i] * unit - 1, 0, 3, high);
    }
    g.fillStyle = colour.faint;
    g.font = MONO;
    g.textBaseline = "middle";
    g.fillText("overview", 8, high / 2);
  }

  /** Move so that a place of the overview is in the middle. */
  lookAt(pixel) {
    const unit = (this.canvas.clientWidth - GUTTER - 16) / (this.stage.layout.width + 0.3);
    this.stage.left = (pixel - GUTTER - 8) / unit - this.stage.room / 2 / this.stage.scale;
    this.stage.clamp();
  }
}
