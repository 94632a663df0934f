//! Files of formats that are known by name and not read: what they are, and what helps.
//!
//! A file that no reader recognises is looked up here by its first bytes, then by the end of its name. So whoever gives
//! the trace of another tool is told what it is, and what leads from it to a trace that can be read.

use std::io::Read as _;

use super::error::Fault;
use super::input::{Entry, Source};

/// A format that is known and not read.
struct Foreign {
    /// What a file of it is, as in "`x.prv` is ...".
    what: &'static str,
    /// The beginnings of its files.
    magics: &'static [&'static [u8]],
    /// The ends of the names of its files, in lower case; with a dot.
    suffixes: &'static [&'static str],
    /// What to do.
    remedy: &'static str,
}

/// A format with these properties.
const fn row(
    what: &'static str,
    magics: &'static [&'static [u8]],
    suffixes: &'static [&'static str],
    remedy: &'static str,
) -> Foreign {
    Foreign { what, magics, suffixes, remedy }
}

const RECORD: &str =
    "record the program anew with `trace-prep record -- mpiexec -n 4 ./PROGRAM`, or with Score-P as OTF2";
const PARAVER: &str = "convert it with `prv2dim FILE.prv FILE.dim` (BSC's tools): Dimemas traces are read";
const CHAKRA: &str = "the binary form of schema 0.0.4, `NAME.RANK.et`, is read; write the trace in it";
const NETRACE: &str = "it holds packets of a machine with caches, not a program: its sizes and pairs can be given as \
                       `matrix(FILE)`, which keeps no dependencies";
const PACKETS: &str =
    "packets on a link are no program; captures of simulated networks are written by the setting pcap of `fsin run`";
const MACHINE: &str = "it holds the instructions or memory accesses of a machine, not messages; record the messages of the \
                       program with `trace-prep record`";
const OTF1: &str = "convert it to OTF2 (Score-P and Vampir have tools for it), or record the program anew with Score-P";
const PROFILE: &str =
    "a profile holds sums without order; run the program again with SCOREP_ENABLE_TRACING=true and give traces.otf2";

