// The explorer's page: keeps the state in the address, asks the server, shows what it says.

import { Card } from "./card.js";
import { combobox } from "./combobox.js";
import { ask, drawing, element, problemNodes, request, token, watchReach } from "./server.js";
import { START, listed, parseLevel, percent, readState, writeState } from "./state.js";
import { spelled } from "./words.js";

const $ = (id) => document.getElementById(id);
const input = $("functional");
let state = readState(location.search);
let server = null;
const cards = new Map();

/** Sets the state, puts it into the address and asks again. */
function change(next, step = "same") {
  state = { ...state, ...next };
  const functional = state.functional.length > server.longest ? "" : state.functional;
  const address = writeState({ ...state, functional }, token);
  // Each quantity is a step back; typing is one step, however many keys it took.
  const typing = history.state?.typing ?? false;
  if (step === "open" || (step === "typed" && !typing)) {
    history.pushState({ typing: step === "typed" }, "", address);
  } else {
    history.replaceState({ typing: step === "kept" ? false : typing }, "", address);
  }
  show();
}

/** The methods compared: those chosen, or the usual ones of the first table. */
function methods() {
  const there = server.tables[tables()[0]].methods.filter((m) => m.possible);
  if (state.methods === null) return there.filter((m) => m.usual).map((m) => m.name);
  return there.filter((m) => state.methods.includes(m.name)).map((m) => m.name);
}

/** The tables shown: those chosen that exist. */
function tables() {
  const there = state.tables.filter((t) => t < server.tables.length);
  return there.length > 0 ? there : [...START.tables];
}

/** The methods that a table answers by, among those compared; with none, what its rows show. */
function methodsOf(at) {
  const there = server.tables[at].methods.filter((m) => m.possible);
  const chosen = there.filter((m) => methods().includes(m.name)).map((m) => m.name);
  const shown = there.filter((m) => m.recommended || m.name === "vb").map((m) => m.name);
  return chosen.length > 0 ? chosen : shown;
}

const listOf = (at) => listed(state, server.tables[at].defaults);

/** What a table's card shows, which is what is exported. */
const shownOf = (at) => cards.get(at)?.functionals ?? listOf(at);

// Controls.

function showControls() {
  if (document.activeElement !== input) input.value = state.functional;
  $("slider").value = state.level;
  if (document.activeElement !== $("level")) $("level").value = percent(state.level);
  $("level-shown").textContent = percent(state.level);
  $("slider").setAttribute("aria-valuetext", percent(state.level));
  for (const box of document.querySelectorAll("#tables input")) {
    box.checked = tables().includes(Number(box.value));
  }
  const compared = methods();
  for (const box of document.querySelectorAll("#methods input")) box.checked = compared.includes(box.value);
  $("methods-said").textContent =
    compared.length === 0
      ? "No method is chosen, so none are compared: the table shows the interval to use and VB’s own, and a row that is opened has only these."
      : "";
  $("usual").hidden = state.methods === null;
  const functional = state.functional.trim();
  $("keep").disabled = functional === "" || state.kept.includes(functional);
  showExports();
}

function showExports() {
  const lines = tables().map((at) => {
    const table = server.tables[at];
    const n = shownOf(at).length;
    const what = `${table.name}: ${n} ${n === 1 ? "quantity" : "quantities"} at ${percent(state.level)} by ${methodsOf(at).join(", ")}`;
    const buttons = ["report", "csv", "json", "svg", "png"].map((format) => {
      const name = format === "report" ? "Report" : format.toUpperCase();
      const button = element("button", { type: "button" }, name);
      button.dataset.format = format;
      button.addEventListener("click", () => save(at, format));
      return button;
    });
    return element("div", { className: "export" }, element("p", { className: "hint" }, what), ...buttons);
  });
  $("exports").replaceChildren(...lines);
}

