//! What is thrown at: everything that reads what somebody else wrote.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use trustvb::calibrate::Law;
use trustvb::data::{Dataset, Formula, ReadOptions, read_csv, read_path, write_parquet};
use trustvb::fit::{FitOptions, Start, Stopping, fit};
use trustvb::functional::Functional;
use trustvb::location::Location;
use trustvb::model::{BmlrPrior, GaussianMixture, Gmm, GmmPrior, Update};
use trustvb::posterior::{Layout, Posterior};
use trustvb::study::{PRESETS, Study};
use trustvb::table::{TvbTable, check, open, save};
use trustvb_report::explore::{ExploreOptions, Explorer};

/// What is done with an input.
type Run = Box<dyn FnMut(&[u8])>;

/// One kind of input.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Inputs in each round: quick targets get more.
    pub(crate) share: usize,
    pub(crate) seeds: Vec<Vec<u8>>,
    pub(crate) words: &'static [&'static str],
    pub(crate) run: Run,
}

/// All of them, with their scratch folder.
pub(crate) fn all() -> Vec<Target> {
    let scratch = tempfile::tempdir().expect("a scratch folder").keep();
    let table = small_table();
    vec![
        csv(),
        parquet(&scratch),
        formulas(),
        quantities(&table),
        priors(),
        studies(),
        manifests(&scratch, &table),
        parts(&scratch, &table),
        requests(table),
    ]
}

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn small_data() -> Dataset {
    let column =
        |f: f64| (0..24).map(|i| (f64::from(i) * f).sin() + f64::from(i % 2) * 4.0).collect();
    Dataset::from_columns(vec!["a".into(), "b c".into()], vec![column(1.3), column(0.7)])
        .expect("data")
}

fn small_table() -> TvbTable {
    let problem = GaussianMixture::new(2).bind(small_data()).expect("a model");
    problem.table().grid(4).bootstraps(6).build().expect("a table")
}

fn csv() -> Target {
    let run = |input: &[u8]| {
        for options in [
            ReadOptions::default(),
            ReadOptions {
                drop_missing: true,
                text_columns: vec!["g".into()],
                ..ReadOptions::default()
            },
        ] {
            let Ok(frame) = read_csv(input, "input.csv", &options) else { continue };
            if let Ok(data) = frame.into_dataset() {
                let _ = data.check_for_mixture(2);
            }
        }
    };
    Target {
        name: "csv",
        share: 30,
        seeds: seeds(&[
            "x,y\n1,2\n3,4.5\n5,6\n7,1\n",
            "\u{feff}a;b;g\r\n1;2;u\r\n\"3\";NA;\"v\"\"w\"\r\n",
            "# note\ng\tx\n\n1\t1e300\n2\t-1e-300\n",
            "x\n1,5\n2\n",
        ]),
        words: &[
            ",",
            ";",
            "\t",
            "\"",
            "\n",
            "\r\n",
            "NA",
            "1e308",
            "\u{feff}",
            "-",
            "?",
            "\\N",
            "\0",
            "\u{1b}[31m",
        ],
        run: Box::new(run),
    }
}

fn parquet(scratch: &Path) -> Target {
    let file = scratch.join("data.parquet");
    write_parquet(&small_data(), &file).expect("a file");
    let sound = std::fs::read(&file).expect("a file");
    let run = move |input: &[u8]| {
        std::fs::write(&file, input).expect("a file");
        if let Ok(frame) = read_path(&file, &ReadOptions::default()) {
            let _ = frame.into_dataset();
        }
    };
    Target { name: "parquet", share: 10, seeds: vec![sound], words: &["PAR1"], run: Box::new(run) }
}

fn formulas() -> Target {
    let frame =
        |text: &str| read_csv(text.as_bytes(), "d.csv", &ReadOptions::default()).expect("a frame");
    let frame = frame("y,x1,x2,g\n1,2,3,1\n2,1,0,1\n4,4,1,2\n3,2,2,2\n5,1,7,3\n");
    let run = move |input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        if let Ok(formula) = Formula::parse(&text)
            && let Ok(data) = formula.apply(&frame)
        {
            let _ = data.check_for_mixture(2, 1);
        }
    };
    Target {
        name: "formula",
        share: 40,
        seeds: seeds(&[
            "y ~ x1 + x2 | g",
            "y ~ 0 + x1:x2 + I(x1^2)",
            "log(y) ~ . - x1 - 1 | g",
            "`y` ~ (x1 + x2)^2",
        ]),
        words: &[
            "~", "+", "-", ":", "*", "^", "(", ")", "I(", "log(", "|", "`", ".", "0", "1", "x1",
            "y", "/", "%in%",
        ],
        run: Box::new(run),
    }
}

