//! The `trustvb` command.

fn main() {}
