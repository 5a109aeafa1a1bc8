// Completion of quantities, without touching the page: what could stand at the caret, and what it means.

/** What each quantity is, and what else people call it. */
const QUANTITIES = {
  pi: { about: "weight of a component", others: ["π", "weight", "share", "proportion"] },
  mu: { about: "mean of a column in a component", others: ["μ", "µ", "mean", "average", "centre"] },
  sd: { about: "standard deviation of a column in a component", others: ["standard", "deviation", "spread"] },
  sigma: { about: "covariance of two columns in a component", others: ["σ", "Σ", "covariance", "variance"] },
  cor: { about: "correlation of two columns in a component", others: ["ρ", "correlation"] },
  p: { about: "probability of a level of a column in a component", others: ["probability"] },
  rate: { about: "rate of a count in a component", others: ["λ"] },
  beta: { about: "coefficient of a column in a component", others: ["β", "coefficient", "slope", "effect"] },
  tau: { about: "precision of the coefficients' prior", others: ["τ", "precision"] },
  noise: { about: "precision of the noise", others: ["ε", "error", "residual"] },
};

const FUNCTIONS = {
  log: "natural logarithm",
  exp: "exponential",
  sqrt: "square root",
  abs: "size without sign",
  logit: "log of the odds",
  expit: "probability from the log of the odds",
  min: "smallest of several",
  max: "largest of several",
  sum: "sum over a vector",
  mean: "mean over a vector",
};

/** In words what one element is: column may be missing. */
function inWords(name, component, column) {
  const what = {
    pi: "weight",
    mu: `mean of ${column}`,
    sd: `standard deviation of ${column}`,
    rate: `rate of ${column}`,
    beta: `coefficient of ${column}`,
  }[name];
  return what ? `${what} ${name === "pi" ? "of" : "in"} component ${component}` : "";
}

/**
 * What could stand at the caret: which characters to replace, by what, and what that is.
 * Inside brackets these are components and columns; elsewhere quantities, by any of their names, elements of a
 * column that is named alone, and functions.
 */
