// Where the operations shown stand: x of invocation, return and linearization point, and one lane per process.
//
// Events are numbered in the order of their times (invocations before returns that tie, as such operations overlap),
// so idle time takes no space; the clock layout keeps the distances of the times instead. A point may lie anywhere
// between the latest invocation up to it and the earliest return from it on, in the order; it is put in the middle.

class Layout {
  constructor(history, shown, byClock) {
    this.history = history;
    const { count, invoke, return: returned } = history;
    this.x0 = new Float64Array(count);
    this.x1 = new Float64Array(count);
    this.point = new Float64Array(count).fill(NaN);
    this.wall = new Map(); // failing operation -> x of its return
    this.shown = [];
    for (let i = 0; i < count; i++) if (shown(i)) this.shown.push(i);

    const at = this.#positions(byClock);
    const last = this.shown.reduce((most, i) => Math.max(most, at[2 * invoke[i]], returned[i] < 0 ? 0 : at[2 * returned[i] + 1]), 0);
    this.width = last + 1;
    for (const i of this.shown) {
      this.x0[i] = at[2 * invoke[i]];
      this.x1[i] = returned[i] < 0 ? Infinity : at[2 * returned[i] + 1];
    }
    this.#placePoints();
    this.#makeLanes();
    const where = (i) => (Number.isNaN(this.point[i]) ? Math.min(this.x1[i], this.width) : this.point[i]);
    this.sequence = this.shown.slice().sort((a, b) => where(a) - where(b) || a - b);
    this.rank = new Map(this.sequence.map((operation, position) => [operation, position]));
  }

  /** The x of every event of a shown operation, by twice its time's number, plus one for a return. */
  #positions(byClock) {
    const { invoke, return: returned, times } = this.history;
    const used = new Uint8Array(2 * times.length + 2);
    for (const i of this.shown) {
      used[2 * invoke[i]] = 1;
      if (returned[i] >= 0) used[2 * returned[i] + 1] = 1;
    }
    const at = new Float64Array(used.length);
    const events = used.reduce((sum, each) => sum + each, 0);
    const start = times[Math.max(0, used.indexOf(1) >> 1)];
    const end = times[Math.max(0, used.lastIndexOf(1) >> 1)];
    const unit = byClock && end > start ? events / Number(end - start) : 0;
    this.label = (x) => (unit ? start + BigInt(Math.round(x / unit)) : x).toLocaleString("en");
    for (let event = 0, rank = 0; event < 2 * times.length; event++) {
      if (used[event]) at[event] = unit ? Number(times[event >> 1] - start) * unit : rank++;
    }
    return at;
  }

  #placePoints() {
    const isShown = new Uint8Array(this.history.count);
    for (const i of this.shown) isShown[i] = 1;
    for (const part of this.history.raw.parts) {
      const order = part.order.filter((i) => isShown[i]);
      const wall = part.failing >= 0 && isShown[part.failing] ? this.x1[part.failing] : this.width;
      if (part.failing >= 0 && isShown[part.failing]) this.wall.set(part.failing, wall);
      const latest = new Float64Array(order.length);
      for (let k = order.length - 1, end = wall; k >= 0; k--) latest[k] = end = Math.min(end, this.x1[order[k]]);
      const middle = [];
      let earliest = 0;
      order.forEach((i, k) => {
        earliest = Math.max(earliest, this.x0[i]);
        middle.push({ i, x: (earliest + latest[k]) / 2, room: (latest[k] - earliest) / 2 });
      });
      this.#spread(middle);
      const last = order.length ? this.point[order[order.length - 1]] : earliest;
      for (const [i] of part.next) {
        if (isShown[i]) this.point[i] = (Math.max(last, earliest, this.x0[i]) + Math.min(this.x1[i], wall)) / 2;
      }
    }
  }

  /** Give points that coincide places of their own, in order, without reaching their neighbours. */
  #spread(points) {
    for (let low = 0; low < points.length; ) {
      let high = low;
      while (high < points.length && points[high].x === points[low].x) high++;
      const x = points[low].x;
      const before = low > 0 ? x - points[low - 1].x : Infinity;
      const after = high < points.length ? points[high].x - x : Infinity;
      const reach = 0.45 * Math.min(before, after, 2 * points[low].room);
      for (let k = low; k < high; k++) this.point[points[k].i] = x + reach * ((2 * (k - low) + 1) / (high - low) - 1);
      low = high;
    }
  }

  #makeLanes() {
    const byProcess = new Map();
    for (const i of this.shown) {
      const process = this.history.process[i];
      if (!byProcess.has(process)) byProcess.set(process, []);
      byProcess.get(process).push(i);
    }
    this.lanes = [...byProcess.keys()].sort((a, b) => a - b).map((process) => ({
      name: this.history.raw.processes[process],
      operations: byProcess.get(process).sort((a, b) => this.x0[a] - this.x0[b]),
    }));
    this.lane = new Map();
    this.lanes.forEach((lane, number) => lane.operations.forEach((i) => this.lane.set(i, number)));
  }

  /** The index, in a lane's operations, of the last that starts at or before x (or -1). */
  before(lane, x) {
    const { operations } = this.lanes[lane];
    let low = 0;
    let high = operations.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.x0[operations[middle]] <= x) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The operation of a lane nearest to x. */
  nearest(lane, x) {
    const { operations } = this.lanes[lane];
    const k = Math.max(0, this.before(lane, x));
    const far = (i) => Math.max(0, this.x0[i] - x, x - this.x1[i]);
    const next = operations[Math.min(k + 1, operations.length - 1)];
    return far(next) < far(operations[k]) ? next : operations[k];
  }

  /** The middle of what is drawn of an operation. */
  centre(operation) {
    return (this.x0[operation] + Math.min(this.x1[operation], this.width)) / 2;
  }
}
