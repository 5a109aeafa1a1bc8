"""Builds a small table with the release binary and reads its parts with pandas and DuckDB.

    cargo build --release
    python3 -m venv target/table-venv
    target/table-venv/bin/pip install pandas pyarrow duckdb
    target/table-venv/bin/python scripts/check_table_readers.py

It fails when the two readers do not see the same numbers. See docs/TABLES.md.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import duckdb
import pandas

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
COLUMN = "pi.alpha[1]"


def build(folder):
    """Old Faithful, 5 fractions, 40 bootstraps of all units and 40 of a half sample."""
    shutil.rmtree(folder, ignore_errors=True)
    binary = TARGET / "release" / ("trustvb.exe" if os.name == "nt" else "trustvb")
    if not binary.exists():
        sys.exit(f"{binary} is not there; run `cargo build --release` first")
    subprocess.run(
        [binary, "table", "build", "-o", folder, "--grid", "5", "--omega-min", "0.01", "-B", "40", "--quiet"],
        check=True,
    )


def main():
    folder = TARGET / "table-readers" / "faithful.tvb"
    folder.parent.mkdir(parents=True, exist_ok=True)
    build(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    print(f"model {manifest['model']['name']}, bootstraps {manifest['replicates']}, seed {manifest['seed']}")

    parts = sorted((folder / "parts").glob("full-*.parquet"))
    frame = pandas.concat([pandas.read_parquet(part) for part in parts], ignore_index=True)
    print(f"\npandas {pandas.__version__}: {len(parts)} parts, {frame.shape[0]} rows, {frame.shape[1]} columns")
    print(frame[["replicate", "omega", "status", "sweeps", "bound", COLUMN]].head(3).to_string(index=False))

    # Replicate 0 is the full data; a degenerate fit (status 3) holds NaN.
    usable = frame[(frame.replicate > 0) & (frame.status < 3)]
    by_pandas = usable.groupby("omega")[COLUMN].mean().sort_index(ascending=False)
    print(f"\nmean {COLUMN} of the bootstraps by omega, pandas:")
    print(by_pandas.to_string())

    by_duckdb = duckdb.execute(
        f"""SELECT omega, avg("{COLUMN}") AS mean, count(*) AS fits
            FROM read_parquet(?) WHERE replicate > 0 AND status < 3
            GROUP BY omega ORDER BY omega DESC""",
        [str(folder / "parts" / "full-*.parquet")],
    ).fetchall()
    print(f"\nmean {COLUMN} of the bootstraps by omega, DuckDB {duckdb.__version__}:")
    for omega, mean, fits in by_duckdb:
        print(f"{omega:.6f}  {mean:.6f}  ({fits} fits)")

    for (omega, mean, _), (expected_omega, expected) in zip(by_duckdb, by_pandas.items(), strict=True):
        if omega != expected_omega or abs(mean - expected) > 1e-9 * abs(expected):
            sys.exit(f"the readers disagree at omega {omega}: {mean} and {expected}")
    print("\nboth readers agree")


if __name__ == "__main__":
    main()
