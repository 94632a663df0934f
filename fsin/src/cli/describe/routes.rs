//! `fsin routes`: the routes of every pair of nodes, as a file, and what they put on the links.

use std::io::Write as _;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use fsin::experiment::{Origin, Settings, key};
use fsin::route::given::{Form, write};
use fsin::route::proof::{ChannelGraph, Network as _, Routed};
use fsin::route::{
    Build, ChannelPolicy, Choice, Followed, LinkLoads, Masks, Name, RouteTable, Routers, RoutingFunction as _, balance,
    follow, rows,
};
use fsin::text_file;
use fsin::topology::least_busiest_load;
use fsin::words::counted;
use serde_json::json;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use crate::cli::key_flags::flag;
use crate::cli::output::{NewFile, print_text};
use crate::cli::{Complaint, Exit};

/// Output formats.
const FORMATS: [&str; 2] = ["table", "json"];

/// Forms of the file.
const FORMS: [(&str, Form); 2] = [("hops", Form::Hops), ("paths", Form::Paths)];

/// The settings that the command has.
const SETTINGS: [&str; 7] = ["topology", "ways", "routing", "routes", "vcs", "vc-classes", "seed"];

/// \[channels\] Enough for every routing: the number that it needs is found with these.
const MANY_CHANNELS: usize = 32;

/// The command.
pub(crate) fn command() -> Command {
    let settings = SETTINGS.iter().filter_map(|name| key(name)).map(|key| flag(key).help_heading("Network"));
    Command::new("routes")
        .about("Writes the routes of every pair of nodes, made by a routing or balanced over the links, or checks a file of them")
        .long_about(
            "Writes the routes of every pair of nodes for run --routes: one of each pair by a routing, or with --balance \
             shortest ones, one for each pair, that keep the load of the busiest link small. With --routes it checks the \
             routes of a file instead. It prints hops, the load of the links by a message for each pair, and virtual \
             channels. Routes whose channels may wait for each other in a cycle are refused.",
        )
        .args(settings)
        .arg(
            Arg::new("balance")
                .long("balance")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["routing", "routes"])
                .help("Shortest routes, one for each pair, with the least load of the busiest link that is found; --vcs: channels, several for a hop where fewer are enough [as few as are enough]")
                .help_heading("Routes"),
        )
        .arg(
            Arg::new("form")
                .long("form")
                .value_name("FORM")
                .default_value(FORMS[0].0)
                .hide_default_value(true)
                .value_parser(PossibleValuesParser::new(FORMS.map(|(name, _)| name)))
                .help("Rows of the file: hops (current,destination,next,vc,source), or paths (source,destination,path,vcs) [hops]")
                .help_heading("Routes"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("File of the routes; compressed with gzip if it ends in .gz")
                .help_heading("Output"),
        )
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .default_value(FORMATS[0])
                .hide_default_value(true)
                .value_parser(PossibleValuesParser::new(FORMATS))
                .help("How the figures are written to stdout [table]")
                .help_heading("Output"),
        )
}

/// An error of the command line.
fn refused(error: &SpecError) -> Complaint {
    Complaint::new(Exit::Usage, error.what(), error.remedy())
}

/// Routes, and where they come from.
struct Made {
    table: RouteTable,
    origin: String,
    /// Number of pairs for which one of several routes was drawn.
    drawn: u64,
    /// The channels that hops without any of their own may take.
    vcs: usize,
}

