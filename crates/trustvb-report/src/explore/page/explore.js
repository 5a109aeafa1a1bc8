// The explorer's page: keeps the state in the address, asks the server, shows what it says.
// All text goes into the page as text; figures come from the server as SVG and are parsed as XML.

import { START, accept, complete, mark, readState, readToken, writeState } from "./state.js";

const $ = (id) => document.getElementById(id);
const input = $("functional");
const token = readToken(location.search);
let state = readState(location.search);
let server = null;

/** Asks the server; an answer that is not one becomes an error with what it says. */
async function request(path, body, signal) {
  const headers = token ? { "x-trustvb-token": token } : {};
  const options = body
    ? { method: "POST", body: JSON.stringify(body), headers: { ...headers, "content-type": "application/json" } }
    : { headers };
  let response;
  try {
    response = await fetch(path, { ...options, signal });
  } catch (why) {
    if (why.name === "AbortError") throw why;
    throw { message: "The explorer does not answer. Is `trustvb explore` still running?" };
  }
  if (response.ok) return response;
  let problem;
  try {
    problem = (await response.json()).error;
  } catch {
    problem = { message: `The explorer refused: ${response.status}.` };
  }
  throw problem;
}

function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

function drawing(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}

/** Sets the state, puts it into the address and asks again. */
function change(next) {
  state = { ...state, ...next };
  const functional = state.functional.length > server.longest ? "" : state.functional;
  history.replaceState(null, "", writeState({ ...state, functional }, token));
  show();
}

// Controls.

function showControls() {
  if (document.activeElement !== input) input.value = state.functional;
  $("slider").value = state.level;
  if (document.activeElement !== $("level")) $("level").value = state.level;
  $("slider").setAttribute("aria-valuetext", `${Math.round(1000 * state.level) / 10}%`);
  for (const box of document.querySelectorAll("#tables input")) {
    box.checked = state.tables.includes(Number(box.value));
  }
  for (const box of document.querySelectorAll("#methods input")) {
    box.checked = methods().includes(box.value);
  }
  $("kept").hidden = state.kept.length === 0;
  $("list").replaceChildren(
    ...state.kept.map((functional) => {
      const load = element("button", { type: "button", className: "load" }, element("code", {}, functional));
      load.addEventListener("click", () => {
        input.value = functional;
        change({ functional });
      });
      const drop = element("button", { type: "button", className: "drop", title: "Remove" }, "×");
      drop.setAttribute("aria-label", `Remove ${functional}`);
      drop.addEventListener("click", () => change({ kept: state.kept.filter((q) => q !== functional) }));
      return element("li", {}, load, drop);
    }),
  );
  $("keep").disabled = state.functional.trim() === "" || state.kept.includes(state.functional.trim());
}

/** The methods asked: those chosen, or the usual ones of the first table. */
function methods() {
  const chosen = server.tables[tables()[0]].methods.filter((m) => m.possible);
  const asked = state.methods.filter((name) => chosen.some((m) => m.name === name));
  return asked.length > 0 ? asked : chosen.filter((m) => m.usual).map((m) => m.name);
}

/** The tables shown: those chosen that exist. */
function tables() {
  const there = state.tables.filter((t) => t < server.tables.length);
  return there.length > 0 ? there : [...START.tables];
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
  $("tables").hidden = server.tables.length < 2;
  for (const { method, title, svg } of server.legend) {
    const possible = server.tables.some((t) => t.methods.find((m) => m.name === method)?.possible);
    const box = element("input", { type: "checkbox", value: method, disabled: !possible });
    box.addEventListener("change", () => {
      const chosen = [...document.querySelectorAll("#methods input:checked")].map((b) => b.value);
      change({ methods: chosen });
    });
    const look = element("span", { className: "look" }, drawing(svg));
    look.setAttribute("aria-hidden", "true");
    const label = element("label", {}, box, look, method);
    label.title = possible ? title : `${title} The table does not have what this method needs.`;
    $("methods").append(label);
  }
  input.maxLength = server.longest;
  $("slider").addEventListener("input", () => {
    $("level").value = $("slider").value;
    change({ level: Number($("slider").value) });
  });
  $("level").addEventListener("input", () => {
    const level = Number($("level").value);
    if (level > 0 && level < 1) change({ level });
  });
  $("keep").addEventListener("click", keep);
  $("question").addEventListener("submit", (event) => event.preventDefault());
}

