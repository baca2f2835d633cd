// Keys, pointer, wheel, buttons, printing.

const HELP = [
  ["e  E", "next, previous violation"],
  ["j  k", "operation that takes effect next, before"],
  ["← →", "previous, next operation of the process"],
  ["↑ ↓", "operation of the process above, below"],
  ["Home End", "first, last operation of the process"],
  ["+  −", "zoom (or the wheel; over the names it scrolls the processes)"],
  ["0  f", "show everything, show the operation closely"],
  ["Shift ← → ↑ ↓", "move the view (or drag, or Shift and the wheel)"],
  ["/", "search: words, key:3, process:1, f:get"],
  ["n  N", "next, previous one found"],
  ["o", "show only the operation's key, or all again"],
  ["t", "space events by their times, or evenly"],
  ["[  ]", "previous, next history"],
  ["Esc", "choose nothing"],
];

function listen(app) {
  const { stage } = app;
  const actions = {
    e: () => app.nextError(1),
    E: () => app.nextError(-1),
    j: () => app.along(1),
    k: () => app.along(-1),
    ArrowRight: () => app.beside(1, 0),
    ArrowLeft: () => app.beside(-1, 0),
    ArrowDown: () => app.beside(0, 1),
    ArrowUp: () => app.beside(0, -1),
    Home: () => app.end(-1),
    End: () => app.end(1),
    "+": () => app.zoom(1.5),
    "=": () => app.zoom(1.5),
    "-": () => app.zoom(1 / 1.5),
    0: () => (stage.fit(), app.redraw()),
    f: () => app.selected >= 0 && app.select(app.selected, { close: true }),
    PageDown: () => pan(stage.room * 0.8, 0),
    PageUp: () => pan(-stage.room * 0.8, 0),
    "/": () => byId("search").focus(),
    n: () => app.nextMatch(1),
    N: () => app.nextMatch(-1),
    o: () => app.filter(app.key >= 0 || app.selected < 0 ? -1 : app.history.key[app.selected]),
    t: () => app.toggleClock(),
    "[": () => app.open(app.number - 1),
    "]": () => app.open(app.number + 1),
    "?": () => byId("keyboard").showModal(),
    Escape: () => (hideTip(), app.select(-1)),
  };

  function pan(dx, dy) {
    stage.left += dx / stage.scale;
    stage.top += dy;
    stage.clamp();
    app.redraw();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keyboard").open) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (typing) {
      if (event.key === "Escape") byId("stage").focus();
      if (event.key === "Enter" && event.target.id === "search") app.nextMatch(event.shiftKey ? -1 : 1);
      return;
    }
    const moves = { ArrowRight: [80, 0], ArrowLeft: [-80, 0], ArrowDown: [0, 80], ArrowUp: [0, -80] };
    const action = event.shiftKey && moves[event.key] ? () => pan(...moves[event.key]) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  const buttons = { error: "e", previous: "k", next: "j", out: "-", in: "+", fit: 0, clock: "t", help: "?" };
  for (const [id, key] of Object.entries(buttons)) byId(id).addEventListener("click", () => actions[key]());
  byId("search").addEventListener("input", (event) => app.search(event.target.value));
  byId("keys").addEventListener("change", (event) => app.filter(Number(event.target.value)));
  byId("histories").addEventListener("change", (event) => app.open(Number(event.target.value)));

  byId("keyboard").append(
    element("h2", { text: "Keys" }),
    rows(HELP.map(([keys, what]) => [keys, what])),
    element("p", { text: "Bars run from call to return. A filled bar changes the state, a pale one leaves it as it is; the dot at its foot is where it takes effect in the order found. On a violation the red bar is the operation that no order explains, a cross marks what would be illegal next, and the dashed line is the return that no order gets past." }),
    element("form", { method: "dialog" }, element("button", { text: "close" })),
  );
  listenToPointer(app, pan);

  const repaint = () => {
    stage.readColours();
    stage.resize();
    stage.draw();
  };
  new ResizeObserver(repaint).observe(byId("stage"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  for (const [type, on] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(type, () => {
      document.documentElement.classList.toggle("print", on);
      repaint();
    });
  }
}

function hideTip() {
  byId("tip").hidden = true;
}

function listenToPointer(app, pan) {
  const { stage } = app;
  const canvas = stage.canvas;
  let drag = null;

  function hover(event) {
    const operation = drag ? -1 : stage.hit(event.offsetX, event.offsetY);
    canvas.style.cursor = drag?.moved ? "grabbing" : operation >= 0 ? "pointer" : "default";
    if (operation !== app.hovered) {
      app.hovered = operation;
      app.redraw();
      if (operation >= 0) byId("tip").replaceChildren(...tipFor(app.history, operation));
    }
    if (operation < 0) return hideTip();
    const tip = byId("tip");
    tip.hidden = false;
    const box = canvas.getBoundingClientRect();
    const [x, y] = [box.left + event.offsetX, box.top + event.offsetY];
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight < innerHeight ? y + 18 : Math.max(8, y - tip.offsetHeight - 12)}px`;
  }

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
    canvas.focus();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (drag.moved || Math.hypot(dx, dy) > 4) {
        pan(-dx, -dy);
        drag = { x: event.clientX, y: event.clientY, moved: true };
      }
    }
    hover(event);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) app.select(stage.hit(event.offsetX, event.offsetY));
    drag = null;
    hover(event);
  });
  canvas.addEventListener("pointercancel", () => (drag = null));
  canvas.addEventListener("pointerleave", () => {
    app.hovered = -1;
    hideTip();
    app.redraw();
  });
  canvas.addEventListener("dblclick", (event) => {
    const operation = stage.hit(event.offsetX, event.offsetY);
    if (operation >= 0) app.select(operation, { close: true });
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      hideTip();
      const lines = event.deltaMode === 1 ? 24 : 1;
      if (event.offsetX < GUTTER && !event.shiftKey) pan(0, event.deltaY * lines);
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) * lines, 0);
      else app.zoom(Math.exp(-event.deltaY * lines * 0.002), event.offsetX);
    },
    { passive: false },
  );

  const overview = stage.overview;
  const look = (event) => {
    overview.lookAt(event.offsetX);
    app.redraw();
  };
  overview.canvas.addEventListener("pointerdown", (event) => {
    overview.canvas.setPointerCapture(event.pointerId);
    look(event);
  });
  overview.canvas.addEventListener("pointermove", (event) => event.buttons & 1 && look(event));
}