/// Executes the command.
pub(crate) fn routes(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let mut settings = Settings::default();
    for name in SETTINGS {
        if matches.value_source(name) == Some(ValueSource::CommandLine)
            && let Some(value) = matches.get_one::<String>(name)
        {
            settings.set(name, value, Origin::Flag)?;
        }
    }
    let values = settings.values();
    let ways = values.integer("ways").map_err(|error| refused(&error))?;
    let topology = values.topology_of(ways).map_err(|error| refused(&error))?;
    let routers = Routers::new(&*topology).map_err(|error| refused(&error))?;
    let output = matches.get_one::<PathBuf>("output");
    let file = output.map(|path| NewFile::create(format!("-o {}", path.display()), path)).transpose()?;
    let made = made(&settings, &routers, matches.get_flag("balance")).map_err(|error| refused(&error))?;
    let graph = proven(&made, &routers).map_err(|error| refused(&error))?;
    if let (Some(file), Some(path)) = (file, output) {
        let form = matches.get_one::<String>("form").map_or(FORMS[0].0, String::as_str);
        let form = FORMS.iter().find(|(name, _)| *name == form).map_or(Form::Hops, |&(_, form)| form);
        let is_packed = path.extension().is_some_and(|extension| extension == "gz");
        file.write(&mut |mut out| match is_packed {
            false => write(&made.table, &routers, form, &mut out),
            true => {
                let mut packed = text_file::packed(&mut out);
                write(&made.table, &routers, form, &mut packed)?;
                packed.flush()?;
                packed.finish().map(|_| ())
            }
        })?;
    }
    let loads = made.table.loads(&routers, made.vcs);
    let is_json = matches.get_one::<String>("format").is_some_and(|format| format == FORMATS[1]);
    print_text(&if is_json {
        as_json(&made, &loads, &graph, &routers)
    } else {
        as_table(&made, &loads, &graph, &routers)
    })?;
    Ok(Exit::Done)
}

