// One history: its operations as columns, and the states along each part's order, replayed when asked for.

const CHECKPOINT = 128;

class History {
  constructor(raw) {
    this.raw = raw;
    const columns = raw.operations;
    this.count = columns.process.length;
    this.process = Int32Array.from(columns.process);
    this.invoke = Int32Array.from(columns.invoke);
    this.return = Int32Array.from(columns.return);
    this.key = Int32Array.from(columns.key);
    this.part = Int32Array.from(columns.part);
    this.place = new Int32Array(this.count).fill(-1);
    this.changing = new Uint8Array(this.count);
    this.mark = new Uint8Array(this.count); // 1 failing, 2 illegal next, 3 legal next, 4 not in the longest order
    this.words = new Map(); // what the model says of an operation that might come next
    this.errors = [];
    raw.parts.forEach((part) => this.#readPart(part));
    this.errors.sort((a, b) => this.return[a] - this.return[b]);
    this.times = [];
    let time = 0n;
    for (const step of raw.times) this.times.push((time += BigInt(step)));
  }

  #readPart(part) {
    part.states = [part.first];
    part.order.forEach((operation, position) => {
      this.place[operation] = position;
      this.changing[operation] = part.deltas[position] === 0 ? 0 : 1;
    });
    for (const [operation, legal, words] of part.next) {
      this.mark[operation] = legal ? 3 : 2;
      this.words.set(operation, words);
    }
    if (part.failing >= 0) {
      this.mark[part.failing] = 1;
      this.errors.push(part.failing);
    }
  }

  /** Mark what the longest order of a violating part leaves out; a pending operation need not be in an order. */
  finish() {
    for (let operation = 0; operation < this.count; operation++) {
      const part = this.partOf(operation);
      if (part.verdict === "violation" && this.place[operation] < 0 && !this.mark[operation]) this.mark[operation] = 4;
    }
    return this;
  }

  partOf(operation) {
    return this.raw.parts[this.part[operation]];
  }

  call(operation) {
    return this.raw.texts[this.raw.operations.call[operation]];
  }

  /** What an operation returned, as text. */
  result(operation) {
    const number = this.raw.operations.result[operation];
    if (number >= 0) return this.raw.texts[number];
    return this.return[operation] < 0 ? "?" : "unknown";
  }

  text(operation) {
    return `${this.call(operation)} → ${this.result(operation)}`;
  }

  processName(operation) {
    return this.raw.processes[this.process[operation]];
  }

  /** When it ran, in the history's clock. */
  span(operation) {
    const from = this.times[this.invoke[operation]];
    const to = this.return[operation];
    return to < 0 ? `from ${from}, never returned` : `${from} to ${this.times[to]}`;
  }

  /** The state, as numbers of texts, after so many operations of the part's order. */
  state(part, taken) {
    let checkpoint = Math.min(Math.floor(taken / CHECKPOINT), part.states.length - 1);
    let state = part.states[checkpoint].slice();
    for (let position = checkpoint * CHECKPOINT; position < taken; position++) {
      apply(state, part.deltas[position]);
      if ((position + 1) % CHECKPOINT === 0 && part.states.length === ++checkpoint) part.states.push(state.slice());
    }
    return state;
  }

  /** The states before and after an operation as lists of texts (bracket first), or null if it is in no order. */
  around(operation) {
    const part = this.partOf(operation);
    const texts = (state) => state.map((number) => this.raw.texts[number]);
    const place = this.place[operation];
    if (place < 0) {
      const mark = this.mark[operation];
      return mark >= 1 && mark <= 3 ? { before: texts(this.state(part, part.order.length)), after: null } : null;
    }
    const before = this.state(part, place);
    const after = before.slice();
    apply(after, part.deltas[place]);
    return { before: texts(before), after: texts(after) };
  }

  /** One sentence on where an operation stands. */
  standing(operation) {
    const part = this.partOf(operation);
    const of = part.label ? ` of ${part.label}` : "";
    const place = this.place[operation];
    if (place >= 0) return `number ${place + 1} of ${part.order.length} in the ${part.verdict === "violation" ? "longest " : ""}order${of}`;
    if (this.mark[operation] === 1) return `no order explains it: the longest order${of} stops before its return`;
    if (this.mark[operation] === 2) return `illegal after the longest order${of}`;
    if (this.mark[operation] === 3) return `possible after the longest order${of}, but that leads no further`;
    if (this.mark[operation] === 4) return `after the longest order${of}`;
    if (part.verdict === "ok" && this.return[operation] < 0 && part.order.length) return "never returned, and took no effect";
    return part.verdict === "ok" ? "linearizable; the engine gave no order" : `undecided: ${part.reason}`;
  }
}

/** Change a state by flat splices: at, how many go, how many come, what comes. */
function apply(state, delta) {
  for (let i = 0; delta !== 0 && i < delta.length; i += 3 + delta[i + 2]) {
    state.splice(delta[i], delta[i + 1], ...delta.slice(i + 3, i + 3 + delta[i + 2]));
  }
}

/** A state as one line of text. */
function stateText(items) {
  const [bracket, ...rest] = items;
  if (bracket === "{") return `{${rest.join(", ")}}`;
  return bracket === "[" ? `[${rest.join(", ")}]` : rest.join(", ");
}

/** Which items of two states differ: [indices gone from before, indices new in after]. */
function difference(before, after) {
  if (before[0] === "{" && after[0] === "{") {
    const [was, is] = [new Set(before), new Set(after)];
    const not = (items, others) => items.flatMap((item, i) => (i && !others.has(item) ? [i] : []));
    return [not(before, is), not(after, was)];
  }
  let start = 0;
  let end = 0;
  const shortest = Math.min(before.length, after.length);
  while (start < shortest && before[start] === after[start]) start++;
  while (end < shortest - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const range = (length) => Array.from({ length: Math.max(0, length - end - start) }, (_, i) => start + i);
  return [range(before.length), range(after.length)];
}