function keep() {
  const functional = state.functional.trim();
  if (functional !== "" && !state.kept.includes(functional)) change({ kept: [...state.kept, functional] });
}

// Completion.

let completion = { options: [] };
let chosen = -1;

function offer() {
  const vocabulary = server.tables[tables()[0]].vocabulary;
  completion = complete(input.value, input.selectionStart, vocabulary);
  chosen = -1;
  drawCompletions();
}

function drawCompletions() {
  const open = completion.options.length > 0;
  const list = $("completions");
  list.hidden = !open;
  input.setAttribute("aria-expanded", String(open));
  list.replaceChildren(
    ...completion.options.map((option, i) => {
      const item = element("li", { id: `completion-${i}`, role: "option" }, option.label);
      item.setAttribute("aria-selected", String(i === chosen));
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        take(i);
      });
      return item;
    }),
  );
  if (chosen >= 0) {
    input.setAttribute("aria-activedescendant", `completion-${chosen}`);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  } else {
    input.removeAttribute("aria-activedescendant");
  }
}

function closeCompletions() {
  completion = { options: [] };
  chosen = -1;
  drawCompletions();
}

function take(i) {
  const { text, caret } = accept(input.value, completion, completion.options[i]);
  input.value = text;
  input.setSelectionRange(caret, caret);
  change({ functional: text });
  offer();
}

function onKey(event) {
  const n = completion.options.length;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && n > 0) {
    chosen = chosen < 0 ? (step > 0 ? 0 : n - 1) : (chosen + step + n) % n;
    drawCompletions();
  } else if (event.key === "Tab" && n > 0 && !event.shiftKey && (chosen >= 0 || input.value !== "")) {
    take(Math.max(chosen, 0));
  } else if (event.key === "Enter" && chosen >= 0) {
    take(chosen);
  } else if (event.key === "Enter") {
    closeCompletions();
    keep();
  } else if (event.key === "Escape" && n > 0) {
    closeCompletions();
  } else {
    return;
  }
  event.preventDefault();
}

// Answers. Each round of questions ends the one before, here and on the server.

let round = new AbortController();
const cards = new Map();

function show() {
  showControls();
  round.abort();
  round = new AbortController();
  const { signal } = round;
  const shown = tables();
  for (const [at, card] of cards) {
    if (!shown.includes(at)) {
      card.remove();
      cards.delete(at);
    }
  }
  if (state.functional.trim() === "") {
    showProblem(null);
    $("law").textContent = `Type a quantity such as ${server.tables[shown[0]].defaults.slice(0, 3).join(", ")}.`;
  }
  for (const at of shown) {
    const card = cards.get(at) ?? newCard(at);
    $("answers").append(card);
    // Whatever goes wrong is shown on the card; a round that has ended is nobody's business.
    const shownOnCard = (problem) => {
      if (problem.name !== "AbortError" && !signal.aborted) cardProblem(card, problem);
    };
    askOne(at, card, signal).catch(shownOnCard);
    askKept(at, card, signal).catch(shownOnCard);
  }
}

/** Waits a little: moving a slider or typing asks for the last place only. */
const pause = (signal) =>
  new Promise((resolve, reject) => {
    setTimeout(() => (signal.aborted ? reject(new DOMException("", "AbortError")) : resolve()), 40);
  });

/** What a text means to a table, or what is wrong with it and where. */
async function check(at, functional, signal) {
  if (functional.length > server.longest) {
    return { error: { message: `This quantity has more than ${server.longest} characters.` } };
  }
  return (await request("/api/check", { table: at, functional }, signal)).json();
}

