// Puts the page together: which history, what of it is shown, what is selected; keys, pointer and search.

const byId = (id) => document.getElementById(id);

class App {
  constructor(data) {
    this.data = data;
    this.histories = new Map();
    this.selected = -1;
    this.hovered = -1;
    this.matches = new Set();
    this.byClock = false;
    this.key = -1;
    this.stage = new Stage(byId("stage"), byId("overview"), this);
    this.panel = new Panel(this);
    this.#fillHistories();
    listen(this);
    const worst = data.histories.findIndex((raw) => raw.verdict === "violation");
    this.open(Math.max(0, worst));
    if (data.openAt === "first-error") this.nextError(1);
  }

  #fillHistories() {
    const list = byId("histories");
    list.hidden = this.data.histories.length < 2;
    this.data.histories.forEach((raw, number) => {
      const sign = { ok: "✓", violation: "✗" }[raw.verdict] ?? "?";
      list.append(element("option", { value: number, text: `${sign} ${raw.source ? `${raw.source}: ` : ""}${raw.name}` }));
    });
  }

  /** Show one of the histories. */
  open(number) {
    if (!this.data.histories[number]) return;
    this.number = number;
    if (!this.histories.has(number)) this.histories.set(number, new History(this.data.histories[number]).finish());
    this.history = this.histories.get(number);
    const { raw } = this.history;
    byId("histories").value = number;
    byId("badge").textContent = { ok: "✓ linearizable", violation: "✗ not linearizable" }[raw.verdict] ?? "? undecided";
    byId("badge").className = `badge ${raw.verdict}`;
    byId("name").textContent = raw.name;
    byId("name").className = this.data.histories.length > 1 ? "hidden" : "";
    document.title = `${byId("badge").textContent}: ${raw.name}`;
    const count = (many, one, s = "s") => `${many.toLocaleString("en")} ${one}${many === 1 ? "" : s}`;
    const facts = [raw.source, `model ${raw.model}`, count(this.history.count, "operation"), count(raw.processes.length, "process", "es")];
    if (raw.parts.length > 1) facts.push(count(raw.parts.length, "part"));
    facts.push(`judged in ${raw.seconds.toFixed(3)} s (${raw.engine})`);
    byId("facts").textContent = facts.filter(Boolean).join(" · ");
    const worst = raw.parts.find((part) => part.failing === this.history.errors[0] && part.failing >= 0);
    const message = worst ? [raw.reason, worst.message].filter(Boolean).join(": ") : raw.verdict === "ok" ? "" : raw.reason;
    byId("message").hidden = !message;
    byId("message").textContent = message;
    document.body.className = raw.verdict;
    byId("stage").setAttribute("aria-label", `Timeline of ${count(this.history.count, "operation")}`);
    byId("error").hidden = this.history.errors.length === 0;
    const keys = byId("keys");
    keys.hidden = raw.keys.length < 2;
    keys.replaceChildren(element("option", { value: -1, text: `all ${raw.keys.length} keys` }));
    raw.keys.forEach((name, key) => keys.append(element("option", { value: key, text: name })));
    this.key = -1;
    byId("search").value = "";
    this.selected = this.hovered = -1;
    showSteps(this.history);
    this.stage.readColours();
    this.search("");
    this.relayout();
    this.stage.resize();
    this.stage.fit();
    this.refresh();
  }

  /** Lay out anew what is shown: after a filter or the spacing of events changed. */
  relayout() {
    const { history, key } = this;
    const shown = (i) => key < 0 || history.key[i] === key || history.key[i] < 0;
    this.stage.setLayout(new Layout(history, shown, this.byClock));
    document.documentElement.style.setProperty("--needed", `${AXIS + 16 + TALLEST * Math.max(2, this.stage.layout.lanes.length)}px`);
    if (this.selected >= 0 && !this.stage.layout.lane.has(this.selected)) this.selected = -1;
    this.hovered = -1;
  }

  filter(key) {
    this.key = key;
    byId("keys").value = key;
    this.relayout();
    this.stage.fit();
    if (this.selected >= 0) this.stage.reveal(this.selected, true);
    this.refresh();
  }

  toggleClock() {
    this.byClock = !this.byClock;
    byId("clock").setAttribute("aria-pressed", String(this.byClock));
    this.relayout();
    this.stage.fit();
    if (this.selected >= 0) this.stage.reveal(this.selected, true);
    this.refresh();
  }

  /** Choose an operation (-1: none), and bring it into view. */
  select(operation, { close = false } = {}) {
    if (operation >= 0 && !this.stage.layout.lane.has(operation)) this.filter(-1);
    this.selected = operation;
    if (operation >= 0) this.stage.reveal(operation, close);
    this.refresh();
  }

  /** Repaint soon, once. */
  redraw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.stage.draw();
    });
  }

  refresh() {
    this.panel.show();
    this.redraw();
  }

  /** Go to the violation after (or before) the selected operation, in order of return; around at the end. */
  nextError(step) {
    const { errors } = this.history;
    if (!errors.length) return;
    const here = errors.indexOf(this.selected);
    const next = here < 0 ? (step > 0 ? 0 : errors.length - 1) : (here + step + errors.length) % errors.length;
    this.select(errors[next], { close: true });
  }

  /** Go along the order in which the operations take effect. */
  along(step) {
    const { sequence, rank } = this.stage.layout;
    if (!sequence.length) return;
    const here = this.selected < 0 ? (step > 0 ? -1 : sequence.length) : rank.get(this.selected);
    this.select(sequence[Math.max(0, Math.min(sequence.length - 1, here + step))]);
  }

  /** Go to the next operation of the same process, or to the nearest one of the process above or below. */
  beside(dx, dy) {
    const { layout } = this.stage;
    if (!layout.lanes.length) return;
    if (this.selected < 0) {
      const middle = this.stage.worldX(this.stage.wide / 2);
      this.select(layout.nearest(0, middle));
      return;
    }
    const lane = layout.lane.get(this.selected);
    const { operations } = layout.lanes[lane];
    if (dx) {
      const place = operations.indexOf(this.selected) + dx;
      this.select(operations[Math.max(0, Math.min(operations.length - 1, place))]);
    } else if (layout.lanes[lane + dy]) {
      const point = layout.point[this.selected];
      this.select(layout.nearest(lane + dy, Number.isNaN(point) ? layout.centre(this.selected) : point));
    }
  }

  /** Go to the first or last operation of the process. */
  end(step) {
    const { layout } = this.stage;
    if (!layout.lanes.length) return;
    const { operations } = layout.lanes[this.selected < 0 ? 0 : layout.lane.get(this.selected)];
    this.select(step < 0 ? operations[0] : operations[operations.length - 1]);
  }

  zoom(factor, pixel = null) {
    const { stage } = this;
    const inView = this.selected >= 0 && stage.layout.lane.has(this.selected) ? stage.screenX(stage.layout.centre(this.selected)) : NaN;
    const middle = inView > GUTTER && inView < stage.wide ? inView : (GUTTER + stage.wide) / 2;
    stage.zoom(factor, pixel ?? middle);
    this.redraw();
  }

  /** Find operations: words anywhere in the call and result; key:, process: and f: narrow down. */
  search(query) {
    const { history } = this;
    const { raw } = history;
    const tests = query.trim().split(/\s+/).filter(Boolean).map((word) => {
      const [, field, value] = /^(key|process|f):(.*)$/.exec(word) ?? [null, null, word];
      if (field === "process") return (i) => history.processName(i) === value;
      if (field === "f") return (i) => history.call(i).replace(/\(.*/s, "").split(".").pop() === value;
      if (field === "key") {
        const names = new Set([`key ${value}`, `key '${value}'`]);
        const has = raw.keys.map((name) => [...names].some((each) => name === each || name.endsWith(` ${each}`)));
        return (i) => history.key[i] >= 0 && has[history.key[i]];
      }
      return (i) => history.text(i).toLowerCase().includes(value.toLowerCase());
    });
    this.matches = new Set();
    if (tests.length) for (let i = 0; i < history.count; i++) if (tests.every((test) => test(i))) this.matches.add(i);
    byId("found").textContent = tests.length ? `${this.matches.size.toLocaleString("en")} found` : "";
    this.redraw();
  }

  nextMatch(step) {
    const { layout } = this.stage;
    const found = layout.sequence.filter((i) => this.matches.has(i));
    if (!found.length) return;
    const from = this.selected < 0 ? -1 : layout.rank.get(this.selected);
    const after = found.find((i) => layout.rank.get(i) > from) ?? found[0];
    const before = found.findLast((i) => layout.rank.get(i) < from) ?? found[found.length - 1];
    this.select(step > 0 ? after : before, { close: true });
  }
}

try {
  const app = new App(JSON.parse(byId("data").textContent));
  globalThis.latchfree = app; // for scripts that drive the page
} catch (error) {
  byId("message").hidden = false;
  byId("message").textContent = `This page cannot be drawn: ${error}`;
  throw error;
}
