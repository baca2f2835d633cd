// The panel beside the drawing: the operation chosen, the state before and after it, and its neighbours in the order.

const ITEMS = 24; // of a state, before the rest is folded
const NEIGHBOURS = 5;

/** Make an element: tag with classes, text or children. */
function element(tag, { className = "", text = "", ...properties } = {}, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  Object.assign(made, properties);
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** A state as a list, with the items that changed marked; of a large one the changed items and a few more. */
function stateList(items, marked, className) {
  const [bracket, ...rest] = items;
  const list = element("span", { className: `state ${bracket ? "" : "single"}` });
  const close = { "{": "}", "[": "]" }[bracket] ?? "";
  const changed = new Set(marked.map((index) => index - 1));
  const item = (text, i) => element("code", { className: changed.has(i) ? className : "", text });
  const near = (i) => [...changed].some((each) => Math.abs(each - i) < ITEMS / 2);
  const kept = rest.map((_, i) => i).filter((i) => rest.length <= ITEMS || (changed.size ? near(i) : i < ITEMS)).slice(0, 2 * ITEMS);
  list.append(bracket);
  if (kept.length && kept[0] > 0) list.append(element("em", { text: `${kept[0].toLocaleString("en")} before` }));
  for (const i of kept) list.append(item(rest[i], i));
  const more = rest.length - (kept.length ? kept[kept.length - 1] + 1 : 0);
  if (more > 0) list.append(element("em", { text: `${more.toLocaleString("en")} more` }));
  if (!rest.length) list.append(element("em", { text: "empty" }));
  list.append(close);
  return list;
}

/** Rows that say what the state was, and what it became. */
function stateRows(history, operation) {
  const states = history.around(operation);
  if (!states) return [];
  if (!states.after) return [["state then", stateList(states.before, [], "")]];
  const [gone, come] = difference(states.before, states.after);
  const before = ["state before", stateList(states.before, gone, "gone")];
  if (!gone.length && !come.length) return [before, ["state after", element("em", { text: "the same" })]];
  return [before, ["state after", stateList(states.after, come, "come")]];
}

function rows(pairs) {
  const list = element("dl");
  for (const [term, value] of pairs) {
    list.append(element("dt", { text: term }), element("dd", {}, typeof value === "string" ? document.createTextNode(value) : value));
  }
  return list;
}

/** The call and what it returned, as a heading. */
function heading(history, operation, tag) {
  const title = element(tag, { className: `call mark${history.mark[operation]}` });
  title.append(element("code", { text: history.call(operation) }), " → ", element("code", { text: history.result(operation) }));
  return title;
}

function tipFor(history, operation) {
  const words = history.words.get(operation);
  return [
    heading(history, operation, "strong"),
    element("p", { text: `process ${history.processName(operation)}, ${history.standing(operation)}` }),
    words ? element("p", { className: "words", text: words }) : null,
    rows(stateRows(history, operation)),
  ].filter((each) => each !== null);
}

/** The state after an operation that changes it; of a long one, what changes. */
function change(history, operation) {
  if (!history.changing[operation]) return "";
  const { before, after } = history.around(operation);
  const whole = stateText(after);
  if (whole.length <= 44) return whole;
  const [gone, come] = difference(before, after);
  if (come.length) return `now ${come.map((i) => after[i]).join(", ")}`;
  return gone.length === before.length - 1 ? "now empty" : `gone: ${gone.map((i) => before[i]).join(", ")}`;
}

/** What a screen reader says of an operation. */
function spoken(history, operation) {
  const states = history.around(operation);
  const parts = [`process ${history.processName(operation)}: ${history.text(operation)}`, history.standing(operation)];
  if (history.words.has(operation)) parts.push(history.words.get(operation));
  if (states) parts.push(`state ${states.after ? "before" : "then"} ${stateText(states.before).slice(0, 300)}`);
  if (states?.after) parts.push(`after ${stateText(states.after).slice(0, 300)}`);
  return parts.join("; ");
}

class Panel {
  constructor(app) {
    this.app = app;
    this.operation = document.getElementById("operation");
    this.order = document.getElementById("order");
    this.violations = document.getElementById("violations");
    this.live = document.getElementById("live");
  }

  show() {
    const { history, selected } = this.app;
    this.#showViolations();
    if (selected < 0) {
      this.operation.replaceChildren(
        element("h2", { text: "No operation chosen" }),
        element("p", { className: "quiet", text: "Point at a bar, click it, or press an arrow key; j and k follow the order." }),
      );
      this.order.hidden = true;
      return;
    }
    const words = history.words.get(selected);
    this.operation.replaceChildren(
      heading(history, selected, "h2"),
      ...(words ? [element("p", { className: "words", text: words })] : []),
      rows([
        ["process", history.processName(selected)],
        ["ran", history.span(selected)],
        ["order", history.standing(selected)],
        ...stateRows(history, selected),
      ]),
    );
    this.#showOrder();
    this.live.textContent = spoken(history, selected);
  }

  #row(operation, position, note) {
    const { history, selected } = this.app;
    const button = element(
      "button",
      { className: `row mark${history.mark[operation]}${operation === selected ? " current" : ""}` },
      element("span", { className: "number", text: position }),
      element("code", { text: history.text(operation) }),
      element("small", { text: note }),
    );
    if (operation === selected) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => this.app.select(operation, { close: false }));
    return button;
  }

  /** The neighbours of the selected operation in its part's order, and what might come at its end. */
  #showOrder() {
    const { history, selected } = this.app;
    const part = history.partOf(selected);
    this.order.hidden = part.order.length === 0 && part.next.length === 0;
    if (this.order.hidden) return;
    const place = history.place[selected] >= 0 ? history.place[selected] : part.order.length;
    const low = Math.max(0, Math.min(place - NEIGHBOURS, part.order.length - 2 * NEIGHBOURS - 1));
    const high = Math.min(part.order.length, Math.max(place + NEIGHBOURS + 1, 2 * NEIGHBOURS + 1));
    const list = element("div", { className: "rows" });
    if (low > 0) list.append(element("p", { className: "quiet", text: `… ${low.toLocaleString("en")} before` }));
    for (let k = low; k < high; k++) {
      list.append(this.#row(part.order[k], `${k + 1}`, change(history, part.order[k])));
    }
    if (high < part.order.length) list.append(element("p", { className: "quiet", text: `… ${(part.order.length - high).toLocaleString("en")} after` }));
    if (high === part.order.length) {
      for (const [operation, legal] of part.next) list.append(this.#row(operation, legal ? "?" : "✗", legal ? "leads no further" : "illegal here"));
    }
    const title = part.verdict === "violation" ? "The longest order, and what might come next" : "The order that explains it";
    this.order.replaceChildren(element("h2", { text: part.label ? `${title}: ${part.label}` : title }), list);
  }

  #showViolations() {
    const { history } = this.app;
    this.violations.hidden = history.errors.length < 2;
    if (this.violations.hidden) return;
    const list = element("div", { className: "rows" });
    for (const operation of history.errors.slice(0, 50)) list.append(this.#row(operation, "✗", history.partOf(operation).label));
    const more = history.errors.length - 50;
    if (more > 0) list.append(element("p", { className: "quiet", text: `… ${more} more: press e` }));
    this.violations.replaceChildren(element("h2", { text: `${history.errors.length} violations` }), list);
  }
}
