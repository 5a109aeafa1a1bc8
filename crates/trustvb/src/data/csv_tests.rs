//! What CSV files are accepted, and what is said about the others.

use crate::remedy::{Advise, in_command};
use std::cell::Cell;

use proptest::prelude::*;

use super::*;
use crate::data::frame::Column;

fn read(text: &str) -> Result<Frame, DataError> {
    read_csv(text.as_bytes(), "file.csv", &ReadOptions::default())
}

fn columns(list: &[&str]) -> ReadOptions<'static> {
    let list = list.iter().map(|name| (*name).to_owned()).collect();
    ReadOptions { columns: Some(list), ..ReadOptions::default() }
}

fn dropping() -> ReadOptions<'static> {
    ReadOptions { drop_missing: true, ..ReadOptions::default() }
}

fn assert_says(error: DataError, fragments: &[&str]) {
    let message = error.advised(in_command);
    for fragment in fragments {
        assert!(message.contains(fragment), "{fragment:?} not in {message:?}");
    }
}

#[test]
fn files_that_are_refused() {
    let cases: &[(&str, &[&str])] = &[
        ("", &["file.csv is empty", "header line"]),
        ("\u{feff}", &["is empty"]),
        ("\n\r\n\n", &["is empty"]),
        ("x,y\n", &["header of 2 columns but 0 rows"]),
        ("x,y\n1,2\n3\n", &["line 3: 1 cell", "header has 2"]),
        ("x,y\n1,2\n\n3,4,5\n", &["line 4: 3 cells", "header has 2"]),
        ("x,y\r\n1,2\r\n3,4\r\n5\r\n", &["line 4: 1 cell"]),
        ("x,g\n1,\"a\nb\"\n2\n", &["line 2, column `g`: `a b` is not a number"]),
        ("x,y\n1,2\n3,\"4\n5,6\n", &["line 3, column `y`: `4 5,6"]),
        ("x,y\n\"1,2\n5,6\n", &["line 2: 1 cell", "close every quote"]),
        ("x,y\n1,2\n3,abc\n", &["file.csv, line 3, column `y`: `abc` is not a number"]),
        ("x\n0x1F\n", &["`0x1F` is not a number", "hexadecimal"]),
        ("x\n1_000\n", &["`1_000`", "underscores"]),
        ("x;y\n1;1,5\n", &["column `y`: `1,5` is not a number", "decimal comma"]),
        ("x,y\n1,\"1,234,567\"\n", &["thousands"]),
        ("x y\n1 2\n", &["column `x y`", "not by blanks"]),
        ("x,y\n1,NA\n", &["1 cell is missing", "1 row", "line 2, column `y`: `NA`"]),
        ("x\n1\n-\n?\n\\N\n", &["3 cells are missing", "line 3, column `x`: `-`"]),
        (
            "x,y\nnan,1\n,2\n1e400,-inf\n4,null\n5,.\n6,7\n8,N/A\n",
            &[
                "7 cells are missing or infinite, in 6 rows",
                "line 2, column `x`: `nan`; line 3, column `x`: empty; line 4, column `x`: `1e400`",
                "line 5, column `y`: `null`; and 2 more",
                "--drop-missing",
            ],
        ),
        ("x, x\n1,2\n", &["columns 1 and 2 are both named `x`"]),
        (",x\n1,2\n", &["column 1 has no name", "row.names = FALSE"]),
        ("x,y,\n1,2,3\n", &["column 3 has no name"]),
        ("1,2.5\n3,4\n", &["line 1", "every entry is a number", "`1`", "names of the columns"]),
        ("PK\u{3}\u{4}zip", &["Excel"]),
    ];
    for (text, fragments) in cases {
        assert_says(read(text).unwrap_err(), fragments);
    }
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let options = ReadOptions::default();
    let read = |bytes: &[u8]| read_csv(bytes, "file.csv", &options).unwrap_err();
    assert_says(read(b"x,y\n1,\xff\n"), &["line 2, column `y`", "not valid UTF-8"]);
    assert_says(read(b"x,\xff\n1,2\n"), &["line 1, column 2", "UTF-8"]);
    assert_says(read(b"\xff\xfex\0"), &["UTF-16"]);
    assert_says(read(b"\x1f\x8b\x08"), &["gzip", "unpack"]);
}

