// The atomic steps of an explored run: a row a step, a column a thread. Steps that matter to no other thread are faint.

function showSteps(history) {
  const section = document.getElementById("steps");
  const { steps } = history.raw;
  section.hidden = steps.length === 0;
  if (section.hidden) {
    section.replaceChildren();
    return;
  }
  const threads = [...new Set(steps.map((step) => step.thread))].sort((a, b) => a - b);
  const head = element("tr", {}, element("th", { text: "step", scope: "col" }));
  for (const thread of threads) head.append(element("th", { text: `thread ${thread}`, scope: "col" }));
  const body = element("tbody");
  let last = null;
  steps.forEach((step, number) => {
    const row = element("tr", { className: last !== null && last !== step.thread ? "switch" : "" }, element("th", { text: `${number}`, scope: "row" }));
    for (const thread of threads) row.append(thread === step.thread ? stepCell(step) : element("td"));
    body.append(row);
    last = step.thread;
  });
  const switches = steps.filter((step, i) => i > 0 && steps[i - 1].thread !== step.thread).length;
  const table = element("table", {}, element("thead", {}, head), body);
  section.replaceChildren(element("h2", { text: `${steps.length} steps of ${threads.length} threads, ${switches} switches` }), table);
}

function stepCell(step) {
  const access = `${step.kind ?? ""}${step.address === undefined ? "" : ` [${step.address}]`}${step.value === undefined ? "" : ` ${step.value}`}`;
  const where = [step.function, step.file && `${step.file}${step.line ? `:${step.line}` : ""}`].filter(Boolean).join("  ");
  return element(
    "td",
    { className: step.aside ? "step aside" : "step" },
    step.begins === undefined ? null : element("code", { className: "call", text: `${step.begins} {` }),
    element("b", { text: access }),
    step.text ? element("code", { text: step.text }) : null,
    where ? element("small", { text: where }) : null,
    step.returns === undefined ? null : element("code", { className: "call", text: `} → ${step.returns}` }),
  );
}
