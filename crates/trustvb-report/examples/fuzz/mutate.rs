//! Makes an input from others: a few changes of bytes, numbers and words.

/// A stream of mutations that a seed fixes.
pub(crate) struct Mutator(u64);

/// What replaces a number.
const NUMBERS: [&str; 20] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "0.5",
    "1e308",
    "-1e308",
    "1e-308",
    "5e-324",
    "1e400",
    "NaN",
    "inf",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "9223372036854775808",
    "99999999999999999999999",
    "",
];

impl Mutator {
    pub(crate) fn new(seed: u64) -> Mutator {
        Mutator(seed.wrapping_mul(2).wrapping_add(1))
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    /// One of the seeds with some changes; `words` are what the format is made of.
    pub(crate) fn mutate(&mut self, seeds: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
        let mut input = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(6) {
            self.change(&mut input, seeds, words);
        }
        input.truncate(1 << 16);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&str]) {
        let at = self.below(input.len() + 1);
        match self.below(9) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.below(256) as u8,
            2 => {
                let to = (at + 1 + self.below(40)).min(input.len());
                input.drain(at..to);
            }
            3 => {
                let to = (at + 1 + self.below(40)).min(input.len());
                let piece = input[at..to].to_vec();
                for _ in 0..=self.below(3) {
                    input.splice(at..at, piece.iter().copied());
                }
            }
            4 => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len());
                let to = (from + self.below(80)).min(other.len());
                input.splice(at..at, other[from..to].iter().copied());
            }
            5 => self.number(input),
            6 => input.truncate(at),
            _ if !words.is_empty() => {
                let word = words[self.below(words.len())].as_bytes();
                let times = if self.below(50) == 0 { 3000 } else { 1 };
                for _ in 0..times {
                    input.splice(at..at, word.iter().copied());
                }
            }
            _ => input.insert(at, self.below(256) as u8),
        }
    }

    /// Puts another number in the place of one.
    fn number(&mut self, input: &mut Vec<u8>) {
        let digit = |b: &u8| b.is_ascii_digit() || b".-+eE".contains(b);
        let starts: Vec<usize> = (0..input.len()).filter(|&i| input[i].is_ascii_digit()).collect();
        if starts.is_empty() {
            return;
        }
        let from = starts[self.below(starts.len())];
        let to = from + input[from..].iter().take_while(|b| digit(b)).count();
        let number = NUMBERS[self.below(NUMBERS.len())];
        input.splice(from..to, number.bytes());
    }
}