#[test]
fn variants_that_are_accepted() {
    for text in [
        "x,y\n1,2\n3,4\n",
        "x,y\n1,2\n3,4",
        "x,y\r\n1,2\r\n3,4\r\n",
        "x,y\r1,2\r3,4\r",
        "\u{feff}x,y\n1,2\n3,4\n",
        "\u{feff}\"x\",y\n1,2\n3,4\n",
        " x , y \n 1 ,\t2\n+3,4.\n",
        "\"x\",\"y\"\n\"1\",\"2\"\n\"3\",\"4\"\n",
        "x\ty\n1\t2\n3\t4\n",
        "x;y\n1;2\n3;4\n",
        "\n\nx,y\n\n1,2\n\n3,4\n\n",
        "x,y\n1e0,.2e1\n30e-1,4\n",
    ] {
        let frame = read(text).unwrap();
        assert_eq!(frame.names(), ["x", "y"], "{text:?}");
        assert_eq!(frame.numeric(0).unwrap(), [1.0, 3.0], "{text:?}");
        assert_eq!(frame.numeric(1).unwrap(), [2.0, 4.0], "{text:?}");
    }
    let tabbed = read_csv("a,b\tc\n1\t2\n".as_bytes(), "FILE.TSV", &ReadOptions::default());
    assert_eq!(tabbed.unwrap().names(), ["a,b", "c"]);
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    for end in ["\n", "\r\n", "\r"] {
        let text =
            ["", "g,x", "", "\"a", "b\",1", "c,2", "", "d,3"].map(|line| format!("{line}{end}"));
        let options = ReadOptions { text_columns: vec!["g".into()], ..ReadOptions::default() };
        let frame = read_csv(text.concat().as_bytes(), "file.csv", &options).unwrap();
        let lines: Vec<u64> = (0..3).map(|i| frame.row_number(i)).collect();
        assert_eq!(lines, [4, 6, 8]);
    }
}

#[test]
fn columns_are_chosen_by_name_or_number() {
    let text = "id,x,y,g,x\n1,2,3,a,9\n4,5,6,b,9\n";
    let read = |options: &ReadOptions<'_>| read_csv(text.as_bytes(), "file.csv", options);
    let frame = read(&columns(&["y", "1"])).unwrap();
    assert_eq!(frame.names(), ["y", "id"]);
    assert_eq!(frame.numeric(0).unwrap(), [3.0, 6.0]);

    let mut options = columns(&["y"]);
    options.text_columns.push("g".into());
    let frame = read(&options).unwrap();
    assert_eq!(frame.names(), ["y", "g"]);
    let Column::Text(text_column) = frame.column(1) else { panic!("g is text") };
    assert_eq!(text_column.levels(), ["a", "b"]);
    assert_says(frame.into_dataset().unwrap_err(), &["column `g` holds text", "`a`"]);

    let skip = ["x", "g", "5"].map(str::to_owned).to_vec();
    let frame = read(&ReadOptions { skip_columns: skip, ..ReadOptions::default() }).unwrap();
    assert_eq!(frame.names(), ["id", "y"]);

    assert_says(read(&columns(&["x"])).unwrap_err(), &["columns 2 and 5", "`x`"]);
    assert_says(read(&columns(&["y", "3"])).unwrap_err(), &["`y`", "asked for twice"]);
    assert_says(read(&columns(&["7"])).unwrap_err(), &["no column `7`", "its columns are `id`"]);
    assert_says(read(&columns(&["0"])).unwrap_err(), &["no column `0`"]);
    assert_says(read(&columns(&[])).unwrap_err(), &["no column is left of its 5"]);
    let waiting = "eruptions,waiting\n1,2\n";
    let error = read_csv(waiting.as_bytes(), "f.csv", &columns(&["Watting"])).unwrap_err();
    assert_says(error, &["no column `Watting`", "did you mean `waiting`?", "`eruptions`"]);
}

