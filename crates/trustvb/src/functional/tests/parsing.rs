//! Precedence, slices, names and labels, and that no text whatever breaks the parser.

use super::*;
use proptest::prelude::*;

#[test]
fn precedence_is_that_of_arithmetic() {
    let (layout, parameters) = gmm();
    for (text, value) in [
        ("1+2*3", 7.0),
        ("(1+2)*3", 9.0),
        ("2^3^2", 512.0),
        ("-2^2", -4.0),
        ("(-2)^2", 4.0),
        ("2^-1", 0.5),
        ("10-3-2", 5.0),
        ("10-(3-2)", 9.0),
        ("16/4/2", 2.0),
        ("16/(4/2)", 8.0),
        ("16/4*2", 8.0),
        ("2*3+4*5", 26.0),
        ("--3", 3.0),
        ("+3 - -2", 5.0),
        ("2^-2^2", 0.0625),
        ("-3*2", -6.0),
        ("2*-3", -6.0),
        ("1e3+.5", 1000.5),
        ("2.5E-1", 0.25),
        ("1.", 1.0),
        ("max(1,2,-3)", 2.0),
        ("min(4, 2+1)", 3.0),
        ("abs(-2)*sqrt(9)", 6.0),
        ("sum(3)", 3.0),
        ("expit(logit(0.25))", 0.25),
        (" \t log(exp(2)) ", 2.0),
        ("1-(2-3)-4", -2.0),
        ("2*(3/4)/5", 0.3),
    ] {
        close(one(text, &layout).plug_in(&parameters), value);
    }
}

#[test]
fn slices_give_a_part_per_element() {
    let (layout, parameters) = gmm();
    let found = |text: &str| -> Vec<(String, String, f64)> {
        let describe =
            |p: &Part| (p.name().to_owned(), p.label().to_owned(), p.plug_in(&parameters));
        parts(text, &layout).iter().map(describe).collect()
    };
    let row = |name: &str, label: &str, x: f64| (name.to_owned(), label.to_owned(), x);
    assert_eq!(found("mu[1,1]"), [row("mu[1,1]", "mu[1,eruptions]", 4.0)]);
    assert_eq!(
        found("mu[1,]"),
        [
            row("mu[1,] [eruptions]", "mu[1,eruptions]", 4.0),
            row("mu[1,] [waiting]", "mu[1,waiting]", 80.0),
            row("mu[1,] [a b]", "mu[1,`a b`]", -1.0),
        ]
    );
    let difference = "mu[1,] - mu[2,]";
    assert_eq!(
        found(difference)[1],
        row("mu[1,] - mu[2,] [waiting]", "mu[1,] - mu[2,] [waiting]", 25.0)
    );
    assert_eq!(found("mu[,\"a b\"]")[1], row("mu[,\"a b\"] [2]", "mu[2,`a b`]", 2.0));
    assert_eq!(found("mu[1,c]".replace('c', "`a b`").as_str())[0].2, -1.0);
    for (text, n) in [
        ("pi[]", 2),
        ("pi", 2),
        ("mu", 6),
        ("mu[,]", 6),
        ("sigma", 18),
        ("sigma[1,,]", 9),
        ("cor[,1,2]", 2),
        ("pi*2+1", 2),
        ("mu[1,]*sd[1,]", 3),
        ("sum(mu)", 1),
        ("max(mu[1,], 3, pi)", 1),
        ("2^pi", 2),
    ] {
        assert_eq!(found(text).len(), n, "{text}");
    }
    // Tags that do not agree give way to numbers.
    assert_eq!(found("mu[1,]*sigma[1,,2]")[2].0, "mu[1,]*sigma[1,,2] [a b]");
    assert_eq!(found("pi + mu[,1]")[1].0, "pi + mu[,1] [2]");
    let (layout, _) = bmlr();
    let mixed = parts("pi[] + tau + noise", &layout);
    assert_eq!(mixed[2].name(), "pi[] + tau + noise [3]");
    assert_eq!(parts("beta", &layout)[5].name(), "beta [3,x1]");
    assert_eq!(parts("beta", &layout)[0].label(), "beta[1,`(Intercept)`]");
    assert_eq!(parts("beta[1,] * beta[1:1,]".replace(":1", "").as_str(), &layout).len(), 2);
}

