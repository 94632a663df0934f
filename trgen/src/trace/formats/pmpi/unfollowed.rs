//! Calls that are rejected, with a replacement for each; calls that are omitted.

use super::line::KNOWN;
use crate::catalog::suggestion;
use crate::trace::formats::error::Fault;

// What a rejected call does, and its replacement.
const NO_RECEIVE: &str = "messages that no receive asks for: send them with MPI_Isend instead";
const WINDOW: &str = "a window that ranks synchronise: exchange by messages, such as MPI_Isend, instead";
const NEIGHBOURS: &str = "a collective of neighbours: exchange with each of them by MPI_Isend and MPI_Irecv instead";
const PERSISTENT: &str = "a persistent operation: begin each message with MPI_Isend or MPI_Irecv instead";
const MATCHED: &str = "a receive of a message that was matched before: call MPI_Probe and MPI_Recv instead";
const BETWEEN: &str = "a communicator between groups: make one of all ranks with MPI_Comm_split instead";
const LATER: &str = "a communicator with processes that come later: start all ranks together instead";

/// Rejected calls, by name, or by prefix if the entry ends with `_`.
const REFUSED: &[(&[&str], &str)] = &[
    (&["Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap"], NO_RECEIVE),
    (&["Rput", "Rget", "Raccumulate", "Rget_accumulate"], NO_RECEIVE),
    (&["Win_"], WINDOW),
    (&["Neighbor_", "Ineighbor_"], NEIGHBOURS),
    (&["Start", "Startall", "Psend_init", "Precv_init"], PERSISTENT),
    (&["Mprobe", "Improbe", "Mrecv", "Imrecv"], MATCHED),
    (&["Isendrecv", "Isendrecv_replace"], "two messages at once: call MPI_Isend and MPI_Irecv instead"),
    (&["Intercomm_"], BETWEEN),
    (&["Comm_spawn", "Comm_spawn_multiple", "Comm_accept", "Comm_connect", "Comm_join"], LATER),
    (
        &["Comm_create_group", "Comm_create_from_group"],
        "a communicator that others do not see: call MPI_Comm_create instead",
    ),
    (&["Comm_idup", "Comm_idup_with_info"], "a communicator that is there later: call MPI_Comm_dup instead"),
];

/// Supported calls that [`KNOWN`] does not list: most of them are logged under another name.
const ALSO_SUPPORTED: &[&str] =
    &["Alltoallw", "Reduce_scatter_block", "Sendrecv_replace", "Bsend_init", "Ssend_init", "Rsend_init"];

/// Collectives with a non-blocking and a persistent form.
const COLLECTIVES: &[&str] = &[
    "Barrier",
    "Bcast",
    "Reduce",
    "Allreduce",
    "Scan",
    "Exscan",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Allgather",
    "Allgatherv",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Reduce_scatter",
    "Reduce_scatter_block",
];

/// The kind of a call that is omitted, for a warning; `None` for a call that is read or rejected.
pub(super) fn left_out(name: &str) -> Option<&'static str> {
    match name {
        "Win_allocate_shared" | "Win_allocate_shared_c" => Some("windows of shared memory, whose use is left out"),
        name if name.starts_with("File_") => Some("calls on files, which are left out"),
        _ => None,
    }
}

/// Finds the supported call of this name, without regard to case.
fn find_supported(name: &str) -> Option<&'static str> {
    KNOWN.iter().chain(ALSO_SUPPORTED).copied().find(|known| known.eq_ignore_ascii_case(name))
}

/// Finds the supported collective of this name.
fn find_collective(name: &str) -> Option<&'static str> {
    find_supported(name).filter(|known| COLLECTIVES.contains(known))
}

/// The error for an unsupported call. Calls with large counts have the suffix `_c`, non-blocking collectives the prefix
/// I, and persistent ones the suffix `_init`.
pub(super) fn fault(found: &str) -> Fault {
    let name = found.strip_prefix("MPI_").or_else(|| found.strip_prefix("MPIX_")).unwrap_or(found);
    let small_count = name.strip_suffix("_c").unwrap_or(name);
    let matches = |word: &&str| *word == small_count || word.ends_with('_') && small_count.starts_with(*word);
    let what = if let Some((_, what)) = REFUSED.iter().find(|(words, _)| words.iter().any(matches)) {
        (*what).to_owned()
    } else if let Some(call) = find_supported(small_count).filter(|_| small_count != name) {
        format!("a call with counts of MPI_Count: call MPI_{call} instead")
    } else if let Some(call) = small_count.strip_prefix('I').and_then(find_collective) {
        format!("a non-blocking collective: call MPI_{call} instead")
    } else if let Some(call) = small_count.strip_suffix("_init").and_then(find_collective) {
        format!("a persistent collective: call MPI_{call} instead")
    } else {
        let remedy = format!("{}; a call without messages can be removed", suggestion(small_count, KNOWN));
        return Fault::UnknownWord { what: "call", found: found.to_owned(), remedy };
    };
    let remedy = "the program has to be changed so and recorded again; `trace-prep record {help}` lists such calls";
    Fault::Structure { what: format!("`{found}` is not followed, {what}"), remedy }
}