/// Every known format that is not read. Longer beginnings stand before shorter ones.
#[rustfmt::skip]
const FOREIGN: &[Foreign] = &[
    row("a Paraver trace", &[b"#Paraver"], &[".prv"], PARAVER),
    row("a table of names of a Paraver trace", &[], &[".pcf", ".row"], PARAVER),
    row("an intermediate file of Extrae", &[], &[".mpit", ".mpits"], "merge it with `mpi2prv -f FILE.mpits -o FILE.prv`, and convert that with `prv2dim FILE.prv FILE.dim`"),
    row("no Chakra execution trace in spite of its name, or a damaged one", &[], &[".et"], CHAKRA),
    row("a workload of ASTRA-sim or SimAI", &[b"HYBRID_", b"DATA\n", b"MODEL\n", b"MICRO\n", b"TRANSFORMER", b"DLRM"], &[], "it names layers and collectives, not messages: `trace-prep generate` makes the messages of collectives"),
    row("a trace in CTF, the Common Trace Format (LTTng, EZTrace)", &[b"/* CTF", b"\x57\x1D\xD1\x75", b"\x75\xD1\x1D\x57", b"\xC1\x1F\xFC\xC1", b"\xC1\xFC\x1F\xC1"], &[".ctf"], RECORD),
    row("a trace of OTF 1, the older Open Trace Format", &[b"OTF"], &[".otf", ".events.z", ".def.z", ".0.def", ".0.events"], OTF1),
    row("a trace of Vampir or Intel Trace Collector", &[b"VTF"], &[".stf", ".vtf", ".vpt"], RECORD),
    row("a VEF trace", &[b"VEF"], &[".vef"], "no reader for it exists here: its codes are not published; convert it with its own TraceLib"),
    row("a trace of TAU", &[], &[".edf"], "convert it with `tau2otf2 tau.trc tau.edf NAME`: OTF2 archives are read"),
    row("a profile of TAU", &[], &[".ppk"], "a profile holds sums without order; run the program again with TAU_TRACE=1 TAU_TRACE_FORMAT=otf2, and give traces.otf2"),
    row("a profile of Score-P or Scalasca (Cube)", &[], &[".cubex", ".cube", ".cube.gz"], PROFILE),
    row("a trace of KOJAK (EPILOG)", &[b"EPILOG"], &[".elg", ".esd"], RECORD),
    row("a log of MPE (CLOG-2)", &[b"CLOG-"], &[".clog2", ".clog"], RECORD),
    row("a log of Jumpshot (SLOG-2)", &[b"\x00\x0ASLOG", b"SLOG"], &[".slog2", ".slog"], RECORD),
    row("a file of HPCToolkit", &[b"HPCRUN-", b"HPCTOOLKIT", b"HPCPROF", b"HPCTRACE"], &[".hpcrun", ".hpctrace", ".hpcstruct"], RECORD),
    row("a workload of SST Ember", &[b"[JOB_ID]", b"[NID_LIST]", b"[MOTIF]"], &[".ember"], "it names motifs, which are programs: see `trace-prep generate` for kernels, or record with DUMPI"),
    row("a trace of SST Ariel or Prospero", &[], &[".sst", "prospero-0.trace", "prospero-0-0.bin"], MACHINE),
    row("a trace of netrace, as BookSim reads it", &[b"\x55\x54\x4A\x48", b"\x48\x4A\x54\x55"], &[".tra", ".tra.bz2", ".netrace"], NETRACE),
    row("a configuration of Dimemas", &[b"#DIMEMAS_CONFIG", b"SDDFA"], &[], "it describes a machine, not a program: give the trace, NAME.dim, and the machine as {network} and {topology}"),
    row("a trace of gem5", &[b"gem5"], &[".ptrc", ".ptrc.gz", ".gem5"], MACHINE),
    row("a capture of packets (pcapng)", &[b"\x0A\x0D\x0D\x0A"], &[".pcapng"], PACKETS),
    row("a capture of packets (pcap)", &[b"\xD4\xC3\xB2\xA1", b"\xA1\xB2\xC3\xD4", b"\x4D\x3C\xB2\xA1", b"\xA1\xB2\x3C\x4D"], &[".pcap", ".cap"], PACKETS),
    row("a report of NVIDIA Nsight Systems", &[], &[".nsys-rep", ".qdrep", ".qdstrm"], "export its MPI calls is not enough for a replay: record the program with `trace-prep record`"),
    row("a profile of Linux perf", &[b"PERFILE2"], &[".perf"], MACHINE),
    row("a trace of Perfetto", &[], &[".pftrace", ".perfetto-trace"], RECORD),
    row("results of OMNeT++", &[b"version 2\nrun", b"version 3\nrun"], &[".vec", ".sca", ".vci"], "these are measurements; a simulation is described by its program or its traffic"),
    row("a trace of ns-2 or ns-3", &[], &[".tr"], PACKETS),
    row("a configuration of BookSim", &[b"// Topology", b"// Routing", b"// Flow"], &[], "a configuration is no trace; its settings are those of the network wormhole of `fsin run`"),
    row("a SQLite database", &[b"SQLite format 3"], &[".sqlite"], RECORD),
    row("an HDF5 file", &[b"\x89HDF\r\n"], &[".h5", ".hdf5"], RECORD),
    row("a program (ELF)", &[b"\x7FELF"], &[], "record its messages: `trace-prep record -- mpiexec -n 4 ./PROGRAM`"),
    row("XML, such as a platform of SimGrid", &[b"<?xml", b"<!DOCTYPE"], &[".xml"], "a trace lists actions; a platform is a topology, which `fsin explain graph` describes"),
];

/// Kinds of JSON, by a word in their beginning.
const JSON: &[(&str, &[&str], &str)] = &[
    (
        "a Chakra or PyTorch execution trace as JSON",
        &["chakra", "ctrl_deps", "ctrlDeps", "data_deps", "dataDeps", "COMM_COLL_NODE", "pytorch", "rf_id"],
        CHAKRA,
    ),
    ("a trace of events for Chrome (PyTorch's profiler, Kineto)", &["traceEvents", "\"ph\""], RECORD),
    (
        "an experiment or a graph as JSON",
        &["\"nodes\"", "\"links\"", "\"edges\""],
        "a trace lists what tasks do; `fsin explain graph` describes topologies",
    ),
    ("JSON", &[""], "no format of traces that is read here is JSON"),
];

/// \[bytes\] Beginning of a JSON file in which words are looked for.
const JSON_BEGINNING: u64 = 1 << 16;

