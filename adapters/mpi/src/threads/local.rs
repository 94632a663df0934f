//! Calls that concern no other thread: they neither communicate, nor read or pass virtual time, nor end a request.
//!
//! A turn costs two looks at every other thread of the process. Programs that ask for `MPI_THREAD_MULTIPLE` and have idle threads, as Python has
//! with NumPy, make many calls between two messages, which are spared them.

/// Beginnings of the names of calls of which every one is local: about datatypes, groups, infos, operations and packing.
const FAMILIES: [&str; 8] =
    ["MPI_Type_", "MPI_Group_", "MPI_Info_", "MPI_Op_", "MPI_Pack", "MPI_Unpack", "MPI_Status_", "MPI_Error_"];

/// Other local calls.
const SINGLE: [&str; 22] = [
    "MPI_Address",
    "MPI_Comm_compare",
    "MPI_Comm_get_attr",
    "MPI_Comm_get_name",
    "MPI_Comm_group",
    "MPI_Comm_rank",
    "MPI_Comm_remote_size",
    "MPI_Comm_size",
    "MPI_Comm_test_inter",
    "MPI_Finalized",
    "MPI_Get_address",
    "MPI_Get_count",
    "MPI_Get_count_c",
    "MPI_Get_elements",
    "MPI_Get_elements_c",
    "MPI_Get_elements_x",
    "MPI_Get_library_version",
    "MPI_Get_processor_name",
    "MPI_Get_version",
    "MPI_Initialized",
    "MPI_Is_thread_main",
    "MPI_Query_thread",
];

/// True for the name of a call that concerns no other thread.
pub(crate) fn is_local(name: &str) -> bool {
    FAMILIES.iter().any(|family| name.starts_with(family)) || SINGLE.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{SINGLE, is_local};

    #[test]
    fn calls_that_communicate_or_read_the_clock_are_not_local() {
        assert!(SINGLE.is_sorted());
        for name in ["MPI_Type_commit", "MPI_Type_contiguous_c", "MPI_Comm_rank", "MPI_Get_elements_x"] {
            assert!(is_local(name), "{name}");
        }
        for name in ["MPI_Send", "MPI_Wtime", "MPI_Test", "MPI_Comm_dup", "MPI_Grequest_complete", "MPI_Get", "sleep"] {
            assert!(!is_local(name), "{name}");
        }
    }
}