#[test]
fn rows_with_missing_cells_are_dropped_on_request() {
    let text = "x,y\n1,2\nNA,3\n4,5\n6,inf\n";
    let frame = read_csv(text.as_bytes(), "file.csv", &dropping()).unwrap();
    assert_eq!(frame.numeric(0).unwrap(), [1.0, 4.0]);
    assert_eq!(frame.dropped_rows(), [3, 5]);
    assert_eq!((frame.row_number(0), frame.row_number(1)), (2, 4));
    let none = read_csv("x\nNA\n\"\"\n".as_bytes(), "file.csv", &dropping()).unwrap_err();
    assert_says(none, &["each of its 2 rows", "none is left without them"]);
    let mut options = dropping();
    options.text_columns.push("g".into());
    let frame = read_csv("x,g\n1,NA\n2,none\n".as_bytes(), "file.csv", &options).unwrap();
    assert_eq!((frame.n_rows(), frame.dropped_rows()), (1, &[2][..]));
}

#[test]
fn thousands_of_columns_are_fine() {
    let names: Vec<String> = (0..5000).map(|j| format!("x{j}")).collect();
    let row: Vec<String> = (0..5000).map(|j| format!("{j}.5")).collect();
    let text = format!("{}\n{}\n", names.join(","), row.join(","));
    let frame = read(&text).unwrap();
    assert_eq!(frame.numeric(4999).unwrap(), [4999.5]);
    let error = read_csv(text.as_bytes(), "file.csv", &columns(&["z"])).unwrap_err();
    assert_says(error, &["no column `z`", "it has 5000 columns"]);
}

#[test]
fn a_long_file_streams_with_progress() {
    const ROWS: usize = 100_000;
    let mut text = String::from("a,b,c\n");
    for i in 0..ROWS {
        text.push_str(&format!("{i},{},{}\n", i as f64 / 7.0, -(i as f64)));
    }
    let calls = Cell::new((0_u32, 0_u64));
    let progress = |done: u64, total: u64| {
        assert!(done >= calls.get().1 && done <= total);
        calls.set((calls.get().0 + 1, done));
    };
    let options = ReadOptions { progress: Some(&progress), ..ReadOptions::default() };
    let total = text.len() as u64;
    let frame = read_csv_sized(text.as_bytes(), "file.csv", &options, total).unwrap();
    assert_eq!(frame.n_rows(), ROWS);
    assert_eq!(frame.numeric(1).unwrap()[ROWS - 1], (ROWS - 1) as f64 / 7.0);
    assert_eq!(frame.row_number(ROWS - 1), ROWS as u64 + 1);
    assert!(calls.get().0 > 3 && calls.get().1 == total);
}

fn any_dataset() -> impl Strategy<Value = Dataset> {
    (1..5_usize, 1..20_usize).prop_flat_map(|(n_columns, n_rows)| {
        let finite = prop_oneof![
            any::<f64>().prop_filter("finite", |v| v.is_finite()),
            (-1e6..1e6_f64),
            Just(-0.0),
        ];
        let column = prop::collection::vec(finite, n_rows);
        let name = "[a-zé][ -~é]{0,6}[a-z]";
        (prop::collection::hash_set(name, n_columns), prop::collection::vec(column, n_columns))
            .prop_map(|(names, columns)| {
                Dataset::from_columns(names.into_iter().collect(), columns).unwrap()
            })
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(dataset in any_dataset()) {
        let mut bytes = Vec::new();
        write_csv(&dataset, &mut bytes).unwrap();
        let back = read_csv(bytes.as_slice(), "the data", &ReadOptions::default())
            .unwrap().into_dataset().unwrap();
        prop_assert_eq!(back.names(), dataset.names());
        for j in 0..dataset.n_columns() {
            let bits = |column: &[f64]| column.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(back.column(j)), bits(dataset.column(j)));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_csv(bytes.as_slice(), "file.csv", &ReadOptions::default());
        let _ = read_csv(bytes.as_slice(), "file.csv", &dropping());
    }

    #[test]
    fn no_mutation_makes_it_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = b"a,\"b\",g\r\n1,2.5,x\r\n\"3\",NA,\"y\"\n4,5,\"z\"\"z\"\n".to_vec();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        for drop_missing in [false, true] {
            let text_columns = vec!["3".to_owned()];
            let options = ReadOptions { text_columns, drop_missing, ..ReadOptions::default() };
            if let Ok(frame) = read_csv(bytes.as_slice(), "file.csv", &options) {
                prop_assert!(frame.n_rows() > 0);
            }
        }
    }
}
