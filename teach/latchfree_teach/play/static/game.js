// The game without its drawing: states, moves, explanations, par. A state is
// [boxes, arrows, threads, moves, results, status, threads the page has no move for]; a move is
// [thread, state after, accesses, kind, value, site, returned, invokes].
const Game = (D) => {
  const moveOf = (s, t) => D.states[s][3].find((m) => m[0] === t);
  const status = (s) => D.states[s][5];
  const bad = (s) => status(s) !== "" && status(s) !== "done";
  const ended = (s) => bad(s) || status(s) === "done";

  // Fewest changes of threads to a violation from a state, and the threads of such a way: 0-1 search.
  function best(from, last) {
    const key = (s, t) => s * 16 + t + 1, cost = new Map([[key(from, last), 0]]), back = new Map();
    for (let layer = [[from, last]], d = 0; layer.length; d++) {
      const next = [];
      for (let i = 0; i < layer.length; i++) {
        const [s, t] = layer[i];
        if (cost.get(key(s, t)) !== d) continue;
        if (bad(s)) {
          const way = [];
          for (let k = key(s, t); back.has(k);) { const [before, thread] = back.get(k); way.push(thread); k = before; }
          return { switches: d, way: way.reverse() };
        }
        for (const [u, to] of D.states[s][3]) {
          const total = d + (t >= 0 && u !== t ? 1 : 0), k = key(to, u);
          if (cost.has(k) && cost.get(k) <= total) continue;
          cost.set(k, total); back.set(k, [key(s, t), u]);
          (total === d ? layer : next).push([to, u]);
        }
      }
      layer = next;
    }
    return null;
  }

  // Go along moves, as far as they can be made: the states, the operations, and all explanations still standing.
  function walk(moves) {
    let s = 0, switches = 0, alive = new Map(D.start.map((c) => [c, [...Array(D.before).keys()]]));
    const path = [0], made = [], operations = new Map();
    for (const t of moves) {
      const m = moveOf(s, t);
      if (!m) break;
      const i = made.length, call = D.states[s][2][t][0];
      if (i && made[i - 1] !== t) switches++;
      if (!operations.has(call)) operations.set(call, { call, thread: t, from: i, to: null });
      for (const [op, steps] of m[6]) {
        const now = new Map();
        for (const [before, order, after] of steps)
          if (alive.has(before) && !now.has(after)) now.set(after, [...alive.get(before), ...order]);
        alive = now;
        if (operations.has(op)) operations.get(op).to = i;
        else operations.set(op, { call: op, thread: -1, from: i + 1, to: i + 1 });
      }
      s = m[1]; made.push(t); path.push(s);
    }
    return { s, path, made, switches, operations, alive };
  }

  function verdict(s) {
    if (status(s) === "not linearizable") return "Not linearizable: you broke it";
    if (bad(s)) return { endless: "It never ends: you broke it", deadlock: "Deadlock: you broke it" }[status(s)] || `${status(s)}: you broke it`;
    if (status(s) === "done") return D.model ? "The end: nothing is violated" : "Linearizable: it survived you";
    return D.states[s][3].length ? "" : "The page ends here: undo";
  }

  const read = (hash) => [...hash.replace(/^#/, "")].map(Number);
  return { moveOf, bad, ended, best, walk, verdict, read };
};
