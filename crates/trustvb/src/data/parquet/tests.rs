//! Parquet files as other programs write them, round trips, and damaged ones.

use crate::remedy::{Advise, in_command};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

use super::*;
use crate::data::dataset::Dataset;
use crate::data::error::DataError;
use crate::data::frame::{Column, Frame};
use crate::data::pieces::Pieces;
use crate::data::read::{ReadOptions, read_path};

/// One column of a test file: values, and definition levels where there are nulls.
enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>, Option<Vec<i16>>),
    Text(Vec<&'static [u8]>, Option<Vec<i16>>),
    List(Vec<i32>, Vec<i16>, Vec<i16>),
}

fn write(path: &Path, schema: &str, columns: &[Values]) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for values in columns {
        let mut column = group.next_column().unwrap().unwrap();
        match values {
            Values::Bool(v) => column.typed::<BoolType>().write_batch(v, None, None),
            Values::Int32(v) => column.typed::<Int32Type>().write_batch(v, None, None),
            Values::Int64(v) => column.typed::<Int64Type>().write_batch(v, None, None),
            Values::Float(v) => column.typed::<FloatType>().write_batch(v, None, None),
            Values::Double(v, levels) => {
                column.typed::<DoubleType>().write_batch(v, levels.as_deref(), None)
            }
            Values::Text(v, levels) => {
                let v: Vec<ByteArray> =
                    v.iter().map(|text| ByteArray::from(text.to_vec())).collect();
                column.typed::<ByteArrayType>().write_batch(&v, levels.as_deref(), None)
            }
            Values::List(v, levels, repeats) => {
                column.typed::<Int32Type>().write_batch(v, Some(levels), Some(repeats))
            }
        }
        .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

fn read_written(
    schema: &str,
    columns: &[Values],
    options: &ReadOptions<'_>,
) -> Result<Frame, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.csv");
    write(&path, schema, columns);
    let whole = read_path(&path, options);
    for rows in [1, 3] {
        assert_pieces_are(&whole, &path, options, rows);
    }
    whole
}

/// Whatever a file holds, pieces of it say the same as the whole, or refuse it with the same words.
fn assert_pieces_are(
    whole: &Result<Frame, DataError>,
    path: &Path,
    options: &ReadOptions<'_>,
    rows: usize,
) {
    let pieces = Pieces::open(path, options, rows).and_then(|pieces| pieces.collect());
    let pieces: Vec<Frame> = match (pieces, whole) {
        (Ok(pieces), Ok(_)) => pieces,
        (pieces, whole) => {
            let (said, expected) = (pieces.unwrap_err(), whole.as_ref().unwrap_err());
            return assert_eq!(said.to_string(), expected.to_string());
        }
    };
    let cells = |frame: &Frame| -> Vec<(u64, Vec<String>)> {
        let cell = |j: usize, i: usize| match frame.column(j) {
            Column::Numeric(values) => values[i].to_string(),
            Column::Text(text) => text.get(i).to_owned(),
        };
        let row = |i: usize| (0..frame.n_columns()).map(|j| cell(j, i)).collect();
        (0..frame.n_rows()).map(|i| (frame.row_number(i), row(i))).collect()
    };
    let whole = whole.as_ref().unwrap();
    assert_eq!(pieces.iter().flat_map(cells).collect::<Vec<_>>(), cells(whole));
    let dropped: Vec<u64> = pieces.iter().flat_map(Frame::dropped_rows).copied().collect();
    assert_eq!(dropped, whole.dropped_rows());
}

#[test]
fn whole_numbers_that_a_double_would_round_are_refused() {
    let schema = "message schema { REQUIRED INT64 id; REQUIRED INT64 n (INTEGER(64,false)); }";
    let read = |id: i64, n: i64| {
        let columns = [Values::Int64(vec![1, id, 2]), Values::Int64(vec![1, n, 3])];
        read_written(schema, &columns, &ReadOptions::default())
    };
    assert!(read(1 << 53, -1 << 40).is_ok());
    for (id, n, value) in [
        ((1 << 53) + 1, 0, "9007199254740993"),
        (i64::MIN + 1, 0, "-9223372036854775807"),
        (0, -1, "18446744073709551615"),
    ] {
        let message = read(id, n).unwrap_err().advised(in_command);
        assert!(message.contains(&format!("holds {value}, which a double cannot")), "{message}");
    }
}

#[test]
fn pieces_cross_row_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.parquet");
    let schema = "message m { required double x; optional byte_array g (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut row = 0;
    for size in [5, 1, 0, 9, 4] {
        let x: Vec<f64> = (row..row + size).map(f64::from).collect();
        // Every sixth label is missing.
        let levels: Vec<i16> = (row..row + size).map(|i| i16::from(i % 6 != 2)).collect();
        let labels = levels.iter().filter(|level| **level == 1);
        let labels: Vec<ByteArray> = labels.map(|_| ByteArray::from("a")).collect();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&x, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&labels, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        row += size;
    }
    writer.close().unwrap();
    for drop_missing in [false, true] {
        let options = ReadOptions { drop_missing, ..text_column("g") };
        let whole = read_path(&path, &options);
        assert_eq!(whole.is_ok(), drop_missing);
        for rows in [1, 2, 4, 7, 19, 100] {
            assert_pieces_are(&whole, &path, &options, rows);
        }
    }
}

