//! The MPI programs of the second set of cases (`../shared/cases/second/mpi`): what each prints, by the standard, and how
//! long its sends last.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use tests::mpi::{program_with, said};
use tests::shared::shared_file;

/// What a program of the cases prints on so many ranks over a network; `None`, aloud, where it cannot be compiled.
fn printed(source: &str, ranks: usize, network: &str) -> Option<String> {
    let path = shared_file(&format!("cases/second/mpi/{source}"))?;
    let program = program_with(path.to_str().unwrap(), &[])?;
    let output = program.run(&format!("-n {ranks} -q --network {network}"), "");
    let (out, errors) = said(&output);
    assert!(output.status.success(), "{source}: {out}{errors}");
    Some(out)
}

#[test]
fn l8_programs_print_what_the_standard_says() {
    for (source, ranks, expected) in [
        ("part_order.c", 2, "10 20\n"),
        ("keyval_kind.c", 1, "set_attr with a keyval of windows: error\n"),
        ("info_early.c", 1, "1 value\n"),
        ("cas_type.c", 2, "class MPI_ERR_TYPE\nclass MPI_ERR_TYPE\n"),
        ("self_freed.c", 1, "4 1 0 2 3 \n"),
        ("unweighted.f90", 2, " size           2\n size           2\n"),
    ] {
        let Some(out) = printed(source, ranks, "constant-delay:delay=1us") else { continue };
        assert_eq!(out, expected, "{source}");
    }
}

/// 1 MB at 10 Gb/s keep their link busy for 800 us, and their sender with it.
#[test]
fn l2_a_send_ends_when_its_link_is_free() {
    let Some(out) = printed("sendend.c", 2, "constant-delay:delay=1us,rate=10Gb/s") else { return };
    for line in ["send took 800.0 us", "isend+wait took 800.0 us", "recv took 801.0 us"] {
        assert!(out.lines().any(|found| found == line), "{line}: {out}");
    }
}
