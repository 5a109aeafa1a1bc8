//! Why a command failed, in words, with its exit code: 1 the run failed, 2 the command line is wrong, 130
//! somebody interrupted it.

use std::fmt;
use std::io;
use trustvb::remedy::{Advise, in_command};

/// A failed command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line asks for something impossible.
    Usage(String),
    /// The run failed.
    Run(String),
    /// Output could not be written.
    Output(io::Error),
    /// Ctrl-C.
    Interrupted,
}

impl Failure {
    pub(crate) fn run(error: impl fmt::Display) -> Failure {
        Failure::Run(error.to_string())
    }

    /// An error of the library that means the run failed, with what to do in the words of the command line.
    pub(crate) fn advised(error: &impl Advise) -> Failure {
        Failure::Run(error.advised(in_command))
    }

    /// One that means that the command line is wrong.
    pub(crate) fn usage(error: &impl Advise) -> Failure {
        Failure::Usage(error.advised(in_command))
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Run(_) | Failure::Output(_) => 1,
            Failure::Interrupted => 130,
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
            Failure::Interrupted => f.write_str(&crate::progress::interrupted()),
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
                Failure::advised(&error)
            }
        })+
    };
}

impl From<trustvb::table::BuildError> for Failure {
    fn from(error: trustvb::table::BuildError) -> Failure {
        match error {
            trustvb::table::BuildError::Cancelled => Failure::Interrupted,
            other => Failure::advised(&other),
        }
    }
}

impl From<trustvb::calibrate::CalibrateError> for Failure {
    fn from(error: trustvb::calibrate::CalibrateError) -> Failure {
        match error {
            trustvb::calibrate::CalibrateError::Cancelled => Failure::Interrupted,
            other => Failure::advised(&other),
        }
    }
}

run_failures!(
    trustvb::data::DataError,
    trustvb::model::ModelError,
    trustvb::table::StoreError,
    trustvb::table::TableError,
    trustvb::study::StudyError
);

impl From<trustvb::resample::ResampleError> for Failure {
    fn from(error: trustvb::resample::ResampleError) -> Failure {
        Failure::run(error)
    }
}
