//! Why a command failed, in words, with its exit code: 1 the run failed, 2 the command line is wrong.

use std::fmt;
use std::io;

/// A failed command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line asks for something impossible.
    Usage(String),
    /// The run failed.
    Run(String),
    /// Output could not be written.
    Output(io::Error),
}

impl Failure {
    pub(crate) fn run(error: impl fmt::Display) -> Failure {
        Failure::Run(error.to_string())
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Run(_) | Failure::Output(_) => 1,
        }
    }

    /// A reader that has seen enough, such as `head`, is no failure.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) | Failure::Run(text) => f.write_str(text),
            Failure::Output(error) => write!(f, "the output cannot be written: {error}"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// Errors of the library that mean the run failed.
macro_rules! run_failures {
    ($($error:ty),+) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::run(error)
            }
        })+
    };
}

run_failures!(
    trustvb::data::DataError,
    trustvb::model::ModelError,
    trustvb::table::TableError,
    trustvb::table::BuildError,
    trustvb::calibrate::CalibrateError,
    trustvb::resample::ResampleError,
    trustvb::study::StudyError
);