function buildControls() {
  for (const [at, table] of server.tables.entries()) {
    const box = element("input", { type: "checkbox", value: String(at) });
    box.addEventListener("change", () => {
      const chosen = [...document.querySelectorAll("#tables input:checked")].map((b) => Number(b.value));
      change({ tables: chosen.length > 0 ? chosen : [at] });
    });
    $("tables").append(element("label", {}, box, table.name));
  }
  const one = server.tables.length < 2;
  $("tables").hidden = one;
  document.body.classList.toggle("several", !one);
  if (one) {
    $("title").textContent = server.tables[0].name;
    document.title = `${server.tables[0].name} – trustvb explore`;
  }
  for (const { method, title, svg } of server.legend) {
    const possible = server.tables.some((t) => t.methods.find((m) => m.name === method)?.possible);
    const box = element("input", { type: "checkbox", value: method, disabled: !possible });
    box.addEventListener("change", () => {
      change({ methods: [...document.querySelectorAll("#methods input:checked")].map((b) => b.value) });
    });
    const look = element("span", { className: "look" }, drawing(svg));
    look.setAttribute("aria-hidden", "true");
    const about = possible ? title : `${title} The table does not have what this method needs.`;
    $("methods").append(element("label", { title: about }, box, look, method));
  }
  $("usual").addEventListener("click", () => change({ methods: null }));
  input.maxLength = server.longest;
  input.placeholder += ` e.g. ${example()}`;
  $("slider").addEventListener("input", () => {
    $("level").value = percent(Number($("slider").value));
    sayLevel(null);
    change({ level: Number($("slider").value) });
  });
  $("level").addEventListener("input", () => {
    const level = parseLevel($("level").value);
    const said = `“${$("level").value}” is no level: write 95, 95% or 0.95, between 0 and 100%.`;
    sayLevel(level === null ? said : null);
    if (level !== null) change({ level });
  });
  $("keep").addEventListener("click", keep);
  $("question").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("pointerdown", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && event.target.closest?.("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

/** A difference that this table has. */
function example() {
  const { vocabulary } = server.tables[0];
  const centre = vocabulary.quantities.find((q) => q.indices.join() === "component,coordinate");
  const column = vocabulary.coordinates[0];
  return centre && column ? `${centre.name}[1,${column}] - ${centre.name}[2,${column}]` : "pi[1]";
}

function sayLevel(problem) {
  $("level").setAttribute("aria-invalid", String(problem !== null));
  $("level-problem").hidden = problem === null;
  $("level-problem").textContent = problem ?? "";
}

function keep() {
  const functional = state.functional.trim();
  if (functional === "") return;
  const there = listed({ ...state, functional: "" }, server.tables[tables()[0]].defaults);
  change({ functional, kept: there.includes(functional) ? state.kept : [...state.kept, functional] }, "kept");
}

/** Opens a row, or closes it if it is open. */
function open(functional) {
  const next = state.functional.trim() === functional ? "" : functional;
  input.value = next;
  change({ functional: next }, "open");
}

function drop(functional) {
  const closed = state.functional.trim() === functional ? "" : state.functional;
  input.value = closed;
  change({ functional: closed, kept: state.kept.filter((q) => q !== functional) });
}

// Answers. Each round of questions ends the one before, here and on the server.

let round = new AbortController();

function show() {
  showControls();
  round.abort();
  round = new AbortController();
  const { signal } = round;
  const shown = tables();
  for (const [at, card] of cards) {
    if (shown.includes(at)) continue;
    card.node.remove();
    cards.delete(at);
  }
  if (state.functional.trim() === "") showChecked(null);
  for (const [i, at] of shown.entries()) {
    const card = cards.get(at) ?? new Card(at, server.tables[at], { open, drop });
    cards.set(at, card);
    if ($("answers").children[i] !== card.node) $("answers").insertBefore(card.node, $("answers").children[i] ?? null);
    card.dim({
      overview: String(state.level),
      details: JSON.stringify([state.functional.trim(), state.level, methodsOf(at)]),
      compare: JSON.stringify([state.level, state.methods, listOf(at)]),
    });
    // Whatever goes wrong is shown on the card; a round that has ended is nobody's business.
    answer(at, card, signal).catch((problem) => {
      if (problem.name !== "AbortError" && !signal.aborted && !problem.unreachable) card.problem(problem);
    });
  }
}

/** Waits a little: moving a slider or typing asks for the last place only. */
const pause = (signal) =>
  new Promise((resolve, reject) => {
    setTimeout(() => (signal.aborted ? reject(new DOMException("", "AbortError")) : resolve()), 40);
  });

async function answer(at, card, signal) {
  const functional = state.functional.trim();
  const wanted = listOf(at);
  const readable = functional === "" || (await canRead(at, card, functional, signal));
  if (signal.aborted) return;
  const functionals = readable ? wanted : wanted.filter((h) => h !== functional);
  if (readable) card.setOpened(functional);
  if (functional !== "") await pause(signal);
  const question = { table: at, level: state.level, methods: methodsOf(at) };
  const rows = ask("/api/overview", { ...question, functionals }, signal).then((found) => {
    if (signal.aborted) return;
    card.showOverview(found, state, tables().length > 1);
    card.showCommand(found.command);
    showExports();
    if (at === tables()[0] && functional === "") $("status").textContent = found.verdict;
  });
  await Promise.all([
    rows,
    readable && functional !== "" ? details(card, { ...question, functional }, rows, signal) : null,
    compare(card, question, rows, signal),
  ]);
}

/** Tells at once whether the text can be read. */
async function canRead(at, card, functional, signal) {
  const long = `This quantity has more than ${server.longest} characters.`;
  const checked =
    functional.length > server.longest
      ? { error: { message: long } }
      : await ask("/api/check", { table: at, functional }, signal);
  // The first table's complaint stands under the input.
  if (signal.aborted) return false;
  if (at === tables()[0]) showChecked(checked);
  else card.problem(checked.error ?? null, functional);
  return !checked.error;
}

async function details(card, question, rows, signal) {
  const found = await ask("/api/ask", question, signal);
  await rows;
  if (signal.aborted) return;
  card.showDetails(found);
  $("status").textContent = found.parts.map((part) => `${part.label} ${part.words}`).join(" ");
}

async function compare(card, question, rows, signal) {
  await rows;
  if (signal.aborted) return;
  if (state.methods === null || methods().length === 0 || card.functionals.length === 0) {
    card.showCompare(null);
    return;
  }
  const { forest } = await ask("/api/list", { ...question, functionals: card.functionals }, signal);
  if (!signal.aborted) card.showCompare(forest);
}

let lastChecked = null;

function showChecked(checked) {
  lastChecked = checked;
  const error = checked?.error ?? null;
  // A name that is being typed is no mistake while there is something to complete it.
  const unfinished = !$("completions").hidden && error?.to === state.functional.trim().length && error.from < error.to;
  const problem = unfinished ? null : error;
  input.setAttribute("aria-invalid", String(problem !== null));
  $("problem").hidden = problem === null;
  if (problem !== null) $("problem").replaceChildren(...problemNodes(problem, state.functional));
  const laws = [...new Set((checked?.parts ?? []).map((part) => part.law))];
  const law = laws.includes(null) ? "No exact law: evaluated at draws." : `Exact law: ${laws.join(", ")}.`;
  const read = input.value.trim() !== state.functional.trim() ? `Read as ${state.functional.trim()}. ` : "";
  $("law").hidden = laws.length === 0;
  $("law").textContent = laws.length === 0 ? "" : read + law;
}

async function save(at, format) {
  try {
    const question = { table: at, functionals: shownOf(at), level: state.level, methods: methodsOf(at), format };
    const response = await request("/api/export", question);
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "answer";
    const address = URL.createObjectURL(await response.blob());
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    $("status").textContent = `Saved ${name}.`;
    $("export-menu").open = false;
  } catch (problem) {
    if (!problem.unreachable) cards.get(at)?.problem(problem);
  }
}

/** Says that the server cannot be reached, or no longer says so. */
function sayReach(problem) {
  const place = $("unreachable");
  if (problem === null) {
    place.hidden = true;
    return;
  }
  const again = element("button", { type: "button" }, "Try again");
  again.addEventListener("click", () => (server ? show() : begin()));
  const more = server ? " What is shown may be of another question." : "";
  place.replaceChildren(element("p", {}, problem + more), again);
  place.hidden = false;
}

async function begin() {
  watchReach(sayReach);
  try {
    server = await ask("/api/tables");
  } catch (problem) {
    if (!problem.unreachable) {
      $("answers").replaceChildren(element("div", { className: "problem" }, ...problemNodes(problem)));
    }
    return;
  }
  buildControls();
  const vocabulary = () => {
    const { vocabulary, called } = server.tables[tables()[0]];
    return { ...vocabulary, called };
  };
  input.value = state.functional;
  combobox(input, $("completions"), {
    vocabulary,
    typed: () => change({ functional: spelled(input.value, vocabulary()) }, "typed"),
    enter: keep,
    closed: () => showChecked(lastChecked),
  });
  addEventListener("popstate", () => {
    state = readState(location.search);
    input.value = state.functional;
    show();
  });
  show();
}

begin();