/// What a file is, and the remedy, by its beginning or its name.
fn named(entry: &Entry) -> Option<(&'static str, &'static str)> {
    let begins = |foreign: &&Foreign| foreign.magics.iter().any(|magic| entry.magic.starts_with(magic));
    let name = entry.name.to_ascii_lowercase();
    let ends = |foreign: &&Foreign| foreign.suffixes.iter().any(|suffix| name.ends_with(suffix));
    let found = FOREIGN.iter().find(begins);
    // A Chakra trace begins with the length of its metadata, whose first field is its version.
    let is_chakra = entry.magic.get(1) == Some(&0x0A) && entry.magic.get(3..7) == Some(b"0.0.");
    let chakra = || FOREIGN.iter().find(|foreign| is_chakra && foreign.suffixes == [".et"]);
    // TAU's events have the suffix of another format.
    let tau = || FOREIGN.iter().find(|foreign| is_tau(&name) && foreign.suffixes == [".edf"]);
    let foreign = found.or_else(chakra).or_else(tau).or_else(|| FOREIGN.iter().find(ends))?;
    Some((foreign.what, foreign.remedy))
}

/// True for the name of a file of TAU's events.
fn is_tau(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.starts_with("tautrace.") || file == "tau.trc"
}

/// What a JSON file is, and the remedy.
fn json(source: &Source<'_>, entry: &Entry) -> Option<(&'static str, &'static str)> {
    let first = entry.magic.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if !matches!(first, b'{' | b'[') || entry.name.ends_with(".conf") {
        return None;
    }
    let mut beginning = Vec::new();
    let read = source.visit(std::slice::from_ref(&entry.name), &mut |_, place, reader| {
        let read = reader.take(JSON_BEGINNING).read_to_end(&mut beginning);
        read.map(|_| ()).map_err(|error| super::input::failed(place, error))
    });
    read.ok()?;
    let text = String::from_utf8_lossy(&beginning);
    // In a folder, JSON of any kind says nothing about the trace.
    let kinds = if source.only_entry().is_some() { JSON } else { &JSON[..JSON.len() - 1] };
    let (what, _, remedy) = kinds.iter().find(|(_, words, _)| words.iter().any(|word| text.contains(word)))?;
    Some((what, remedy))
}

/// The fault of a packed file that is known by the end of its name; `None` for all others.
pub(super) fn packed(path: &str) -> Option<Fault> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lower = name.to_ascii_lowercase();
    let is_packed = |suffix: &&'static str| suffix.ends_with(".bz2") && lower.ends_with(*suffix);
    let foreign = FOREIGN.iter().find(|foreign| foreign.suffixes.iter().any(is_packed))?;
    Some(Fault::Foreign { file: name.to_owned(), what: foreign.what, remedy: foreign.remedy })
}

/// The fault of a source that holds a file of a known format which is not read; `None` if it holds none.
pub(super) fn fault(source: &Source<'_>) -> Option<Fault> {
    // Some archives are files of a format themselves.
    let path = source.place().path;
    let name = path.file_name().filter(|_| source.is_archive()).unwrap_or_default().to_string_lossy().into_owned();
    let whole = Entry { name, head: Vec::new(), magic: Vec::new() };
    let entries = || std::iter::once(&whole).chain(source.entries());
    let known = entries().find_map(|entry| Some((entry, named(entry)?)));
    let known = known.or_else(|| source.entries().iter().find_map(|entry| Some((entry, json(source, entry)?))));
    let (entry, (what, remedy)) = known?;
    Some(Fault::Foreign { file: entry.name.clone(), what, remedy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_beginning_or_its_name() {
        for foreign in FOREIGN {
            assert!(!foreign.magics.is_empty() || !foreign.suffixes.is_empty(), "{}", foreign.what);
            for suffix in foreign.suffixes {
                let entry = Entry { name: format!("a/run{suffix}"), head: Vec::new(), magic: b"xxxxxxxx".to_vec() };
                assert_eq!(named(&entry).map(|(what, _)| what), Some(foreign.what), "{suffix}");
            }
            for magic in foreign.magics {
                let magic = [*magic, b" and more"].concat();
                let entry = Entry { name: "unnamed".to_owned(), head: Vec::new(), magic };
                assert_eq!(named(&entry).map(|(what, _)| what), Some(foreign.what));
            }
        }
    }
}
