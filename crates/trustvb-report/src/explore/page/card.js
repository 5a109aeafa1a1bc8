// One table's answers: the verdict, a row for each quantity, what is behind the row that is open, methods compared.

import { drawing, element, flagNode, flagNodes, problemNodes } from "./server.js";
import { percent } from "./state.js";

const template = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);

export class Card {
  /** `actions.open(functional)` and `actions.drop(functional)` are called for a row. */
  constructor(at, table, actions) {
    this.at = at;
    this.table = table;
    this.actions = actions;
    this.node = template("card");
    this.rows = new Map();
    this.details = element("tr", { className: "details", id: `details-${at}` });
    this.find(".forest").setAttribute("aria-label", `Intervals of ${table.name} by all methods chosen, drawn`);
    this.find(".overview caption").textContent = `Intervals of ${table.name}`;
    const copy = this.find(".copy");
    copy.addEventListener("click", () => this.copy(copy));
    this.showCommand("");
  }

  find(selector) {
    return this.node.querySelector(selector);
  }

  /** Says what each piece of the card should be about, and dims at once what is about something else. */
  dim(keys) {
    const pieces = { overview: this.find(".overview"), details: this.details, compare: this.find(".compare") };
    this.keys = keys;
    for (const [name, node] of Object.entries(pieces)) {
      const old = node.dataset.about !== undefined && node.dataset.about !== keys[name];
      node.classList.toggle("stale", old);
      if (old) node.setAttribute("aria-busy", "true");
    }
  }

  fresh(name, node) {
    node.dataset.about = this.keys[name];
    node.classList.remove("stale");
    node.setAttribute("aria-busy", "false");
  }

  problem(problem, text) {
    const place = this.find(".problem");
    place.hidden = problem === null;
    if (problem !== null) place.replaceChildren(...problemNodes(problem, text));
  }

  showOverview(answer, state, several) {
    const name = several ? `${this.table.name}. ` : "";
    this.find(".verdict").textContent = answer.verdict;
    this.find(".about").textContent = `${name}${answer.about} Coverage is estimated from resamples: ${this.table.resamples}.`;
    this.showWarnings(answer);
    const places = answer.problems.map((problem) => problemNodes(problem, problem.functional)).flat();
    this.find(".problem").hidden = places.length === 0;
    this.find(".problem").replaceChildren(...places);
    this.find(".use").textContent = `Use this ${percent(state.level)} interval`;
    this.find(".claims").textContent = `VB claims ${percent(state.level)}, covers`;
    this.functionals = [...new Set(answer.rows.map((row) => row.functional))];
    const nodes = answer.rows.map((row) => this.row(row, state));
    const shown = new Set(nodes);
    for (const [key, node] of this.rows) if (!shown.has(node)) this.rows.delete(key);
    this.place(nodes);
    const left = this.table.usual_quantities - this.table.defaults.length;
    this.find(".more").textContent =
      left > 0
        ? `The first ${this.table.defaults.length} of ${this.table.usual_quantities} weights and centres; ask for the others by name.`
        : "";
    this.fresh("overview", this.find(".overview"));
  }

  /** Puts rows in order without taking the focus from one of them. */
  place(nodes) {
    const body = this.find(".overview tbody");
    const all = nodes.flatMap((node, i) => {
      const open = node.dataset.functional === this.opened;
      const last = nodes[i + 1]?.dataset.functional !== node.dataset.functional;
      return open && last && this.details.childElementCount > 0 ? [node, this.details] : [node];
    });
    for (const child of [...body.children]) if (!all.includes(child)) child.remove();
    all.forEach((node, i) => {
      if (body.children[i] !== node) body.insertBefore(node, body.children[i] ?? null);
    });
  }

  showWarnings(answer) {
    const place = this.find(".warnings");
    place.hidden = answer.warnings.length === 0;
    const names = answer.warnings.map((warning) => warning.name.replaceAll("-", " ")).join(", ");
    place.querySelector("summary").textContent = `${answer.warned ?? ""} ${names}`;
    place
      .querySelector("ul")
      .replaceChildren(...answer.warnings.map((w) => flagNode(w.about.join(", "), w.sentence, w.name, true)));
  }

