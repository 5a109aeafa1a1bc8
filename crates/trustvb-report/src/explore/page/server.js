// Asking the server, and making nodes of what it says. All text goes into the page as text; figures come as SVG and
// are parsed as XML.

import { readToken } from "./state.js";
import { mark } from "./words.js";

export const token = readToken(location.search);

let tell = () => {};

/** Calls back with what to say when the server cannot be reached, and with null when it can again. */
export function watchReach(callback) {
  tell = callback;
}

/** Asks the server; an answer that is not one becomes an error with what it says. */
export async function request(path, body, signal) {
  const headers = token ? { "x-trustvb-token": token } : {};
  const options = body
    ? { method: "POST", body: JSON.stringify(body), headers: { ...headers, "content-type": "application/json" } }
    : { headers };
  let response;
  try {
    response = await fetch(path, { ...options, signal });
  } catch (why) {
    if (why.name === "AbortError") throw why;
    const problem = { message: "The explorer does not answer. Is `trustvb explore` still running?", unreachable: true };
    tell(problem.message);
    throw problem;
  }
  tell(null);
  if (response.ok) return response;
  let problem;
  try {
    problem = (await response.json()).error;
  } catch {
    problem = { message: `The explorer refused: ${response.status}.` };
  }
  throw problem;
}

/** Asks, and reads the answer as JSON. */
export async function ask(path, body, signal) {
  return (await request(path, body, signal)).json();
}

export function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

export function drawing(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}

/** What is wrong, where, and what to do. */
export function problemNodes(problem, text) {
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

/** Flags as sentences, each once with the methods it is about, warnings first. */
export function flagNodes(rows) {
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
    .map((flag) => flagNode(flag.methods.join(", "), flag.sentence, flag.name, flag.warning));
}

export function flagNode(about, sentence, name, warning) {
  return element(
    "li",
    { className: warning ? "warning" : "remark" },
    element("strong", {}, about),
    `: ${sentence} `,
    element("span", { className: "name" }, `(${name})`),
  );
}
