//! Room for blocks of eight doubles that begin where lines of the cache do.

use super::LANES;
use std::ops::{Deref, DerefMut};

/// Blocks that are each one line of the cache: a vector that lies in two of them takes twice as long to load.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    numbers: Vec<f64>,
    /// Numbers before the first line begins.
    skip: usize,
    len: usize,
}

impl Lines {
    /// Makes room for `len` blocks that hold whatever was there.
    pub(crate) fn resize(&mut self, len: usize) {
        let needed = (len + 1) * LANES;
        if self.numbers.len() < needed {
            self.numbers.resize(needed, 0.0);
            let skip = self.numbers.as_ptr().align_offset(size_of::<[f64; LANES]>());
            self.skip = skip.min(LANES);
        }
        self.len = len;
    }

    /// Makes room for `len` blocks of zeros.
    pub(crate) fn clear(&mut self, len: usize) {
        self.resize(len);
        self.fill([0.0; LANES]);
    }
}

impl Deref for Lines {
    type Target = [[f64; LANES]];

    #[inline]
    fn deref(&self) -> &Self::Target {
        self.numbers[self.skip..self.skip + self.len * LANES].as_chunks().0
    }
}

impl DerefMut for Lines {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.numbers[self.skip..self.skip + self.len * LANES].as_chunks_mut().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_begin_where_lines_do() {
        let mut lines = Lines::default();
        assert!(lines.is_empty());
        for len in [1, 7, 3, 1000, 0, 12_345] {
            lines.clear(len);
            assert_eq!(lines.len(), len);
            assert_eq!(lines.as_ptr().addr() % 64, 0);
            lines.fill([1.0; LANES]);
        }
        lines.clear(2);
        assert_eq!(lines[..], [[0.0; LANES]; 2]);
    }
}