/** Tells at once whether the text can be read. */
function showChecked(checked) {
  showProblem(checked.error ?? null, state.functional);
  if (checked.error) {
    $("law").textContent = "";
    return;
  }
  const laws = [...new Set(checked.parts.map((part) => part.law))];
  $("law").textContent = laws.includes(null) ? "No exact law: evaluated at draws." : `Exact law: ${laws.join(", ")}.`;
}

function showProblem(problem, text) {
  input.setAttribute("aria-invalid", String(problem !== null));
  $("problem").hidden = problem === null;
  if (problem !== null) $("problem").replaceChildren(...problemNodes(problem, text));
}

function problemNodes(problem, text) {
  const nodes = [element("p", {}, problem.message ?? String(problem))];
  // The text's own spaces at its start are not counted by the server.
  const shown = (text ?? "").trim();
  if (problem.from !== undefined && shown.length <= 200) {
    const [before, wrong, after] = mark(shown, problem.from, problem.to);
    nodes.push(element("pre", {}, before, element("mark", {}, wrong === "" ? "␣" : wrong), after));
  }
  if (problem.suggestion) nodes.push(element("p", {}, problem.suggestion));
  return nodes;
}

function newCard(at) {
  const card = $("card").content.firstElementChild.cloneNode(true);
  const table = server.tables[at];
  card.querySelector("h2").textContent = table.name;
  card.querySelector(".about").textContent =
    `${table.model} with ${table.components} components, ${table.units} units, ${table.grid} ω, ` +
    `${table.resamples}, seed ${table.seed}`;
  for (const button of card.querySelectorAll("[data-format]")) {
    button.addEventListener("click", () => save(at, button.dataset.format, card));
  }
  const copy = card.querySelector(".copy");
  copy.addEventListener("click", async () => {
    const code = card.querySelector(".command code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      copy.textContent = "Selected";
    }
    setTimeout(() => (copy.textContent = "Copy"), 2000);
  });
  showCommand(card, "");
  cards.set(at, card);
  return card;
}

/** The methods that a table can answer by, among those asked. */
function possible(at) {
  const there = server.tables[at].methods.filter((m) => m.possible).map((m) => m.name);
  return methods().filter((name) => there.includes(name));
}

/** What is exported: the kept quantities, or the one that is shown. */
const exported = () => (state.kept.length > 0 ? state.kept : [state.functional.trim()].filter((h) => h !== ""));

async function askOne(at, card, signal) {
  const what = card.querySelector(".export .what");
  what.textContent = state.kept.length > 1 ? `Export ${state.kept.length} kept quantities as` : "Export as";
  card.querySelector(".export").hidden = exported().length === 0;
  if (state.functional.trim() === "") {
    card.querySelector(".parts").replaceChildren();
    card.querySelector(".words").replaceChildren();
    return;
  }
  const first = at === tables()[0];
  const checked = await check(at, state.functional, signal);
  if (signal.aborted) return;
  // The first table's complaint stands under the input.
  if (first) showChecked(checked);
  cardProblem(card, first ? null : (checked.error ?? null));
  card.querySelector(".parts").classList.toggle("old", Boolean(checked.error));
  if (checked.error) return;
  await pause(signal);
  card.setAttribute("aria-busy", "true");
  try {
    const question = { table: at, functional: state.functional, level: state.level, methods: possible(at) };
    const answer = await (await request("/api/ask", question, signal)).json();
    if (signal.aborted) return;
    showAnswer(card, answer);
    $("status").textContent = answer.parts.map((part) => `${part.label} ${part.words}`).join(" ");
  } finally {
    if (!signal.aborted) card.setAttribute("aria-busy", "false");
  }
}

function cardProblem(card, problem) {
  const place = card.querySelector(".problem");
  place.hidden = problem === null;
  if (problem !== null) place.replaceChildren(...problemNodes(problem, state.functional));
}

function showAnswer(card, answer) {
  card.querySelector(".words").replaceChildren(...answer.words.map((words) => element("p", {}, words)));
  const rows = [...answer.answer.intervals];
  const parts = answer.parts.map((part) => showPart(part, rows.splice(0, part.rows.length)));
  card.querySelector(".parts").replaceChildren(...parts);
  if (state.kept.length === 0) showCommand(card, answer.command);
}

