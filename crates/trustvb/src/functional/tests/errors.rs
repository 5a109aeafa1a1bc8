//! The messages that users see, word for word where it matters.

use super::*;

fn gmm_error(text: &str) -> String {
    Functional::parse(text, &gmm().0).expect_err(text).to_string()
}

#[test]
fn messages_in_full() {
    for (text, expected) in [
        (
            "pi[3] + 1",
            "there is no component 3: this posterior has 2\n  pi[3] + 1\n     ^\n\
             use a component from 1 to 2",
        ),
        (
            "pi[0]",
            "indices count from 1, so there is no component 0\n  pi[0]\n     ^\n\
             use a component from 1 to 2",
        ),
        (
            "log(mu12)",
            "unknown quantity `mu12`\n  log(mu12)\n      ^^^^\n\
             did you mean mu[1,2]? its quantities are pi, mu, sigma, sd and cor",
        ),
        (
            "mu(1,2)",
            "`mu` is not a function\n  mu(1,2)\n  ^^\n\
             indices are written in [ ]; did you mean mu[1,2]?",
        ),
        (
            "mu[1,wating]",
            "there is no coordinate `wating`\n  mu[1,wating]\n       ^^^^^^\n\
             did you mean waiting? the coordinates are eruptions, waiting and a b",
        ),
        (
            "mu[1,] - pi",
            "vectors of different lengths: `mu[1,]` has 3, `pi` has 2\n  mu[1,] - pi\n           ^^\n\
             vectors are combined element by element; only single numbers are recycled",
        ),
        (
            "lgo(pi[1])",
            "unknown function `lgo`\n  lgo(pi[1])\n  ^^^\n\
             did you mean `log`? the functions are log, exp, sqrt, abs, logit, expit, min, max, sum and mean",
        ),
        ("(pi[1] + 2", "this ( is never closed\n  (pi[1] + 2\n  ^\nadd a )"),
        (
            "é + mu[1,4]",
            "unknown quantity `é`\n  é + mu[1,4]\n  ^\nits quantities are pi, mu, sigma, sd and cor",
        ),
        (
            "pi[1] +",
            "the functional ends too early\n  pi[1] +\n         ^\na number, a quantity or ( must follow",
        ),
    ] {
        assert_eq!(gmm_error(text), expected);
    }
}

#[test]
fn messages_say_what_to_do() {
    for (text, said, advice) in [
        ("", "the functional is empty", "pi[1]"),
        ("   ", "the functional is empty", "pi[1]"),
        (
            "mu[1]",
            "`mu` has 2 indices, but 1 is given",
            "write mu[component,coordinate]; an empty index",
        ),
        ("pi[1,2]", "`pi` has 1 index, but 2 are given", "write pi[component]"),
        ("pi[1.5]", "an index is a whole number, not 1.5", "from 1 to 2"),
        ("pi[-1]", "an index is a whole number or a name, not `-`", "count from 1"),
        ("mu[1,4]", "there is no coordinate 4: this posterior has 3", "or its name: eruptions"),
        ("pi[waiting]", "components have only numbers", "the first index of `pi` goes from 1 to 2"),
        ("beta[1,1]", "this posterior has no `beta`", "pi, mu, sigma, sd and cor"),
        ("sigm[1,1,1]", "unknown quantity `sigm`", "did you mean `sigma`?"),
        ("mu_1_2", "unknown quantity `mu_1_2`", "did you mean mu[1,2]?"),
        ("ln(pi[1])", "unknown function `ln`", "did you mean `log`?"),
        ("log", "`log` is a function", "write log(…)"),
        ("log(pi[1], 2)", "log takes 1 argument, but 2 are given", ""),
        ("sum(1,2)", "sum takes 1 argument, but 2 are given", "add numbers with +"),
        ("max()", "max takes at least 1 argument, but 0 are given", ""),
        ("2pi[1]", "expected an operator before `pi`", "2*pi[1]"),
        ("pi[1])", "this ) has no (", ""),
        ("pi[1", "this [ is never closed", "add a ]"),
        ("(pi[1]]", "expected ) but found `]`", ""),
        ("pi[1)", "expected ] but found `)`", ""),
        ("pi[1] ** 2", "there is no operator **", "^"),
        ("pi[1] − 2", "unexpected character `−`", "a minus is written -"),
        ("pi[1] > 0.5", "unexpected character `>`", "comparisons are not available"),
        ("mu[1:2,1]", "unexpected character `:`", "leave an index empty"),
        ("mu[1,`a b]", "this ` has no partner", "close the name"),
        ("`waiting`", "a quoted name can only be an index", "mu[1,`a column`]"),
        ("1e999", "1e999 is too large a number", ""),
        ("* 2", "expected a number, a quantity or ( but found `*`", ""),
        ("mu1,2", "unexpected `,`", "mu[1,2]"),
        ("(1)[2]", "only a quantity can be indexed", "mu[1,2]"),
        ("1/0", "this is inf whatever the parameters are", ""),
        ("log(-1)", "this is NaN whatever the parameters are", ""),
    ] {
        let error = gmm_error(text);
        assert!(error.contains(said), "{text}: {error}");
        assert!(error.contains(advice), "{text}: {error}");
    }
}

#[test]
fn spans_and_excerpts_of_long_texts() {
    let text = format!("{} oops {}", "1+".repeat(200), "+1".repeat(200));
    let error = Functional::parse(&text, &gmm().0).expect_err("oops");
    assert_eq!(&text[error.span()], "oops");
    assert_eq!((error.text(), error.message()), (text.as_str(), "unknown quantity `oops`"));
    assert!(error.suggestion().is_some());
    let shown = error.to_string();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[1].chars().count() < 80, "{shown}");
    let at = lines[2].find('^').expect("a caret");
    let under: String = lines[1].chars().skip(at).take(4).collect();
    assert_eq!((under.as_str(), lines[2].trim()), ("oops", "^^^^"));
}
