// The game without its drawing: states, moves, explanations, par. A state is
// [boxes, arrows, threads, moves, results, status, threads the page has no move for]; a move is
// [thread, state after, accesses, kind, value, site, returned, invokes].
const Game = (D) => {
  const moveOf = (s, t) => D.states[s][3].find((m) => m[0] === t);
  const status = (s) => D.states[s][5];
  const bad = (s) => status(s) !== "" && status(s) !== "done";
  const ended = (s) => bad(s) || status(s) === "done";

  // Fewest changes of threads to a violation from each state, by the thread that moved last, and who moves next on such
  // a way: a 0-1 search backwards from all violations, once.
  let columns = 2;
  for (const st of D.states) for (const [t] of st[3]) columns = Math.max(columns, t + 2);
  const place = (s, t) => s * columns + t + 1;
  const changes = new Int32Array(D.states.length * columns).fill(-1), next = new Int8Array(changes.length);
  const into = D.states.map(() => []);
  D.states.forEach((st, s) => { for (const [t, to] of st[3]) into[to].push(s, t); });
  let layer = [];
  D.states.forEach((_, s) => { if (bad(s)) for (let t = -1; t < columns - 1; t++) { changes[place(s, t)] = 0; layer.push(s, t); } });
  for (let d = 0, later; layer.length; d++, layer = later) {
    later = [];
    for (let i = 0; i < layer.length; i += 2) {
      const s = layer[i], t = layer[i + 1];
      if (t < 0 || changes[place(s, t)] !== d) continue;
      for (let j = 0; j < into[s].length; j += 2) {
        if (into[s][j + 1] !== t || bad(into[s][j])) continue;
        for (let last = -1; last < columns - 1; last++) {
          const k = place(into[s][j], last), total = d + (last >= 0 && last !== t ? 1 : 0);
          if (changes[k] >= 0 && changes[k] <= total) continue;
          changes[k] = total; next[k] = t;
          (total === d ? layer : later).push(into[s][j], last);
        }
      }
    }
  }

  // The fewest changes from a state, and the threads of such a way.
  function best(from, last) {
    const switches = changes[place(from, last)], way = [];
    if (switches < 0) return null;
    for (let s = from, t = last; !bad(s); s = moveOf(s, t)[1]) { t = next[place(s, t)]; way.push(t); }
    return { switches, way };
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