fn text_column(name: &str) -> ReadOptions<'static> {
    ReadOptions { text_columns: vec![name.to_owned()], ..ReadOptions::default() }
}

#[test]
fn flat_types_are_read_as_numbers() {
    let schema = "message m {
        required boolean b; required int32 i; required int64 l; required float f;
        optional double d; required int32 u (UINT_32); required int32 s (INTEGER(8, true));
    }";
    let columns = [
        Values::Bool(vec![true, false]),
        Values::Int32(vec![-1, 2]),
        Values::Int64(vec![1 << 40, -3]),
        Values::Float(vec![0.5, 1.5]),
        Values::Double(vec![0.1, 0.2], Some(vec![1, 1])),
        Values::Int32(vec![-1, 7]),
        Values::Int32(vec![-1, 7]),
    ];
    let frame = read_written(schema, &columns, &ReadOptions::default()).unwrap();
    let expected = [
        [1.0, 0.0],
        [-1.0, 2.0],
        [(1_u64 << 40) as f64, -3.0],
        [0.5, 1.5],
        [0.1, 0.2],
        [4_294_967_295.0, 7.0],
        [-1.0, 7.0],
    ];
    for (j, values) in expected.iter().enumerate() {
        assert_eq!(frame.numeric(j).unwrap(), values, "column {}", frame.names()[j]);
    }
}

#[test]
fn groups_may_be_text_or_integers() {
    let schema = "message m { required int64 id; optional binary g (UTF8); }";
    let columns = || {
        [
            Values::Int64(vec![7, 8, 7]),
            Values::Text(vec![b"north", b"s\xc3\xbcd"], Some(vec![1, 0, 1])),
        ]
    };
    let mut options = text_column("id");
    options.text_columns.push("g".into());
    options.drop_missing = true;
    let frame = read_written(schema, &columns(), &options).unwrap();
    let Column::Text(ids) = frame.column(0) else { panic!("id is text") };
    let Column::Text(groups) = frame.column(1) else { panic!("g is text") };
    assert_eq!(
        (ids.levels(), groups.levels()),
        (&["7".to_owned()][..], &["north", "süd"].map(str::to_owned)[..])
    );
    assert_eq!(frame.dropped_rows(), [2]);
    assert_eq!(frame.row_number(1), 3);

    let message =
        read_written(schema, &columns(), &text_column("g")).unwrap_err().advised(in_command);
    assert!(message.contains("1 cell is missing"), "{message}");
    assert!(message.contains("row 2, column `g`: `null`"), "{message}");
    let message =
        read_written(schema, &columns(), &ReadOptions::default()).unwrap_err().advised(in_command);
    assert!(message.contains("column `g` is of the Parquet type UTF8; it holds text"), "{message}");
}

#[test]
fn missing_cells_are_listed_in_the_order_of_rows() {
    let schema = "message m { optional double a; required double b; }";
    let columns = || {
        [
            Values::Double(vec![1.0, 2.0], Some(vec![1, 0, 1, 0])),
            Values::Double(vec![f64::INFINITY, 2.0, f64::NAN, 4.0], None),
        ]
    };
    let options = ReadOptions::default();
    let message = read_written(schema, &columns(), &options).unwrap_err().advised(in_command);
    let expected = "4 cells are missing or infinite, in 4 rows (row 1, column `b`: `inf`; row 2, \
                    column `a`: `null`; row 3, column `b`: `NaN`; row 4, column `a`: `null`)";
    assert!(message.contains(expected), "{message}");
    let options = ReadOptions { drop_missing: true, ..ReadOptions::default() };
    let message = read_written(schema, &columns(), &options).unwrap_err().advised(in_command);
    assert!(message.contains("each of its 4 rows"), "{message}");
}

