//! `fsin generate`: completions, the man page, reference pages of the book, names for Python.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, Command};
use fsin::experiment::{self, Is, Kind, Need};
use fsin::family::ModelFamily;
use fsin::models::MODELS;
use fsin::result::{Figure, Part, parts};

use crate::cli::notation::of_table;
use crate::cli::{Complaint, Exit, args, describe, output};

/// Prints or writes the requested pages.
pub(crate) fn generate(matches: &ArgMatches) -> Result<Exit, Complaint> {
    match matches.subcommand() {
        Some(("completions", matches)) => {
            let Some(&shell) = matches.get_one::<clap_complete::Shell>("shell") else { return Ok(Exit::Usage) };
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut completing(args::command()), args::program(), &mut text);
            output::Document::open(matches)?.print(&String::from_utf8_lossy(&text))?;
        }
        Some(("man", matches)) => output::Document::open(matches)?.print(&man()?)?,
        Some(("python", matches)) => output::Document::open(matches)?.print(&describe::python::module())?,
        Some(("reference", matches)) => {
            let folder = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_default();
            let written = std::fs::create_dir_all(&folder).and_then(|()| {
                pages().into_iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text))
            });
            written.map_err(|error| {
                let what = format!("cannot write in {}: {error}", folder.display());
                Complaint::new(Exit::Failed, what, "name a folder where you may write")
            })?;
        }
        _ => return Ok(Exit::Usage),
    }
    Ok(Exit::Done)
}

/// The command with the names of components as possible values, for completions alone: a value may have arguments.
fn completing(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = command.mut_args(|arg| {
        let words = describe::names_of(arg.get_id().as_str());
        if words.is_empty() { arg } else { arg.value_parser(PossibleValuesParser::new(words)) }
    });
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, completing))
}

/// The man page: the command, then each of its commands.
fn man() -> Result<String, Complaint> {
    let failed = |error: std::io::Error| {
        Complaint::new(Exit::Failed, format!("cannot write the man page: {error}"), "report it")
    };
    let mut text = Vec::new();
    let mut command = args::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(failed)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let man = clap_mangen::Man::new(sub.clone());
        text.extend_from_slice(format!(".SH COMMAND {}\n", sub.get_name().to_uppercase()).as_bytes());
        man.render_description_section(&mut text).map_err(failed)?;
        man.render_options_section(&mut text).map_err(failed)?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The reference pages: file name and text.
fn pages() -> Vec<(String, String)> {
    vec![
        ("commands.md".to_owned(), commands()),
        ("keys.md".to_owned(), keys()),
        ("components.md".to_owned(), format!("{NOTICE}{}", describe::components_page())),
        ("routings.md".to_owned(), format!("{NOTICE}{}", describe::routings_page())),
        ("disciplines.md".to_owned(), format!("{NOTICE}{}", describe::disciplines_page())),
        ("figures.md".to_owned(), figures()),
    ]
}

/// The notice at the top of every page.
const NOTICE: &str = "<!-- Made by `fsin generate reference`; do not edit. -->\n\n";

/// The page with the help of every command.
fn commands() -> String {
    let mut text = format!(
        "{NOTICE}# Commands\n\nThe output of `--help` of every command of `fsin`. Those of `trace-prep` have [a page of their \
         own](trace-prep.md).\n"
    );
    let mut command = args::command().term_width(100).color(clap::ColorChoice::Never);
    command.build();
    describe_below(&mut command, "fsin", &mut text);
    text
}

/// Appends the help of every subcommand of a command, and of the subcommands of `machines`.
fn describe_below(command: &mut Command, path: &str, text: &mut String) {
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help") {
        let path = format!("{path} {}", sub.get_name());
        let help = sub.render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        text.push_str(&format!("\n## {path}\n\n```text\n{}\n```\n", help.join("\n").trim_end()));
        if sub.get_name() == "machines" {
            describe_below(sub, &path, text);
        }
    }
}

/// The page with all keys.
fn keys() -> String {
    let mut text = format!(
        "{NOTICE}# Keys\n\nEvery key is a flag (`--key`), a line of an experiment file (`key = value`) and a variable \
         (`FSIN_KEY`). Flags override variables, variables override the file, the file overrides the defaults.\n"
    );
    let mut heading = String::new();
    let keys = experiment::keys().iter().map(|key| (key, experiment::heading(key)));
    let of_many = experiment::MANY_KEYS.iter().map(|key| (key, "Many experiments (sweep, saturation)".to_owned()));
    for (key, of_key) in keys.chain(of_many) {
        if heading != of_key {
            heading = of_key;
            text.push_str(&format!(
                "\n## {}\n\n| key | value | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n",
                heading
            ));
        }
        let cell = |word: &str| word.replace('|', "\\|");
        let metavar = if key.kind == Kind::Switch { "true, false" } else { key.metavar };
        let usual = key.default.map_or("-".to_owned(), |default| format!("`{default}`"));
        let other = |model: &&ModelFamily| Some(format!("{} `{}`", model.component.name, model.default_of(key.name)?));
        let others: Vec<String> = MODELS.rows().iter().filter_map(other).collect();
        let default = std::iter::once(usual).chain(others).collect::<Vec<_>>().join(", ");
        let needs: Vec<String> = key.needs.iter().map(needed).collect();
        let needs = if needs.is_empty() { String::new() } else { format!("; only {}", needs.join(" and ")) };
        text.push_str(&format!(
            "| `{}` | {} | {default} | {} | {}{needs} |\n",
            key.name,
            cell(metavar),
            key.unit,
            cell(&of_table(key.about))
        ));
    }
    text
}

/// A condition on another setting, in words.
fn needed(need: &Need) -> String {
    match need.is {
        Is::Set => format!("with `{}`", need.key),
        Is::Value(value) => format!("with `{} = {value}`", need.key),
        Is::NotValue(value) => format!("unless `{} = {value}`", need.key),
        Is::Names(names) => format!("with `{} = {}`", need.key, names().join("` or `")),
    }
}

/// The page with all figures.
fn figures() -> String {
    let mut text = format!(
        "{NOTICE}# Figures\n\nEvery figure of a result, as JSON and CSV name it. A figure that a kind of run does not have is absent; \
         one that cannot be computed is null in JSON and empty in CSV. [What the figures mean](../figures.md) says how they \
         are measured; `fsin schema` prints the same as a JSON Schema.\n\n| figure | type | unit | meaning |\n| --- | --- | --- | \
         --- |\n"
    );
    for figure in Figure::ALL {
        text.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            figure.name(),
            figure.shape(),
            figure.unit(),
            figure.meaning()
        ));
    }
    for Part { of, about, fields } in parts() {
        let names: Vec<String> = of.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!(
            "\n## Within {}\n\n{about}\n\n| field | unit | meaning |\n| --- | --- | --- |\n",
            names.join(" and ")
        ));
        for (name, unit, meaning) in fields {
            text.push_str(&format!("| `{name}` | {unit} | {meaning} |\n"));
        }
    }
    text
}
