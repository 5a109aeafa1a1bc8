// What the page knows without touching it: its state in the address, and completion.

/** The state of a page that was opened without any. */
export const START = { tables: [0], functional: "", level: 0.95, methods: [], kept: [] };

/** Reads the state from the query of an address; what makes no sense is left at its start value. */
export function readState(query) {
  const given = new URLSearchParams(query);
  const numbers = (given.get("t") ?? "").split(",").filter((t) => /^\d{1,3}$/.test(t)).map(Number);
  const level = Number(given.get("level"));
  return {
    tables: numbers.length > 0 ? [...new Set(numbers)] : [...START.tables],
    functional: given.get("h") ?? START.functional,
    level: level > 0 && level < 1 ? level : START.level,
    methods: (given.get("m") ?? "").split(",").filter((m) => /^[a-z-]+$/.test(m)),
    kept: [...new Set(given.getAll("q").filter((q) => q.trim() !== ""))],
  };
}

/** The query that readState turns into this state; a token stays in it. */
export function writeState(state, token) {
  const query = new URLSearchParams();
  if (state.tables.join() !== START.tables.join()) query.set("t", state.tables.join());
  if (state.functional !== "") query.set("h", state.functional);
  query.set("level", String(state.level));
  if (state.methods.length > 0) query.set("m", state.methods.join());
  for (const functional of state.kept) query.append("q", functional);
  if (token) query.set("token", token);
  return "?" + query.toString().replaceAll("%2C", ",").replaceAll("%5B", "[").replaceAll("%5D", "]");
}

/** The token in the query of an address, or nothing. */
export function readToken(query) {
  return new URLSearchParams(query).get("token") ?? "";
}

/**
 * What could stand at the caret: which characters to replace, and by what.
 * Inside brackets these are components and columns, elsewhere quantities and functions.
 */
export function complete(text, caret, vocabulary) {
  const before = text.slice(0, caret);
  const inside = before.match(/([\p{L}_][\p{L}\p{N}_.]*)\[([^[\]]*)$/u);
  if (inside) {
    const quantity = vocabulary.quantities.find((q) => q.name === inside[1]);
    if (!quantity) return nothing(caret);
    const indices = inside[2].split(",");
    const typed = indices[indices.length - 1].trimStart();
    const last = indices.length === quantity.indices.length;
    const close = text[caret] === "]" ? "" : "]";
    const end = last ? close : ",";
    const known =
      quantity.indices[indices.length - 1] === "component"
        ? Array.from({ length: vocabulary.components }, (_, k) => String(k + 1))
        : quantity.indices[indices.length - 1] === "coordinate"
          ? vocabulary.coordinates
          : [];
    const options = matching(known, typed).map((label) => ({ label, insert: label + end }));
    return { from: caret - typed.length, to: caret, options };
  }
  const typed = before.match(/[\p{L}_][\p{L}\p{N}_.]*$/u)?.[0] ?? "";
  // Nothing typed: only where a quantity can begin.
  if (typed === "" && !/(^|[-+*/^(,])\s*$/.test(before)) return nothing(caret);
  const ends = new Map(vocabulary.functions.map((name) => [name, "("]));
  for (const quantity of vocabulary.quantities) ends.set(quantity.name, "[");
  const names = vocabulary.quantities.map((q) => q.name).concat(vocabulary.functions);
  const options = matching(names, typed).map((label) => ({ label, insert: label + ends.get(label) }));
  return { from: caret - typed.length, to: caret, options };
}

const nothing = (caret) => ({ from: caret, to: caret, options: [] });

/** Names that begin as typed, before those that hold it elsewhere. */
function matching(names, typed) {
  const quoted = /^[`"]/;
  const wanted = typed.replace(quoted, "").toLowerCase();
  const plain = (name) => name.replace(quoted, "").toLowerCase();
  const known = quoted.test(typed) ? names.filter((name) => quoted.test(name)) : names;
  const starts = known.filter((name) => plain(name).startsWith(wanted));
  const holds = known.filter((name) => !starts.includes(name) && plain(name).includes(wanted));
  return starts.concat(holds).slice(0, 50);
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