#[test]
fn defaults_are_weights_and_means() {
    let texts = |layout: &Layout| -> Vec<String> {
        Functional::defaults(layout).iter().map(|f| f.text().to_owned()).collect()
    };
    assert_eq!(
        texts(&gmm().0),
        ["pi[1]", "pi[2]", "mu[1,1]", "mu[1,2]", "mu[1,3]", "mu[2,1]", "mu[2,2]", "mu[2,3]"]
    );
    assert_eq!(texts(&bmlr().0)[2..5], ["pi[3]", "beta[1,1]", "beta[1,2]"]);
}

#[test]
fn long_and_deep_texts_are_bounded() {
    let (layout, parameters) = gmm();
    let long = format!("0{}", "+1".repeat(4_999));
    close(one(&long, &layout).plug_in(&parameters), 4_999.0);
    let names = format!("pi[1]{}", "*mu[1,1]".repeat(1_200));
    assert!(one(&names, &layout).exact().is_none());
    let deep = format!("{}pi[1]{}", "(".repeat(98), ")".repeat(98));
    assert!(one(&deep, &layout).exact().is_some());
    for text in [
        format!("{long}+1"),
        format!("{}1{}", "(".repeat(101), ")".repeat(101)),
        "-".repeat(9_000),
        format!("2{}", "^2".repeat(4_000)),
        "log(".repeat(2_000),
        "[".repeat(9_000),
    ] {
        assert!(Functional::parse(&text, &layout).is_err());
    }
    let p = 300;
    let wide = Layout::new(
        2,
        (0..p).map(|j| format!("x{j}")).collect(),
        vec![Block::weights("pi", 2), Block::centre("mu_lambda", Family::NormalWishart, 2, p)],
    );
    assert_eq!(parts("mu", &wide).len(), 600);
    for text in
        ["sigma", "sum(mu)*mu + mu*sum(mu)", &format!("mu{}", "+mu".repeat(3_000)), "max(sigma)"]
    {
        let error = Functional::parse(text, &wide).expect_err("too large").to_string();
        assert!(error.contains("at most 100000"), "{error}");
    }
}

const PIECES: &[&str] = &[
    "pi",
    "mu",
    "sigma",
    "sd",
    "cor",
    "[",
    "]",
    "(",
    ")",
    ",",
    "1",
    "2",
    "3",
    "0",
    "0.5",
    "1e300",
    "+",
    "-",
    "*",
    "/",
    "^",
    "log",
    "exp",
    "sqrt",
    "abs",
    "logit",
    "expit",
    "min",
    "max",
    "sum",
    "mean",
    "`a b`",
    "\"",
    "`",
    " ",
    "waiting",
    "é",
    "pi[1]",
    "mu[1,]",
    "mu[2,1]",
    "sd[1,1]",
    "sigma[1,1,2]",
    "pi[]",
    "😀",
];

