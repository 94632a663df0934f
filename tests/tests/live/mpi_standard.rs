//! The page of the chapters of the MPI standard says which calls are implemented, as the library defines them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tests::shared::{skipped, workspace};

/// Chapters of MPI 4.0 with the beginnings of the names of their calls, of which the longest counts, and why calls of the
/// chapter are refused.
const CHAPTERS: &[(&str, &str, &str)] = &[
    (
        "Point-to-point communication",
        "Send Ssend Rsend Bsend Recv Isend Issend Irsend Ibsend Irecv Isendrecv Sendrecv Send_init Mprobe Mrecv Improbe Imrecv Probe \
         Iprobe Wait Test Request Cancel Start Buffer Get_count",
        "",
    ),
    ("Partitioned communication", "Psend Precv Pready Parrived", ""),
    ("Datatypes", "Type Pack Unpack Get_elements Get_address Address Aint Status_set_elements Register", ""),
    (
        "Collective communication",
        "Barrier Ibarrier Bcast Ibcast Gather Igather Scatter Iscatter Allgather Iallgather Alltoall Ialltoall Reduce Ireduce \
         Allreduce Iallreduce Scan Iscan Exscan Iexscan Op",
        "",
    ),
    (
        "Groups, contexts, communicators, attributes",
        "Comm Group Intercomm Attr Keyval Win_create_keyval Win_free_keyval Win_set_attr Win_get_attr Win_delete_attr \
         Type_create_keyval Type_free_keyval Type_set_attr Type_get_attr Type_delete_attr Win_set_name Win_get_name \
         Type_set_name Type_get_name Win_set_info Win_get_info",
        "",
    ),
    ("Virtual topologies", "Cart Graph Dist_graph Dims Topo Neighbor Ineighbor", ""),
    (
        "Environment, errors, clocks",
        "Init Finalize Initialized Finalized Abort Get_version Get_library Get_processor Alloc_mem Free_mem Error Errhandler \
         Add_error Wtime Wtick Comm_create_errhandler Comm_set_errhandler Comm_get_errhandler Comm_call_errhandler \
         Win_create_errhandler Win_set_errhandler Win_get_errhandler Win_call_errhandler Query_thread Is_thread Pcontrol",
        "",
    ),
    ("Info", "Info", ""),
    (
        "Processes and sessions",
        "Comm_spawn Comm_connect Comm_accept Comm_join Comm_get_parent Comm_disconnect Open_port Close_port Publish Unpublish \
         Lookup Session Group_from_session Comm_create_from_group Intercomm_create_from_groups",
        "the ranks of a run are those that `-n` says",
    ),
    (
        "One-sided communication",
        "Win Put Rput Get Rget Accumulate Raccumulate Get_accumulate Rget_accumulate Fetch_and_op Compare_and_swap",
        "",
    ),
    ("External interfaces", "Grequest Status Init_thread", ""),
    ("Files", "File Register_datarep", ""),
    ("Tools", "T", "there are no variables, categories and events: their numbers are 0"),
];

/// The chapter of a call: that with the longest beginning of its name, whole words of it.
fn chapter(name: &str) -> usize {
    let rest = name.strip_prefix("MPI_").unwrap_or(name);
    let length = |(_, words, _): &(&str, &str, &str)| {
        let begins = |word: &&str| rest == *word || rest.strip_prefix(word).is_some_and(|rest| rest.starts_with('_'));
        let begins_together = |word: &&str| begins(word) || word.len() > 3 && rest.starts_with(*word);
        words.split_whitespace().filter(begins_together).map(str::len).max().unwrap_or(0)
    };
    let best = (0..CHAPTERS.len()).max_by_key(|&index| (length(&CHAPTERS[index]), usize::MAX - index)).unwrap();
    assert!(length(&CHAPTERS[best]) > 0, "{name} is in no chapter");
    best
}

/// Adds the calls that a source file of the library defines, as its build script recognizes them.
fn defined(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            defined(&path, names);
            continue;
        }
        for line in fs::read_to_string(path).unwrap().lines().map(str::trim_start) {
            let is_call = line.starts_with("fn MPI") || line.starts_with("MPI") && line.contains(" / MPI");
            let head = line.split('(').next().unwrap_or("");
            let words = head.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            names.extend(words.filter(|word| is_call && word.starts_with("MPI_")).map(str::to_owned));
        }
    }
}

/// The calls that the installed headers of MPICH declare; those of the profiling interface and of large counts are left out.
fn declared() -> Option<BTreeSet<String>> {
    let files = ["mpi_proto.h", "mpio.h"].map(|file| format!("/usr/include/x86_64-linux-gnu/mpich/{file}"));
    let header = files.iter().map(fs::read_to_string).collect::<Result<String, _>>().ok()?;
    let name = |line: &str| {
        let rest = line.strip_prefix("int MPI_").or_else(|| line.strip_prefix("double MPI_"))?;
        let rest = rest.split('(').next()?;
        (!rest.ends_with("_c")
            && !rest.ends_with("_FN")
            && !rest.contains("f2c")
            && !rest.contains("c2f")
            && !rest.contains("f08"))
        .then(|| format!("MPI_{rest}"))
    };
    Some(header.lines().filter(|line| line.contains('(')).filter_map(name).filter(|name| !name.contains(' ')).collect())
}

/// The table of the page.
fn table(declared: &BTreeSet<String>, defined: &BTreeSet<String>) -> String {
    let mut rows: BTreeMap<usize, (usize, Vec<&str>)> = BTreeMap::new();
    for name in declared {
        let row = rows.entry(chapter(name)).or_default();
        if defined.contains(name) {
            row.0 += 1;
        } else {
            row.1.push(name);
        }
    }
    let mut text = String::from("| chapter | calls | refused | which, and why |\n| --- | ---: | ---: | --- |\n");
    for (index, (done, refused)) in rows {
        let (title, _, why) = CHAPTERS[index];
        let shown: Vec<String> = refused.iter().take(8).map(|name| format!("`{name}`")).collect();
        let more = refused.len().saturating_sub(shown.len());
        let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
        let which = if refused.is_empty() { String::new() } else { format!("{}{tail}: {why}", shown.join(", ")) };
        writeln!(text, "| {title} | {} | {} | {which} |", done + refused.len(), refused.len()).unwrap();
    }
    text
}

#[test]
fn the_page_of_the_standard_is_that_of_the_library() {
    let Some(declared) = declared() else {
        skipped("no mpi.h of MPICH on this machine (Debian: libmpich-dev)");
        return;
    };
    let mut ours = BTreeSet::new();
    defined(&workspace().join("adapters/mpi/src"), &mut ours);
    let page = workspace().join("docs/book/src/howto/mpi-standard.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("<!-- table -->\n\n").unwrap();
    let (found, after) = rest.split_once("\n<!-- end -->").unwrap();
    let wanted = table(&declared, &ours);
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(&page, format!("{before}<!-- table -->\n\n{wanted}\n<!-- end -->{after}")).unwrap();
        return;
    }
    assert_eq!(found, wanted, "UPDATE_EXAMPLES=1 writes the table");
}