/// The routes that the settings ask for.
fn made(settings: &Settings, routers: &Routers<'_>, is_balanced: bool) -> Result<Made, SpecError> {
    let values = settings.values();
    let topology = routers.topology;
    let seed = values.integer("seed")?;
    let vcs = values.is_set("vcs").then(|| values.integer::<usize>("vcs")).transpose()?;
    if let Some(vcs) = vcs.filter(|vcs| !(1..=MANY_CHANNELS).contains(vcs)) {
        return Err(SpecError::out_of_range("vcs", vcs as u64, 1..=MANY_CHANNELS as u64));
    }
    if is_balanced {
        let balanced = balance(routers, vcs.map(|vcs| vcs as u32), seed)?;
        return Ok(Made {
            table: balanced.table,
            origin: "balanced".to_owned(),
            drawn: 0,
            vcs: vcs.unwrap_or(balanced.vcs),
        });
    }
    if let Some(table) = values.routes(topology)? {
        let (table, origin) = (RouteTable::clone(&table), values.word("routes").to_owned());
        let vcs = vcs.unwrap_or(table.least_channels()).max(table.least_channels());
        return Ok(Made { table, origin, drawn: 0, vcs });
    }
    let spec = topology.spec();
    let names = || {
        let rows = fsin::route::ROUTINGS.rows().iter().filter(|row| row.serves.includes(&spec));
        rows.filter(|row| row.policy != ChannelPolicy::Given)
            .map(|row| row.component.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !values.is_set("routing") {
        let what = phrase!["which routes? ", ["routing"], " names a routing, and there is no default"];
        let remedy = phrase![("name one of {}, or use --balance, or ", names()), ["routes" => "FILE"]];
        return Err(SpecError::new(ErrorKind::Malformed, what, remedy));
    }
    let name: Name = values.parsed("routing")?;
    let Some(row) = name.row(&spec) else {
        let what = phrase![["routing" => name.name()], (" is not for {spec}")];
        return Err(SpecError::new(ErrorKind::Conflict, what, format!("use {}", names())));
    };
    if topology.faults() > 0 && row.serves.requires_intact_topology() {
        let what = phrase![["routing" => name.name()], " cannot avoid dead links"];
        return Err(SpecError::new(ErrorKind::Conflict, what, phrase!["use ", ["routing" => "updown"]]));
    }
    let rings = if values.is_set("vc-classes") {
        values.parsed("vc-classes")?
    } else {
        fsin::models::wormhole::VcClasses::PerDimension
    };
    let build = |vcs| Build { rings, ..Build::new(row, topology, vcs, row.policy) };
    let least = row.policy.least(build(MANY_CHANNELS).function()?.classes());
    // A packet that keeps one channel of several needs no more than one.
    let least = if least == MANY_CHANNELS { 1 } else { least };
    let vcs = vcs.unwrap_or(least);
    let function = build(vcs).function()?;
    if vcs < least {
        let what = phrase![["routing" => name.name()], (" needs {least} virtual channels, "), ["vcs"], (" is {vcs}")];
        return Err(SpecError::new(ErrorKind::OutOfRange, what, phrase!["use ", ["vcs" => least], " or more"]));
    }
    let masks = Masks::of_function(row.policy, &function, vcs);
    let Followed { table, drawn } = follow(routers, &function, row.choice, &masks, seed)?;
    Ok(Made { table, origin: name.name().to_owned(), drawn, vcs })
}

/// The dependencies of channels, which have no cycle.
fn proven(made: &Made, routers: &Routers<'_>) -> Result<ChannelGraph, SpecError> {
    let table = std::sync::Arc::new(made.table.clone());
    let row = &rows::ROUTES;
    let build = Build { routes: Some(&table), ..Build::new(row, routers.topology, made.vcs, row.policy) };
    let function = build.function()?;
    let masks = Masks::of_function(row.policy, &function, made.vcs);
    let vcs = made.vcs;
    let (policy, choice) = (row.policy, Choice::One);
    let routed = Routed { network: routers, function: &function, choice, policy, masks: &masks, vcs };
    let too_large = || SpecError::new(ErrorKind::TooLarge, "too many channels", "use a smaller network");
    let graph = routed.graph().ok_or_else(too_large)?;
    if let Some(cycle) = routed.cycle_of(&graph) {
        let what = format!(
            "the routes are not free of deadlock: {} channels may wait for each other in a cycle, {}",
            cycle.len(),
            routers.round(&cycle)
        );
        let remedy = phrase!["use more ", ["vcs"], ", or other virtual channels in the file"];
        return Err(SpecError::new(ErrorKind::Conflict, what, remedy));
    }
    Ok(graph)
}

/// The name of the link of an output.
fn link(output: usize, routers: &Routers<'_>) -> String {
    let (router, port) = (output / routers.ports(), output % routers.ports());
    let next = routers.next(router, port).map_or_else(String::new, |next| routers.name(next));
    format!("{}>{next}", routers.name(router))
}

/// \[messages\] The least load of the busiest link if pairs divide their messages over shortest routes, where that is
/// known.
fn split(routers: &Routers<'_>) -> Option<f64> {
    (routers.topology.faults() == 0).then(|| least_busiest_load(routers.topology)).flatten()
}

/// The figures as lines of text.
fn as_table(made: &Made, loads: &LinkLoads, graph: &ChannelGraph, routers: &Routers<'_>) -> String {
    let mean = loads.hops as f64 / loads.pairs.max(1) as f64;
    let busiest = match loads.busiest() {
        None => "-".to_owned(),
        Some((output, load)) => {
            format!("{load} ({}), mean {:.4}, a message for each pair", link(output, routers), loads.mean())
        }
    };
    let drawn = match made.drawn {
        0 => String::new(),
        pairs => format!(
            "{} {} several routes by the routing: one of them is drawn",
            counted(pairs as usize, "pair", "pairs"),
            if pairs == 1 { "has" } else { "have" }
        ),
    };
    let rows = [
        ("topology", routers.topology.spec()),
        ("routes", made.origin.clone()),
        ("pairs", loads.pairs.to_string()),
        ("hops", format!("{} between routers, {mean:.4} a pair", loads.hops)),
        ("links", format!("{} between routers, one way", loads.links)),
        ("busiest link", busiest),
        (
            "least busiest",
            split(routers).map_or_else(String::new, |load| {
                format!("{load:.4}, if pairs divide their messages over shortest routes")
            }),
        ),
        (
            "channels",
            format!(
                "{}: {} in use, {}, no cycle",
                counted(made.vcs, "virtual channel", "virtual channels"),
                loads.channels,
                counted(graph.dependencies(), "dependency", "dependencies")
            ),
        ),
        ("drawn", drawn),
    ];
    rows.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("{name:<14}{value}\n")).collect()
}

/// The figures as JSON.
fn as_json(made: &Made, loads: &LinkLoads, graph: &ChannelGraph, routers: &Routers<'_>) -> String {
    let busiest = loads.busiest();
    let value = json!({
        "schema": 1,
        "topology": routers.topology.spec(),
        "routes": made.origin,
        "pairs": loads.pairs,
        "hops_all_pairs": loads.hops,
        "links_between_routers": loads.links,
        "link_load_max": busiest.map(|(_, load)| load),
        "link_load_max_split": split(routers),
        "link_load_mean": loads.mean(),
        "busiest_link": busiest.map(|(output, _)| link(output, routers)),
        "vcs": made.vcs,
        "channels_in_use": loads.channels,
        "channel_dependencies": graph.dependencies(),
        "pairs_drawn": made.drawn,
    });
    format!("{value:#}\n")
}