/// Parses, and asks everything that is asked of a quantity.
fn ask(text: &str, layout: &Arc<Layout>, parameters: &[f64]) {
    let Ok(functional) = Functional::parse(text, layout) else { return };
    for part in functional.parts().iter().take(3) {
        let _ = part.plug_in(parameters);
        if part.size() < 50 {
            let law = Law::new(part, layout.clone(), false, 1, 20);
            let _ = law.interval(parameters, 0.9);
            let _ = law.place(parameters, 0.3);
        }
    }
}

fn quantities(table: &TvbTable) -> Target {
    let layout = table.layout().clone();
    let parameters = table.zeroth(trustvb::resample::Design::Full, 0).expect("a fit").to_vec();
    let posterior = Posterior::new(layout.clone(), parameters.clone());
    assert_eq!(posterior.weights().len(), 2);
    let run = move |input: &[u8]| ask(&String::from_utf8_lossy(input), &layout, &parameters);
    Target {
        name: "quantity",
        share: 60,
        seeds: seeds(&[
            "mu[1,a] - mu[2,a]",
            "sd[1,1]/sd[2,1]",
            "logit(pi[1])",
            "sum(mu[1,])",
            "cor[1,1,2]^2",
            "max(pi[1], pi[2])",
            "exp(mu[1,'b c']) + 1e3",
            "-sigma[2,1,2]",
            "abs(mean(mu)) * 2",
        ]),
        words: &[
            "(", ")", "[", "]", ",", "+", "-", "*", "/", "^", "pi", "mu", "sd", "cor", "sigma",
            "sum(", "mean(", "log(", "exp(", "sqrt(", "min(", "1e308", "0", "1", "2", "99",
            "'b c'", " ",
        ],
        run: Box::new(run),
    }
}

fn priors() -> Target {
    let data = small_data();
    let run = move |input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        let _ = toml::from_str::<BmlrPrior>(&text);
        if let Ok(prior) = toml::from_str::<GmmPrior>(&text)
            && let Ok(model) = Gmm::new(&data, 2, prior, Update::Corrected)
        {
            let options = FitOptions {
                stopping: Stopping::Relative(1e-2),
                max_sweeps: 5,
                ..FitOptions::default()
            };
            let start = Start::KMeans { restarts: 1, seed: 1 };
            let _ = fit(&model, None, 1.0, &start, &options, &mut |_| ());
        }
    };
    Target {
        name: "prior",
        share: 20,
        seeds: seeds(&[
            "alpha0 = 0.5\nm0 = [0.0, 1.0]\nbeta0 = 1e-2\nnu0 = 3.0\nW0 = [[1.0, 0.0], [0.0, 1.0]]\n",
            "base = \"paper\"\nbeta0 = 2\n",
            "a0 = 1\nb0 = 2\nc0 = 0.1\nd0 = 3\nlambda = 0.5\n",
        ]),
        words: &[
            "=",
            "[",
            "]",
            "nan",
            "inf",
            "-inf",
            "alpha0",
            "W0",
            "nu0",
            "1e308",
            "1e-308",
            "-1",
            "0",
            "\"default\"",
        ],
        run: Box::new(run),
    }
}

fn studies() -> Target {
    let run = |input: &[u8]| {
        if let Ok(study) = Study::parse(&String::from_utf8_lossy(input), "input.toml") {
            let _ = study.check();
            let _ = Study::parse(&study.to_toml(), "again");
            let _ = study.only(&["a*".to_owned()]);
        }
    };
    Target {
        name: "study",
        share: 10,
        seeds: PRESETS.iter().map(|(_, text)| text.as_bytes().to_vec()).collect(),
        words: &[
            "[[design]]\n",
            "n = ",
            "simulate = ",
            "{",
            "}",
            "[",
            "]",
            "1e308",
            "-1",
            "0",
            "weights = []\n",
            "\"\"",
        ],
        run: Box::new(run),
    }
}

/// A saved table, and its files by name.
fn saved(scratch: &Path, name: &str, table: &TvbTable) -> (Location, PathBuf) {
    let folder = scratch.join(name);
    let place = Location::from(folder.clone());
    save(table, &place).expect("a table is saved");
    (place, folder)
}

