//! What to do about an error, as data: whoever speaks to a user words it.
//!
//! An error says what is wrong, where, and with which numbers. What to do about it depends on how trustvb is used: the
//! command has `--columns`, Python a frame. So errors carry [`Remedy`]s, and each door to the library has its own words
//! for them; the command's are [`in_command`].

use std::fmt::Display;

/// One thing that a user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Something that is said the same everywhere, such as `bring more data`.
    Do(&'static str),
    /// Something that is done by choosing columns, such as `leave it out`.
    Columns(&'static str),
    /// The same where a formula may name the columns.
    ColumnsOrFormula(&'static str),
    /// Leave out rows with missing cells.
    DropMissing,
    /// At most so many components.
    Components(usize),
    /// The model of columns of any kind, which takes what is said.
    MixedModel(&'static str),
    /// Say that columns are to be taken for Gaussian, whatever they look like.
    AsGaussian,
    /// Read a file in pieces.
    Stream,
    /// Fewer bootstraps, or points of the grid.
    FewerFits,
    /// Bootstraps of subsets of the units.
    LittleBootstraps,
    /// At least so many bootstraps.
    Bootstraps(u32),
    /// A smaller smallest ω, which may be needed.
    SmallerOmegaMin,
    /// A smallest ω that leaves room for a grid.
    RoomForGrid,
    /// Fewer of something.
    Fewer(Setting),
    /// Leave one of these out.
    LeaveOut(&'static [Setting]),
    /// Other methods, such as these.
    Methods(&'static [&'static str]),
    /// A table for the method that was asked, or another method.
    ServeMethod,
    /// Ask for the paper's interval.
    AskTvb,
    /// A table with its data.
    KeepData,
    /// Look what a table lacks.
    InspectTable,
    /// Make a table.
    MakeTable,
    /// Make what is missing of a table.
    CompleteTable,
    /// Make a part of a table anew.
    RemakeTable,
    /// Make a study.
    MakeStudy,
}

/// What a user can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// Points of the grid.
    Grid,
    /// Bootstraps of each design.
    Bootstraps,
    /// Subsets that bootstraps are drawn from.
    Subsets,
    /// The user's own resamples.
    Resamples,
    /// New splits at every ω.
    FreshSplits,
}

impl Setting {
    /// As the command has it.
    fn option(self) -> &'static str {
        match self {
            Setting::Grid => "--grid",
            Setting::Bootstraps => "-B",
            Setting::Subsets => "--subsets",
            Setting::Resamples => "--resamples",
            Setting::FreshSplits => "--fresh-splits",
        }
    }

    /// What it counts.
    pub fn noun(self) -> &'static str {
        match self {
            Setting::Grid => "points of the grid",
            Setting::Bootstraps => "bootstraps",
            Setting::Subsets => "subsets",
            Setting::Resamples => "resamples",
            Setting::FreshSplits => "fresh splits",
        }
    }
}

/// An error, or a warning, with what to do about it. Its own text says what is wrong and no more.
pub trait Advise: Display {
    /// What can be done, the best first; one of them is enough.
    fn remedies(&self) -> Vec<Remedy>;

    /// What is wrong and what to do, in somebody's words.
    fn advised(&self, words: fn(&Remedy) -> String) -> String {
        let remedies: Vec<String> = self.remedies().iter().map(words).collect();
        match remedies.split_last() {
            None => self.to_string(),
            Some((only, [])) => format!("{self}; {only}"),
            Some((last, others)) => format!("{self}; {}, or {last}", others.join(", ")),
        }
    }
}

/// A remedy in the words of the command line.
pub fn in_command(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Do(what) => (*what).to_owned(),
        Remedy::Columns(what) => format!("{what} with --columns"),
        Remedy::ColumnsOrFormula(what) => format!("{what} (with --columns, or in the formula)"),
        Remedy::DropMissing => "leave those rows out with --drop-missing".to_owned(),
        Remedy::Components(n) => format!("ask for at most {n} with --components"),
        Remedy::MixedModel(takes) => format!("use --model mixture, which takes {takes}"),
        Remedy::AsGaussian => {
            "say --model gmm --types COLUMN=gaussian to have it all the same".to_owned()
        }
        Remedy::Stream => "read it with --stream (gmm, bmlr)".to_owned(),
        Remedy::FewerFits => "ask for fewer bootstraps (-B) or points (--grid)".to_owned(),
        Remedy::LittleBootstraps => {
            "draw bootstraps from subsets of the rows with --subsets 10".to_owned()
        }
        Remedy::Bootstraps(n) => format!("use -B {n} or more"),
        Remedy::SmallerOmegaMin => "a smaller --omega-min may be needed".to_owned(),
        Remedy::RoomForGrid => "give a smaller --omega-min, such as 0.001".to_owned(),
        Remedy::Fewer(setting) => format!("give fewer with {}", setting.option()),
        Remedy::LeaveOut(settings) => {
            let options: Vec<&str> = settings.iter().map(|setting| setting.option()).collect();
            format!("leave out {}", options.join(" or "))
        }
        Remedy::Methods(names) => {
            format!("choose other methods, such as --method {}", names.join(","))
        }
        Remedy::ServeMethod => {
            "build the table with this method in --method, or leave the method out".to_owned()
        }
        Remedy::AskTvb => "--tvb asks for them".to_owned(),
        Remedy::KeepData => "build the table without --without-data".to_owned(),
        Remedy::InspectTable => "`trustvb table info` tells which".to_owned(),
        Remedy::MakeTable => "make one with `trustvb table build`".to_owned(),
        Remedy::CompleteTable => "run `trustvb table build` again to complete it".to_owned(),
        Remedy::RemakeTable => {
            "remove it and run `trustvb table build` again to make it anew".to_owned()
        }
        Remedy::MakeStudy => "make one with `trustvb study NAME -o FOLDER`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt;

    struct Wrong(Vec<Remedy>);

    impl fmt::Display for Wrong {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("it is wrong")
        }
    }

    impl Advise for Wrong {
        fn remedies(&self) -> Vec<Remedy> {
            self.0.clone()
        }
    }

    #[test]
    fn remedies_follow_what_is_wrong() {
        let said = |remedies: &[Remedy]| Wrong(remedies.to_vec()).advised(in_command);
        assert_eq!(said(&[]), "it is wrong");
        assert_eq!(said(&[Remedy::Do("mend it")]), "it is wrong; mend it");
        let two = [Remedy::Columns("leave it out"), Remedy::Do("flatten it")];
        assert_eq!(said(&two), "it is wrong; leave it out with --columns, or flatten it");
        let three = [Remedy::Do("a"), Remedy::Bootstraps(500), Remedy::LeaveOut(&[Setting::Grid])];
        assert_eq!(said(&three), "it is wrong; a, use -B 500 or more, or leave out --grid");
    }
}
