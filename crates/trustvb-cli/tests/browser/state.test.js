// Tests of state.js and words.js, run in the page: returns what failed.
const { listed, parseLevel, percent, readState, readToken, writeState } = await import("/state.js");
const { accept, complete, mark, spelled } = await import("/words.js");

const failures = [];
const same = (what, found, expected) => {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) failures.push(`${what}: ${a} is not ${b}`);
};

const start = { tables: [0], functional: "", level: 0.95, methods: null, kept: [] };
same("no state", readState(""), start);
same("nonsense", readState("?t=x,-1&level=700&m=<b>&q=+"), start);
for (const state of [
  start,
  { ...start, methods: [] },
  { tables: [1, 0], functional: "mu[1,`a&b=c`] + 100%", level: 0.9, methods: ["vb", "tvb-sequential"], kept: ["pi[1]", "ω #?"] },
]) {
  same("there and back", readState(writeState(state, "")), state);
  same("with a token", readState(writeState(state, "abc")), state);
}
same("a token stays", readToken(writeState(start, "a+b/c")), "a+b/c");
same("repeated tables and quantities", readState("?t=1,1,0&q=pi&q=pi"), { ...start, tables: [1, 0], kept: ["pi"] });

for (const [text, level] of [
  ["95", 0.95], ["95%", 0.95], ["0.95", 0.95], [" 0,95 ", 0.95], [".9", 0.9], ["97.5", 0.975], ["99.9", 0.999], ["1%", 0.01],
  ["0", null], ["1", null], ["100", null], ["-5", null], ["abc", null], ["", null], ["9 5", null], ["0x5", null],
]) {
  same(`the level ${text}`, parseLevel(text), level);
}
same("a percentage", [0.95, 0.975, 0.07].map(percent), ["95%", "97.5%", "7%"]);
same("listed", listed({ ...start, kept: ["a"], functional: " b " }, ["c"]), ["b", "a", "c"]);
same("listed once", listed({ ...start, kept: ["c", "a"], functional: "a" }, ["c"]), ["c", "a"]);

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
same("inside a call", labels("log(s"), ["sigma", "pi"]);
same("a Greek letter", inserts("π"), ["pi["]);
same("another one", inserts("pi[1] - μ"), ["mu["]);
same("a plain word", inserts("weig"), ["pi["]);
same("a bare column", inserts("wai"), ["mu[1,waiting]", "mu[2,waiting]"]);
same("after a Greek letter's bracket", inserts("μ[1,w"), ["waiting]"]);
const meaning = (text) => complete(text, text.length, vocabulary).options[0].about;
same("what a name means", meaning("pi"), "weight of a component");
same("what an element means", meaning("wai"), "mean of waiting in component 1");
same("what an index means", meaning("mu[2,er"), "mean of eruptions in component 2");
same("what a function means", meaning("log"), "natural logarithm");
same("Greek letters are read", spelled("π[1] - weight[2] + `μ[`", vocabulary), "pi[1] - pi[2] + `μ[`");
same("names are left alone", spelled("log(pi[1]) + mean(mu[1,])", vocabulary), "log(pi[1]) + mean(mu[1,])");

const option = complete("1 + mu[1,wa", 11, vocabulary);
same("accepted", accept("1 + mu[1,wa", option, option.options[0]), { text: "1 + mu[1,waiting]", caret: 17 });
const middle = complete("lo + 1", 2, vocabulary);
same("accepted in the middle", accept("lo + 1", middle, middle.options[0]), { text: "log( + 1", caret: 4 });

same("a mistake", mark("pi[3] + 1", 3, 4), ["pi[", "3", "] + 1"]);
same("a mistake at the end", mark("pi[1", 4, 4), ["pi[1", "", ""]);
return failures;