fn manifests(scratch: &Path, table: &TvbTable) -> Target {
    let (place, folder) = saved(scratch, "manifests.tvb", table);
    let file = folder.join("manifest.json");
    let sealed = std::fs::read(&file).expect("a manifest");
    // A manifest of the first format has no hash to be caught by.
    let mut old: serde_json::Value = serde_json::from_slice(&sealed).expect("JSON");
    let fields = old.as_object_mut().expect("fields");
    fields.remove("hash");
    fields.insert("schema".to_owned(), 1.into());
    let seeds = vec![sealed, old.to_string().into_bytes()];
    let run = move |input: &[u8]| {
        std::fs::write(&file, input).expect("a manifest");
        let _ = open(&place);
    };
    Target {
        name: "manifest",
        share: 4,
        seeds,
        words: &[
            "{",
            "}",
            "[",
            "]",
            "\"",
            ":",
            ",",
            "null",
            "true",
            "\"hash\"",
            "\"schema\":1",
            "1e999",
            "-1",
            "0",
        ],
        run: Box::new(run),
    }
}

fn parts(scratch: &Path, table: &TvbTable) -> Target {
    let (place, folder) = saved(scratch, "parts.tvb", table);
    let file = folder.join("parts/full-00000.parquet");
    let sound = std::fs::read(&file).expect("a part");
    let reference = format!("{:?}", open(&place).expect("a table").paths().collect::<Vec<_>>());
    let run = move |input: &[u8]| {
        std::fs::write(&file, input).expect("a part");
        let _ = check(&place);
        // Refused, or the same numbers: a changed part that is believed is a finding.
        if let Ok(table) = open(&place) {
            assert_eq!(
                format!("{:?}", table.paths().collect::<Vec<_>>()),
                reference,
                "another answer"
            );
        }
    };
    Target {
        name: "part",
        share: 4,
        seeds: vec![sound],
        words: &["PAR1", "trustvb.part"],
        run: Box::new(run),
    }
}

fn requests(table: TvbTable) -> Target {
    let options = ExploreOptions { bind: [127, 0, 0, 1].into(), port: 0, token: false, draws: 20 };
    let explorer = Explorer::new(vec![("t.tvb".to_owned(), table)], &options).expect("an explorer");
    let address = explorer.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
    std::thread::spawn(move || explorer.serve(std::future::pending()).expect("it serves"));
    let post = |path: &str, body: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nOrigin: http://{address}\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    };
    let get = |path: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").into_bytes()
    };
    let sound = get("/");
    let seeds = vec![
        sound.clone(),
        get("/api/tables"),
        post("/api/check", r#"{"table":0,"functional":"pi[1]"}"#),
        post(
            "/api/ask",
            r#"{"table":0,"functional":"mu[1,a]-mu[2,a]","level":0.9,"methods":["vb","tvb"]}"#,
        ),
        post("/api/list", r#"{"table":0,"functionals":["pi[1]"],"level":0.9,"methods":["vb"]}"#),
        post("/api/overview", r#"{"table":0,"functionals":["pi[1]","mu[1,]"],"level":0.9}"#),
        post(
            "/api/export",
            r#"{"table":0,"functionals":["pi[1]"],"level":0.9,"methods":["vb"],"format":"csv"}"#,
        ),
    ];
    let mut sent = 0u64;
    let run = move |input: &[u8]| {
        let fixed = if sent.is_multiple_of(4) { input.to_vec() } else { with_length(input) };
        talk(&address, &fixed, Duration::from_millis(40));
        sent += 1;
        // A server that has lost its threads would not answer any more.
        if sent % 50 == 1 {
            let answer = talk(&address, &sound, Duration::from_secs(20));
            assert!(answer.starts_with(b"HTTP/1.1 200"), "the explorer no longer answers");
        }
    };
    Target {
        name: "request",
        share: 2,
        seeds,
        words: &[
            "\r\n",
            "Host: x\r\n",
            "Content-Length: 99\r\n",
            "GET ",
            "POST ",
            "/api/",
            "{",
            "}",
            "\"",
            "1e999",
            "-1",
        ],
        run: Box::new(run),
    }
}

/// The request with the length that its body has, where it states one: most changes of a body would otherwise leave
/// the server waiting.
fn with_length(input: &[u8]) -> Vec<u8> {
    let find = |what: &[u8]| input.windows(what.len()).position(|window| window == what);
    let (Some(length), Some(end)) = (find(b"Content-Length: "), find(b"\r\n\r\n")) else {
        return input.to_vec();
    };
    let from = length + b"Content-Length: ".len();
    let digits = input[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    if from > end {
        return input.to_vec();
    }
    let body = (input.len() - end - 4).to_string();
    [&input[..from], body.as_bytes(), &input[from + digits..]].concat()
}

/// Sends bytes and reads what comes, for as long as that takes at most.
fn talk(address: &str, bytes: &[u8], patience: Duration) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let _ = stream.set_read_timeout(Some(patience));
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}
