const D = JSON.parse($("data").textContent), G = Game(D), PAR = G.best(0, -1);
const hints = [];
let moves = [];

const nameOf = (t) => (D.names ? D.names[t] : `thread ${t}`);
const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

function card(w, t) {
  const st = D.states[w.s], th = st[2][t], m = G.moveOf(w.s, t), article = node("article", `thread ${tone(t)}`);
  const head = node("h2", "", nameOf(t)), go = node("button", "step");
  go.append(node("kbd", "", String(t + 1)), " step");
  go.disabled = !m; go.dataset.thread = t; go.onclick = () => move(t);
  go.setAttribute("aria-keyshortcuts", String(t + 1)); go.setAttribute("aria-label", `step ${nameOf(t)}`);
  head.append(go);
  const list = node("ol");
  for (const c of D.model ? [] : D.threads[t]) {
    const r = st[4][c], now = th && th[0] === c && th[1];
    list.append(node("li", r !== undefined ? "" : now ? "now" : "later", D.calls[c] + (r === undefined ? "" : ` → ${r}`)));
  }
  article.append(head, list);
  const next = node("div", "next");
  if (m) {
    const source = D.sources[m[5]];
    next.append("next: ", node("b", "", D.texts[m[3]]), D.texts[m[4]] ? ` ${D.texts[m[4]]}` : "");
    if (m[2] > 1) next.append(node("span", "aside", ` and ${many(m[2] - 1, "private access").replace("accesss", "accesses")}`));
    if (source) next.append(node("br"), `${source[0]} ${source[1]}`, node("br"), node("code", "", source[2]));
    if (source && source[3]) next.append(node("br"), node("span", "aside", `action ${source[3]}`));
  } else if (th && th[4] && !G.ended(w.s)) next.append(`waits for ${th[4]}`);
  else if (D.model) next.append(G.ended(w.s) ? "" : "has no step here");
  else if (st[6].includes(t) && D.serve) {
    const link = node("a", "", "go on here");
    link.href = "?moves=" + moves.join("") + t;
    next.append(link);
  } else if (st[6].includes(t)) next.append("the page ends here for this thread");
  else next.append(th && !G.ended(w.s) ? "waits until a word it has read changes" : th ? "" : "has ended");
  article.append(next);
  return article;
}

function draw() {
  const w = G.walk(moves), v = $("verdict"), focused = document.activeElement && document.activeElement.dataset.thread;
  v.className = G.bad(w.s) ? "bad" : G.ended(w.s) ? "good" : "";
  v.textContent = G.verdict(w.s) + (G.bad(w.s) && PAR ? ` (${many(w.switches, "change")} of threads; par ${PAR.switches})` : "");
  $("score").textContent = `${many(w.made.length, "move")}, ${many(w.switches, "change")} of threads`;
  $("said").textContent = "";
  $("threads").replaceChildren(...D.threads.map((_, t) => card(w, t)));
  if (focused) document.querySelector(`[data-thread="${focused}"]`).focus();
  drawHeap(D, w); drawHistory(D, w);
  $("undo").disabled = $("restart").disabled = !moves.length;
  const hash = "#" + moves.join("");
  if (location.hash !== hash && (moves.length || location.hash)) history.replaceState(null, "", hash);
}

function move(t) {
  if (G.moveOf(G.walk(moves).s, t)) { moves.push(t); draw(); }
}
function fromHere() {
  const w = G.walk(moves);
  return G.best(w.s, w.made.length ? w.made[w.made.length - 1] : -1);
}
const act = {
  u() { moves.pop(); draw(); },
  r() { moves = []; draw(); },
  h() {
    const b = fromHere();
    $("said").textContent = !PAR ? "No schedule on this page breaks it." : !b ? "Nothing breaks from here: undo." : b.way.length ? `${nameOf(b.way[0]).replace(/^t/, "T")} next; ${many(b.switches, "change")} of threads more.` : "It is broken already.";
  },
  s() {
    const b = fromHere();
    if (b) { moves.push(...b.way); draw(); } else act.h();
  },
};
for (const [id, key] of [["undo", "u"], ["restart", "r"], ["hint", "h"], ["solve", "s"]]) $(id).onclick = act[key];
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (act[e.key]) act[e.key]();
  else if (e.key >= "1" && e.key <= "9") move(Number(e.key) - 1);
});
const load = () => { moves = G.walk(location.hash.length > 1 ? G.read(location.hash) : D.open || []).made; draw(); };
addEventListener("hashchange", load);
$("story").textContent = D.story;
$("scenario").textContent = D.scenario;
$("par").textContent = PAR ? `Par: ${many(PAR.switches, "change")} of threads.` : D.bound ? "Nothing on this page breaks it." : "No schedule breaks it.";
$("bound").textContent = D.bound ? ` This page has the states ${D.bound}, and says where they end.` : " This page has every state.";
load();
