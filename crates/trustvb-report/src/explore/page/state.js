// What the page knows without touching it: its state in the address, levels as people write them, what is shown.

/** The state of a page that was opened without any. No methods are the usual ones; an empty list is none at all. */
export const START = { tables: [0], functional: "", level: 0.95, methods: null, kept: [] };

/** Reads the state from the query of an address; what makes no sense is left at its start value. */
export function readState(query) {
  const given = new URLSearchParams(query);
  const numbers = (given.get("t") ?? "").split(",").filter((t) => /^\d{1,3}$/.test(t)).map(Number);
  const methods = given.get("m");
  const named = (methods ?? "").split(",").filter((m) => /^[a-z-]+$/.test(m));
  return {
    tables: numbers.length > 0 ? [...new Set(numbers)] : [...START.tables],
    functional: given.get("h") ?? START.functional,
    level: parseLevel(given.get("level") ?? "") ?? START.level,
    methods: methods === "" || named.length > 0 ? named : START.methods,
    kept: [...new Set(given.getAll("q").filter((q) => q.trim() !== ""))],
  };
}

/** The query that readState turns into this state; a token stays in it. */
export function writeState(state, token) {
  const query = new URLSearchParams();
  if (state.tables.join() !== START.tables.join()) query.set("t", state.tables.join());
  if (state.functional !== "") query.set("h", state.functional);
  query.set("level", String(state.level));
  if (state.methods !== null) query.set("m", state.methods.join());
  for (const functional of state.kept) query.append("q", functional);
  if (token) query.set("token", token);
  return "?" + query.toString().replaceAll("%2C", ",").replaceAll("%5B", "[").replaceAll("%5D", "]");
}

/** The token in the query of an address, or nothing. */
export function readToken(query) {
  return new URLSearchParams(query).get("token") ?? "";
}

/** A level as people write it: 0.95, 95, 95% and 0,95 are the same. Null if it is none. */
export function parseLevel(text) {
  const parts = /^\s*(\d*[.,]?\d+|\d+[.,])\s*(%?)\s*$/.exec(text);
  if (!parts) return null;
  const number = Number(parts[1].replace(",", "."));
  const share = parts[2] === "%" || number > 1 ? Number((number / 100).toFixed(9)) : number;
  return share > 0 && share < 1 ? share : null;
}

/** A level or a coverage as a percentage, without decimals that say nothing. */
export function percent(share) {
  return `${Number((100 * share).toFixed(2))}%`;
}

/** The quantities in the table, and so in what is exported: the one that is asked, those kept, the usual ones. */
export function listed(state, defaults) {
  const typed = state.functional.trim();
  const rest = [...new Set([...state.kept, ...defaults])];
  return typed === "" || rest.includes(typed) ? rest : [typed, ...rest];
}
