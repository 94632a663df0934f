//! The interface of tools: the library has no control variables, performance variables, categories and events.

use crate::abi::*;

mpi! {
    |world|
    fn MPI_T_init_thread(_wanted: I, provided: Ip) { put(provided, 1); Ok(()) }
    fn MPI_T_finalize() { Ok(()) }
    fn MPI_T_cvar_get_num(count: Ip) { put(count, 0); Ok(()) }
    fn MPI_T_pvar_get_num(count: Ip) { put(count, 0); Ok(()) }
    fn MPI_T_category_get_num(count: Ip) { put(count, 0); Ok(()) }
    fn MPI_T_category_changed(stamp: Ip) { put(stamp, 0); Ok(()) }
    fn MPI_T_event_get_num(count: Ip) { put(count, 0); Ok(()) }
    fn MPI_T_source_get_num(count: Ip) { put(count, 0); Ok(()) }
}
