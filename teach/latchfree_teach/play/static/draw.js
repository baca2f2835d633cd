const $ = (id) => document.getElementById(id), SVG = "http://www.w3.org/2000/svg";
const make = (tag, attributes = {}, text) => {
  const e = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
};
const node = (tag, cls, text) => {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
};
const tone = (t) => (t < 0 ? "t-none" : `t${t % 4}`);
const fit = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

function curve(a, b, W, H) {
  if (a[2] === b[2]) {
    const right = b[1] > a[1], x1 = a[1] + (right ? W : 0), x2 = b[1] + (right ? -3 : W + 3), y = a[2] + H / 2;
    if (Math.abs(b[1] - a[1]) < 1.5 * W) return `M${x1} ${y}L${x2} ${y}`;
    const m1 = a[1] + W / 2, m2 = b[1] + W / 2, low = a[2] + H;
    return `M${m1} ${low}C${m1} ${low + 26} ${m2} ${low + 26} ${m2} ${low + 3}`;
  }
  const down = b[2] > a[2], x1 = a[1] + W / 2, x2 = b[1] + W / 2;
  const y1 = a[2] + (down ? H : 0), y2 = b[2] + (down ? -3 : H + 3), m = (y1 + y2) / 2;
  return `M${x1} ${y1}C${x1} ${m} ${x2} ${m} ${x2} ${y2}`;
}

function drawHeap(D, w) {
  const svg = $("heap"), [W, H] = D.size, st = D.states[w.s];
  const before = w.path.length > 1 ? new Set(D.states[w.path[w.path.length - 2]][0]) : null;
  svg.replaceChildren();
  const defs = make("defs");
  for (const name of ["plain", "soft", "t0", "t1", "t2", "t3"]) {
    const tip = make("marker", { id: `tip-${name}`, class: name, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" });
    tip.append(make("path", { d: "M0 0L8 4L0 8z" }));
    defs.append(tip);
  }
  svg.append(defs);
  let right = 0, bottom = 0;
  for (const b of D.boxes) { right = Math.max(right, b[1] + W); bottom = Math.max(bottom, b[2] + H); }
  svg.setAttribute("viewBox", `0 0 ${right + 20} ${bottom + 30}`);
  svg.setAttribute("width", right + 20);
  svg.setAttribute("height", bottom + 30);
  const at = new Map(st[0].map((i) => [D.boxes[i][0], D.boxes[i]]));
  for (const i of st[1]) {
    const [from, to, style] = D.arrows[i], a = at.get(from), b = at.get(to);
    if (!a || !b) continue;
    const thread = /\bt(\d)/.exec(style);
    const tip = thread ? `t${thread[1] % 4}` : /old|prev/.test(style) ? "soft" : "plain";
    svg.append(make("path", { class: `arrow ${style}`, "marker-end": `url(#tip-${tip})`, d: curve(a, b, W, H) }));
  }
  for (const i of st[0]) {
    const [, x, y, title, text, style] = D.boxes[i];
    const g = make("g", { class: `box ${style}${before && !before.has(i) ? " changed" : ""}` });
    g.append(make("title", {}, `${title} ${text}`), make("rect", { x, y, width: W, height: H, rx: 6 }),
      make("text", { x: x + W / 2, y: y + (text ? 17 : 27), "text-anchor": "middle", class: "name" }, fit(title, 19)),
      make("text", { x: x + W / 2, y: y + 34, "text-anchor": "middle" }, fit(text, 19)));
    svg.append(g);
  }
  const used = new Map();
  st[2].forEach((th, t) => {
    if (!th || th.length < 4 || !at.has(th[2])) return;
    const [, x, y] = at.get(th[2]), k = used.get(th[2]) || 0, text = `T${t} ${D.texts[th[3]]}`, long = 6.6 * text.length + 8;
    used.set(th[2], k + long + 3);
    const g = make("g", { class: `mark ${tone(t)}` });
    g.append(make("rect", { x: x + 4 + k, y: y + H - 4, width: long, height: 16, rx: 8 }), make("text", { x: x + 8 + k, y: y + H + 8 }, text));
    svg.append(g);
  });
}

function drawHistory(D, w) {
  const svg = $("history"), n = Math.max(w.made.length + 1, 8), L = 64, lane = 30;
  const T = D.threads.length, extra = [...w.operations.values()].filter((o) => o.thread < 0);
  // What comes after the threads is drawn behind all that they do.
  const step = Math.max(16, Math.min(56, (760 - 130 * extra.length) / n)), end = L + w.made.length * step + 6;
  svg.replaceChildren();
  let wide = L + n * step + 20, k = 0;
  const chars = (text) => 6.7 * text.length + 10;
  for (let t = 0; t < T; t++) svg.append(make("text", { x: 4, y: t * lane + 21, class: tone(t) }, D.names ? D.names[t] : `thread ${t}`));
  if (extra.length) svg.append(make("text", { x: 4, y: T * lane + 21 }, "after"));
  for (const o of w.operations.values()) {
    const r = D.states[w.s][4][o.call], text = D.calls[o.call] + (r === undefined ? "" : ` → ${r}`);
    const row = o.thread < 0 ? T : o.thread;
    const x1 = o.thread < 0 ? end + k : L + o.from * step + 2;
    const x2 = o.thread < 0 ? x1 + chars(text) : L + (o.to === null ? w.made.length : o.to + 1) * step - 2;
    if (o.thread < 0) k += chars(text) + 6;
    const g = make("g", { class: `operation ${tone(o.thread)}${o.to === null ? " open" : ""}` });
    g.append(make("title", {}, text), make("rect", { x: x1, y: row * lane + 6, width: Math.max(x2 - x1, 4), height: 21, rx: 4 }), make("text", { x: x1 + 5, y: row * lane + 21 }, text));
    svg.append(g);
    wide = Math.max(wide, x2 + 20, x1 + chars(text));
  }
  svg.setAttribute("width", wide);
  svg.setAttribute("height", (T + (extra.length ? 1 : 0)) * lane + 8);
  const box = $("explain"), entries = [...w.alive.entries()];
  if (D.model) { box.textContent = `Steps: ${w.path.slice(1).map((_, i) => D.texts[G.moveOf(w.path[i], w.made[i])[3]]).join(", ") || "none yet"}.`; return; }
  box.replaceChildren();
  if (!entries.length) { box.append(node("b", "", "No order of the operations explains what they returned.")); return; }
  const worlds = [...new Set(entries.map(([c]) => D.configurations[c]))];
  box.append(node("b", "", `${entries.length} explanation${entries.length > 1 ? "s" : ""} left.`),
    ` The object holds ${worlds.slice(0, 3).join(" or ")}${worlds.length > 3 ? " …" : ""}. Order so far: ${entries[0][1].map((o) => D.calls[o]).join(", ") || "nothing has returned"}.`);
}
