// Tests of state.js, run in the page: returns what failed.
const { accept, complete, mark, readState, readToken, writeState } = await import("/state.js");

const failures = [];
const same = (what, found, expected) => {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) failures.push(`${what}: ${a} is not ${b}`);
};

const start = { tables: [0], functional: "", level: 0.95, methods: [], kept: [] };
same("no state", readState(""), start);
same("nonsense", readState("?t=x,-1&level=7&m=<b>&q=+"), start);
for (const state of [
  start,
  { tables: [1, 0], functional: "mu[1,`a&b=c`] + 100%", level: 0.9, methods: ["vb", "tvb-sequential"], kept: ["pi[1]", "ω #?"] },
]) {
  same("there and back", readState(writeState(state, "")), state);
  same("with a token", readState(writeState(state, "abc")), state);
}
same("a token stays", readToken(writeState(start, "a+b/c")), "a+b/c");
same("repeated tables and quantities", readState("?t=1,1,0&q=pi&q=pi"), { ...start, tables: [1, 0], kept: ["pi"] });

const vocabulary = {
  quantities: [
    { name: "pi", indices: ["component"] },
    { name: "mu", indices: ["component", "coordinate"] },
    { name: "sigma", indices: ["component", "coordinate", "coordinate"] },
  ],
  components: 2,
  coordinates: ["eruptions", "waiting", "`a b`"],
  functions: ["log", "min", "mean"],
};
const labels = (text, caret = text.length) => complete(text, caret, vocabulary).options.map((o) => o.label);
const inserts = (text, caret = text.length) => complete(text, caret, vocabulary).options.map((o) => o.insert);
same("nothing typed", labels("").slice(0, 3), ["pi", "mu", "sigma"]);
same("a name", inserts("m"), ["mu[", "min(", "mean(", "sigma["]);
same("after an operator", labels("pi[1] - ").length, 6);
same("after a quantity", labels("pi[1] "), []);
same("in a number", labels("2"), []);
same("first index", inserts("mu["), ["1,", "2,"]);
same("last index", inserts("pi["), ["1]", "2]"]);
same("a column", inserts("mu[1,w"), ["waiting]"]);
same("a column that holds it", labels("mu[1,tion"), ["eruptions"]);
same("a quoted column", inserts("mu[1,`a"), ["`a b`]"]);
same("before a bracket", inserts("mu[1,]", 5), ["eruptions", "waiting", "`a b`"]);
same("too many indices", labels("pi[1,"), []);
same("unknown quantity", labels("nu["), []);
same("inside a call", labels("log(s"), ["sigma"]);

const option = complete("1 + mu[1,wa", 11, vocabulary);
same("accepted", accept("1 + mu[1,wa", option, option.options[0]), { text: "1 + mu[1,waiting]", caret: 17 });
const middle = complete("lo + 1", 2, vocabulary);
same("accepted in the middle", accept("lo + 1", middle, middle.options[0]), { text: "log( + 1", caret: 4 });

same("a mistake", mark("pi[3] + 1", 3, 4), ["pi[", "3", "] + 1"]);
same("a mistake at the end", mark("pi[1", 4, 4), ["pi[1", "", ""]);
return failures;