export function complete(text, caret, vocabulary) {
  const before = text.slice(0, caret);
  const inside = before.match(/([\p{L}_][\p{L}\p{N}_.]*)\[([^[\]]*)$/u);
  const { options, ...place } = inside
    ? indices(inside, text, caret, vocabulary)
    : names(before, caret, vocabulary);
  return { ...place, options: options.map((one) => ({ ...one, about: inModelsWords(one.about, vocabulary) })) };
}

/** With what the model calls its components; a column of that name comes before. */
function inModelsWords(about, { called = "component" }) {
  return about.replace(/\bcomponent\b(?!.*\bcomponent\b)/, called);
}

function indices([, called, written], text, caret, vocabulary) {
  const quantity = vocabulary.quantities.find((q) => q.name === (meant(called, vocabulary) ?? called));
  if (!quantity) return nothing(caret);
  const given = written.split(",");
  const at = given.length - 1;
  const typed = given[at].trimStart();
  const last = given.length === quantity.indices.length;
  const end = last ? (text[caret] === "]" ? "" : "]") : ",";
  const axis = quantity.indices[at];
  if (axis === "component") {
    const numbers = Array.from({ length: vocabulary.components }, (_, k) => String(k + 1));
    const about = (k) => inWords(quantity.name, k, "a column") || `component ${k}`;
    return found(caret, typed, matching(numbers, typed).map((label) => option(label, label + end, about(label))));
  }
  if (axis !== "coordinate") return nothing(caret);
  const about = (column) => inWords(quantity.name, given[0].trim(), bare(column)) || `column ${bare(column)}`;
  return found(
    caret,
    typed,
    matching(vocabulary.coordinates, typed).map((label) => option(label, label + end, about(label))),
  );
}

function names(before, caret, vocabulary) {
  const typed = before.match(/[\p{L}_][\p{L}\p{N}_.]*$/u)?.[0] ?? "";
  // Nothing typed: only where a quantity can begin.
  if (typed === "" && !/(^|[-+*/^(,])\s*$/.test(before)) return nothing(caret);
  const known = [
    ...vocabulary.quantities.map(({ name }) => option(name, `${name}[`, QUANTITIES[name]?.about ?? "")),
    ...vocabulary.functions.map((name) => option(name, `${name}(`, FUNCTIONS[name] ?? "")),
  ];
  const wanted = typed.toLowerCase();
  const starts = known.filter(({ label }) => label.toLowerCase().startsWith(wanted));
  const called = known.filter(
    (one) => one.insert.endsWith("[") && QUANTITIES[one.label]?.others.some((other) => alike(other, wanted)),
  );
  const holds = known.filter(({ label }) => label.toLowerCase().includes(wanted));
  const options = [...starts, ...called, ...(typed === "" ? [] : columns(typed, vocabulary)), ...holds];
  return found(caret, typed, options.filter((one, i) => options.findIndex((o) => o.insert === one.insert) === i));
}

/** Elements of the columns whose name begins as typed. */
function columns(typed, vocabulary) {
  const centre = vocabulary.quantities.find((q) => q.indices.join() === "component,coordinate");
  if (!centre) return [];
  const wanted = typed.toLowerCase();
  return vocabulary.coordinates
    .filter((column) => bare(column).toLowerCase().startsWith(wanted))
    .flatMap((column) =>
      Array.from({ length: vocabulary.components }, (_, k) => {
        const element = `${centre.name}[${k + 1},${column}]`;
        return option(element, element, inWords(centre.name, k + 1, bare(column)));
      }),
    );
}

/** The quantity that is called so, if that is not its own name. */
function meant(called, vocabulary) {
  const there = vocabulary.quantities.map(({ name }) => name);
  if (there.includes(called)) return null;
  const wanted = called.toLowerCase();
  const is = (other) => other === called || other.toLowerCase() === wanted;
  return there.find((name) => QUANTITIES[name]?.others.some(is)) ?? null;
}

/** The text with π[1], weight[1] and the like as the program spells them; names of columns are left alone. */
export function spelled(text, vocabulary) {
  const pieces = text.split(/(`[^`]*`|"[^"]*")/);
  const spell = (whole, called) => meant(called, vocabulary) ?? whole;
  return pieces
    .map((piece, i) => (i % 2 === 1 ? piece : piece.replace(/([\p{L}_][\p{L}\p{N}_.]*)(?=\s*\[)/gu, spell)))
    .join("");
}

const alike = (other, wanted) => wanted !== "" && other.toLowerCase().startsWith(wanted);
const bare = (column) => column.replace(/^[`"]|[`"]$/g, "");
const option = (label, insert, about) => ({ label, insert, about });
const nothing = (caret) => ({ from: caret, to: caret, options: [] });
const found = (caret, typed, options) => ({ from: caret - typed.length, to: caret, options: options.slice(0, 50) });

/** Names that begin as typed, before those that hold it elsewhere. */
function matching(known, typed) {
  const quoted = /^[`"]/;
  const wanted = typed.replace(quoted, "").toLowerCase();
  const plain = (name) => name.replace(quoted, "").toLowerCase();
  const asked = quoted.test(typed) ? known.filter((name) => quoted.test(name)) : known;
  const starts = asked.filter((name) => plain(name).startsWith(wanted));
  return starts.concat(asked.filter((name) => !starts.includes(name) && plain(name).includes(wanted)));
}

/** The text with a completion put in, and where the caret then stands. */
export function accept(text, completion, option) {
  const start = text.slice(0, completion.from) + option.insert;
  return { text: start + text.slice(completion.to), caret: start.length };
}

/** The text in three pieces: before a mistake, the mistake, after it. */
export function mark(text, from, to) {
  const end = Math.max(to, from);
  return [text.slice(0, from), text.slice(from, end), text.slice(end)];
}