  row(row, state) {
    const key = JSON.stringify([row.functional, row.label]);
    const node = this.rows.get(key) ?? this.newRow(key, row);
    const set = (selector, ...content) => node.querySelector(selector).replaceChildren(...content);
    set(".plain", row.plain ?? "");
    set("code", row.label);
    node.querySelector(".drop").hidden = !state.kept.includes(row.functional);
    const [estimate, lower, upper] = row.numbers;
    const data = (shown, value) => element("data", { value: value === null ? "" : String(value) }, shown);
    set(".estimate", data(row.estimate, estimate));
    set(".interval", element("strong", {}, data(row.interval, `${lower},${upper}`)));
    set(".longer", row.longer ?? "–");
    set(".pair-cell", drawing(row.pair));
    const covers = row.bar ? drawing(row.bar) : element("span", { className: "hint" }, "not known");
    set(".bar-cell", covers, element("span", { className: "unseen" }, ` ${row.verdict}`));
    node.querySelector(".bar-cell").title = row.verdict;
    const count = row.warnings.length;
    const names = element("span", { className: "unseen" }, ` of ${row.label}: ${row.warnings.join(", ")}`);
    const warned = element("button", { type: "button", className: "warn", title: row.warnings.join(", ") }, `⚠ ${count}`, names);
    warned.addEventListener("click", () => this.openWarnings());
    set(".warned", ...(count > 0 ? [warned] : []));
    this.expand(node);
    return node;
  }

  newRow(key, row) {
    const node = template("row");
    node.dataset.functional = row.functional;
    const open = node.querySelector(".open");
    open.setAttribute("aria-controls", this.details.id);
    open.addEventListener("click", () => this.actions.open(row.functional));
    // The whole row is a target for the pointer; for keys the button is enough.
    node.addEventListener("click", (event) => {
      if (!event.target.closest("button, a")) this.actions.open(row.functional);
    });
    const drop = node.querySelector(".drop");
    drop.setAttribute("aria-label", `Remove ${row.label}`);
    drop.addEventListener("click", () => this.actions.drop(row.functional));
    this.rows.set(key, node);
    return node;
  }

  openWarnings() {
    const place = this.find(".warnings");
    place.open = true;
    place.querySelector("summary").focus();
    place.scrollIntoView({ block: "nearest" });
  }

  expand(node) {
    const open = node.dataset.functional === this.opened;
    node.querySelector(".open").setAttribute("aria-expanded", String(open));
    node.classList.toggle("opened", open);
  }

  /** Which row is open; an empty text is none. What was shown of another one goes. */
  setOpened(functional) {
    if (functional === "") {
      this.details.replaceChildren();
      delete this.details.dataset.about;
      this.details.remove();
    }
    this.opened = functional;
    for (const node of this.rows.values()) this.expand(node);
  }

  showDetails(answer) {
    const rows = [...answer.answer.intervals];
    const parts = answer.parts.map((part) => this.part(part, rows.splice(0, part.rows.length)));
    this.details.replaceChildren(element("td", { colSpan: 7 }, ...parts));
    this.place([...this.find(".overview tbody").children].filter((node) => node !== this.details));
    this.fresh("details", this.details);
  }

  part(part, numbers) {
    const node = template("part");
    const row = [...this.rows.values()].find((r) => r.querySelector("code").textContent === part.label);
    node.querySelector("h3 span").textContent = row?.querySelector(".plain").textContent ?? "";
    node.querySelector("h3 code").textContent = part.label;
    node.querySelector(".told").textContent = part.words ? `It ${part.words}` : "";
    node.querySelector(".scroll").setAttribute("aria-label", `Intervals of ${part.label} in ${this.table.name}`);
    const drawn = [part.density, part.coverage].filter((svg) => svg !== null);
    node.querySelector(".figures").append(...drawn.map(drawing));
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
    node.querySelector(".flags").append(...flagNodes(part.rows));
    return node;
  }

  /** All quantities by all methods chosen; nothing where none were. */
  showCompare(forest) {
    const place = this.find(".compare");
    place.hidden = forest === null;
    this.find(".forest").replaceChildren(...(forest === null ? [] : [drawing(forest)]));
    this.fresh("compare", place);
  }

  showCommand(command) {
    this.find(".command").hidden = command === "";
    this.find(".command code").textContent = command;
  }

  async copy(button) {
    const code = this.find(".command code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  }
}