function showCommand(card, command) {
  card.querySelector(".command").hidden = command === "";
  card.querySelector(".command code").textContent = command;
}

function showPart(part, numbers) {
  const node = $("part").content.firstElementChild.cloneNode(true);
  node.querySelector("h3 code").textContent = part.label;
  node.querySelector(".told").textContent = part.words ? `It ${part.words}` : "";
  const drawn = [part.density, part.coverage].filter((svg) => svg !== null);
  node.querySelector(".pair").append(...drawn.map(drawing));
  const cell = (shown, value, className = "number") => {
    const data = element("data", { value: value === null ? "" : String(value) }, shown);
    return element("td", { className }, data);
  };
  for (const [i, row] of part.rows.entries()) {
    const exact = numbers[i];
    const name = element("th", { scope: "row" }, row.method);
    const line = element("tr", { className: row.method === part.quoted ? "quoted" : "" }, name);
    line.dataset.method = row.method;
    line.append(
      cell(row.estimate, exact.estimate),
      cell(row.lower, exact.lower),
      cell(row.upper, exact.upper),
      cell(row.omega, exact.omega),
      cell(row.coverage, exact.coverage, ""),
    );
    node.querySelector("tbody").append(line);
  }
  node.querySelector(".flags").append(...flags(part.rows));
  return node;
}

/** Flags as sentences, each once with the methods it is about, warnings first. */
function flags(rows) {
  const found = new Map();
  for (const row of rows) {
    for (const flag of row.flags) {
      const known = found.get(flag.sentence) ?? { ...flag, methods: [] };
      known.methods.push(row.method);
      found.set(flag.sentence, known);
    }
  }
  return [...found.values()]
    .sort((a, b) => Number(b.warning) - Number(a.warning))
    .map((flag) =>
      element(
        "li",
        { className: flag.warning ? "warning" : "remark" },
        element("strong", {}, flag.methods.join(", ")),
        `: ${flag.sentence} `,
        element("span", { className: "name" }, `(${flag.name})`),
      ),
    );
}

async function askKept(at, card, signal) {
  const place = card.querySelector(".forest");
  place.hidden = state.kept.length === 0;
  if (state.kept.length === 0) return;
  const checked = await Promise.all(state.kept.map((functional) => check(at, functional, signal)));
  const problems = [];
  const readable = state.kept.filter((functional, i) => {
    if (checked[i].error) problems.push(...problemNodes(checked[i].error, functional));
    return !checked[i].error;
  });
  const nodes = [element("h3", {}, "Kept quantities")];
  if (problems.length > 0) nodes.push(element("div", { className: "problem" }, ...problems));
  if (readable.length > 0) {
    await pause(signal);
    const question = { table: at, functionals: readable, level: state.level, methods: possible(at) };
    const { forest, command } = await (await request("/api/list", question, signal)).json();
    if (signal.aborted) return;
    nodes.push(drawing(forest));
    showCommand(card, command);
  }
  place.replaceChildren(...nodes);
}

async function save(at, format, card) {
  try {
    const question = { table: at, functionals: exported(), level: state.level, methods: possible(at), format };
    const response = await request("/api/export", question);
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "answer";
    const address = URL.createObjectURL(await response.blob());
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    $("status").textContent = `Saved ${name}.`;
  } catch (problem) {
    cardProblem(card, problem);
  }
}

async function begin() {
  try {
    server = await (await request("/api/tables")).json();
  } catch (problem) {
    $("answers").replaceChildren(element("div", { className: "problem" }, ...problemNodes(problem)));
    return;
  }
  buildControls();
  if (state.functional === "" && state.kept.length === 0) {
    state.functional = server.tables[tables()[0]].defaults[0] ?? "";
  }
  input.value = state.functional;
  input.addEventListener("input", () => {
    change({ functional: input.value });
    offer();
  });
  input.addEventListener("keydown", onKey);
  input.addEventListener("blur", closeCompletions);
  input.addEventListener("click", offer);
  addEventListener("popstate", () => {
    state = readState(location.search);
    input.value = state.functional;
    show();
  });
  show();
}

begin();