#[test]
fn other_types_are_refused_by_name() {
    let int32 = || Values::Int32(vec![1]);
    let int64 = || Values::Int64(vec![1]);
    let cases = [
        ("required int32 x (DATE);", int32(), "Date"),
        ("required int64 x (TIMESTAMP(MICROS, true));", int64(), "Timestamp"),
        ("required int64 x (TIME(MICROS, true));", int64(), "Time"),
        ("required int32 x (DECIMAL(9, 2));", int32(), "Decimal"),
        ("required binary x (JSON);", Values::Text(vec![b"{}"], None), "Json"),
        ("required group x { required int32 y; }", int32(), "nested"),
        (
            "optional group x (LIST) { repeated group list { required int32 element; } }",
            Values::List(vec![1, 2], vec![2, 2], vec![0, 1]),
            "nested",
        ),
    ];
    for (field, values, fragment) in cases {
        let schema = format!("message m {{ {field} }}");
        let columns = [values];
        for options in [ReadOptions::default(), text_column("x")] {
            let message =
                read_written(&schema, &columns, &options).unwrap_err().advised(in_command);
            assert!(message.contains("column `x` is of the Parquet type"), "{message}");
            assert!(message.contains(fragment), "{fragment:?} not in {message:?}");
            assert!(message.contains("--columns"), "{message}");
        }
    }
    let schema = "message m { required double x; required group n { required int32 y; } }";
    let columns = [Values::Double(vec![1.0], None), int32()];
    let options = ReadOptions { columns: Some(vec!["x".into()]), ..ReadOptions::default() };
    assert_eq!(read_written(schema, &columns, &options).unwrap().names(), ["x"]);
    let schema = "message m { required binary g; }";
    let columns = [Values::Text(vec![b"a", b"\xff"], None)];
    let message =
        read_written(schema, &columns, &text_column("g")).unwrap_err().advised(in_command);
    assert!(message.contains("row 2, column `g`") && message.contains("UTF-8"), "{message}");
}

#[test]
fn writing_replaces_the_file_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("faithful.parquet");
    fs::write(&path, "old").unwrap();
    let data = Dataset::faithful();
    write_parquet(&data, &path).unwrap();
    let back = read_path(&path, &ReadOptions::default()).unwrap().into_dataset().unwrap();
    assert_eq!(back.with_source("Old Faithful"), data);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = folder.path().join("no/such/folder.parquet");
    let message = write_parquet(&data, &nowhere).unwrap_err().advised(in_command);
    assert!(message.contains("cannot be written"), "{message}");
    write_parquet(&data, folder.path()).unwrap_err();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn many_rows_make_several_row_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.parquet");
    let values: Vec<f64> = (0..1_100_000).map(|i| f64::from(i) / 3.0).collect();
    let data = Dataset::from_columns(vec!["x".into()], vec![values]).unwrap();
    write_parquet(&data, &path).unwrap();
    let seen = std::cell::Cell::new((0, 0));
    let progress = |done: u64, total: u64| seen.set((done, total));
    let options = ReadOptions { progress: Some(&progress), ..ReadOptions::default() };
    let back = read_path(&path, &options).unwrap().into_dataset().unwrap();
    assert_eq!(back.column(0), data.column(0));
    assert!(seen.get().0 == seen.get().1 && seen.get().1 > 0);
}

/// A small file with nulls, text and a dictionary, and one of ours.
fn samples() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.parquet");
    let schema = "message m { optional double d; required int64 l; optional binary g (UTF8); }";
    let columns = [
        Values::Double(vec![1.5, 2.5, 3.5], Some(vec![1, 0, 1, 1])),
        Values::Int64(vec![1, 2, 3, 4]),
        Values::Text(vec![b"a", b"b", b"a", b"b"], Some(vec![1, 1, 1, 1])),
    ];
    write(&path, schema, &columns);
    let other = fs::read(&path).unwrap();
    write_parquet(&Dataset::faithful(), &path).unwrap();
    vec![other, fs::read(&path).unwrap()]
}

fn read_bytes(bytes: &[u8]) -> Result<Frame, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.parquet");
    fs::write(&path, bytes).unwrap();
    let options = ReadOptions {
        text_columns: vec!["3".into()],
        drop_missing: true,
        ..ReadOptions::default()
    };
    let _ = read_path(&path, &options);
    read_path(&path, &ReadOptions::default())
}

#[test]
fn a_truncated_file_is_an_error() {
    for bytes in samples() {
        for end in (4..bytes.len()).step_by(7) {
            let message = read_bytes(&bytes[..end]).unwrap_err().advised(in_command);
            assert!(message.contains("damaged or incomplete"), "{message}");
        }
    }
}

proptest! {
    #[test]
    fn no_flipped_bits_make_it_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..6),
        which in 0..2_usize,
    ) {
        thread_local!(static SAMPLES: Vec<Vec<u8>> = samples());
        let mut bytes = SAMPLES.with(|samples| samples[which].clone());
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        let _ = read_bytes(&bytes);
    }

    #[test]
    fn what_is_written_reads_back(
        columns in (1..40_usize).prop_flat_map(|n| {
            let finite = any::<f64>().prop_filter("finite", |v| v.is_finite());
            prop::collection::vec(prop::collection::vec(finite, n), 1..4)
        }),
    ) {
        let names = (0..columns.len()).map(|j| format!("x {j}, «{j}»")).collect();
        let dataset = Dataset::from_columns(names, columns).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.parquet");
        write_parquet(&dataset, &path).unwrap();
        let back = read_path(&path, &ReadOptions::default()).unwrap().into_dataset().unwrap();
        prop_assert_eq!(back.names(), dataset.names());
        for j in 0..dataset.n_columns() {
            let bits = |column: &[f64]| column.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(back.column(j)), bits(dataset.column(j)));
        }
    }
}
