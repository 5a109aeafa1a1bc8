//! Random words that are made once and read many times.

use crate::random::{Purpose, stream};
use rand::{Rng, TryRng};
use rand_chacha::ChaCha8Rng;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

/// Words kept at most: 16 MB.
const MOST_WORDS: usize = 4 << 20;

/// The first words of the streams behind a number of draws.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    words: Arc<[u32]>,
    /// Where each stream's words lie among those of one draw.
    streams: Vec<Range<usize>>,
    /// Words of one draw.
    stride: usize,
}

impl Tape {
    /// Keeps, for the first `draws` draws, so many words of the streams of these numbers; fewer draws
    /// if they would take too much room.
    pub(super) fn new(seed: u64, streams: &[(u64, usize)], draws: usize) -> Tape {
        let mut ranges = Vec::with_capacity(streams.len());
        let mut stride = 0;
        for (_, n) in streams {
            ranges.push(stride..stride + n);
            stride += n;
        }
        let draws = draws.min(MOST_WORDS.checked_div(stride).unwrap_or(0));
        let mut words = Vec::with_capacity(draws * stride);
        for draw in 0..draws {
            for (number, n) in streams {
                let mut rng = open(seed, draw as u64, *number, 0);
                words.extend((0..*n).map(|_| rng.next_u32()));
            }
        }
        Tape { words: words.into(), streams: ranges, stride }
    }

    /// The kept words of a draw's stream; none for a draw that is not kept.
    pub(super) fn words(&self, draw: usize, stream: usize) -> &[u32] {
        let (range, start) = (&self.streams[stream], draw * self.stride);
        self.words.get(start + range.start..start + range.end).unwrap_or(&[])
    }
}

/// The stream of a copy within the stream of a draw, from a word on.
fn open(seed: u64, draw: u64, copy: u64, word: usize) -> ChaCha8Rng {
    let mut rng = stream(seed, Purpose::Draw, draw);
    rng.set_stream(copy);
    rng.set_word_pos(word as u128);
    rng
}

/// Reads kept words as the generator would give them, and goes on with the generator after the last.
pub(super) struct Replay<'a> {
    kept: &'a [u32],
    at: usize,
    beyond: Option<ChaCha8Rng>,
    seed: u64,
    draw: u64,
    copy: u64,
}

impl<'a> Replay<'a> {
    pub(super) fn new(kept: &'a [u32], seed: u64, draw: u64, copy: u64) -> Replay<'a> {
        Replay { kept, at: 0, beyond: None, seed, draw, copy }
    }

    #[cold]
    fn beyond(&mut self) -> &mut ChaCha8Rng {
        let (seed, draw, copy, at) = (self.seed, self.draw, self.copy, self.at);
        // What is left of the kept words is passed over: the generator gives it again.
        self.kept = &[];
        self.beyond.get_or_insert_with(|| open(seed, draw, copy, at))
    }
}

impl TryRng for Replay<'_> {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        match self.kept.get(self.at) {
            Some(word) => {
                self.at += 1;
                Ok(*word)
            }
            None => Ok(self.beyond().next_u32()),
        }
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        match self.kept.get(self.at..self.at + 2) {
            Some(&[low, high]) => {
                self.at += 2;
                Ok(u64::from(high) << 32 | u64::from(low))
            }
            _ => Ok(self.beyond().next_u64()),
        }
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for chunk in out.chunks_mut(4) {
            let word = self.next_u32().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_the_stream_itself() {
        for kept in [0, 1, 5, 16, 63, 64, 65, 200] {
            let tape = Tape::new(7, &[(3, 4), (9, kept)], 3);
            let mut replay = Replay::new(tape.words(2, 1), 7, 2, 9);
            let mut rng = open(7, 2, 9, 0);
            for step in 0..120 {
                if step % 5 == 2 {
                    assert_eq!(replay.next_u32(), rng.next_u32(), "{kept} kept, step {step}");
                } else {
                    assert_eq!(replay.next_u64(), rng.next_u64(), "{kept} kept, step {step}");
                }
            }
        }
        assert!(Tape::new(7, &[(3, 4)], 3).words(3, 0).is_empty());
    }
}