fn never_panics(text: &str) {
    let (layout, parameters) = gmm();
    match Functional::parse(text, &layout) {
        Ok(functional) => {
            let draws = Draws::sample(&layout, &parameters, 1, 3);
            for part in functional.parts() {
                part.plug_in(&parameters);
                draws.values(part);
                if let Some(law) = part.exact() {
                    law.describe();
                    law.density(&parameters, 0.3);
                    let u = law.cdf(&parameters, draws.values(part)[0]);
                    assert!(u.is_nan() || (0.0..=1.0).contains(&u), "{text}: {u}");
                }
            }
        }
        Err(error) => {
            let span = error.span();
            assert!(error.text().get(span).is_some(), "{text}");
            assert!(error.to_string().contains('^'));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_breaks_the_parser(text in "\\PC{0,60}") {
        never_panics(&text);
    }

    #[test]
    fn no_sequence_of_pieces_breaks_the_parser(pieces in prop::collection::vec(0..PIECES.len(), 0..24)) {
        never_panics(&pieces.iter().map(|&i| PIECES[i]).collect::<String>());
    }

    /// Random valid expressions: where an exact law is claimed, draws must lie in its support, and the
    /// law must give their middle value a middling probability.
    #[test]
    fn exact_laws_of_random_expressions_hold(
        choices in prop::collection::vec(0usize..1000, 1..16),
    ) {
        let (layout, parameters) = gmm();
        let text = expression(&mut choices.iter().copied());
        // Constants such as logit(2) are refused.
        let Ok(functional) = Functional::parse(&text, &layout) else { return Ok(()) };
        let part = &functional.parts()[0];
        // Rounding may push draws of a constant such as log(pi[1]+pi[2]) out of its range.
        if let Some(law) = part.exact().filter(|law| law.describe() != "constant") {
            let sample = Draws::sample(&layout, &parameters, 5, 400).law(part);
            // Values that rounding has made equal, such as expit(60), say nothing about the law.
            let (low, middle, high) =
                (sample.quantile(0.4), sample.quantile(0.5), sample.quantile(0.6));
            if middle.is_finite() && (middle - low).min(high - middle) > 1e-9 * middle.abs() {
                let u = law.cdf(&parameters, middle);
                prop_assert!((u - 0.5).abs() < 0.13, "{}: {} ({})", text, u, law.describe());
            }
        }
    }
}

/// An expression determined by a list of choices.
fn expression(choices: &mut impl Iterator<Item = usize>) -> String {
    const LEAVES: &[&str] =
        &["pi[1]", "pi[2]", "mu[1,1]", "mu[2,1]", "sd[1,1]", "sigma[1,1,1]", "2", "0.5", "3"];
    let Some(choice) = choices.next() else { return "pi[1]".to_owned() };
    let functions = ["log", "exp", "sqrt", "abs", "logit", "expit"];
    match choice % 16 {
        0..=4 => LEAVES[choice / 16 % LEAVES.len()].to_owned(),
        5..=8 => {
            let function = functions[choice / 16 % functions.len()];
            format!("{function}({})", expression(choices))
        }
        9 => format!("(-{})", expression(choices)),
        10 => format!("({})^{}", expression(choices), choice / 16 % 4),
        11 => format!("1/({})", expression(choices)),
        op => {
            let sign = ["+", "-", "*", "/"][op - 12];
            let left = expression(choices);
            format!("({left}){sign}({})", expression(choices))
        }
    }
}

#[test]
fn units_follow_the_form() {
    let (layout, _) = gmm();
    let names = &layout.coordinates;
    for (text, expected) in [
        ("pi[1]", Some(String::new())),
        ("mu[1,2] - 60", Some(names[1].clone())),
        ("mu[1,1] - mu[2,1]", Some(names[0].clone())),
        ("mu[1,1] - mu[2,2]", None),
        ("sd[1,2]", Some(names[1].clone())),
        ("sigma[1,2,2]", Some(format!("{}²", names[1]))),
        ("sigma[1,1,2]", Some(format!("{}·{}", names[0], names[1]))),
        ("cor[1,1,2]", Some(String::new())),
        ("2*sd[1,1]/sd[2,2]", Some(format!("{}/{}", names[0], names[1]))),
        ("1/mu[1,1]", Some(format!("1/{}", names[0]))),
        ("log(mu[1,1])", None),
        ("log(mu[1,1]/mu[2,1])", Some(String::new())),
        ("max(mu[1,1], mu[2,1])^2", Some(format!("{}²", names[0]))),
    ] {
        assert_eq!(one(text, &layout).unit(&layout), expected, "{text}");
    }
    let (layout, _) = bmlr();
    assert_eq!(one("beta[1,1]", &layout).unit(&layout).as_deref(), Some("response"));
    assert_eq!(one("beta[1,2]", &layout).unit(&layout).as_deref(), Some("response/x1"));
    assert_eq!(one("tau[1]", &layout).unit(&layout), None);
}
