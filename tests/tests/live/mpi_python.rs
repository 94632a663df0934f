//! mpi4py's own tests, module by module. Its source distribution has them in the folder `test`.

#![allow(clippy::print_stderr, reason = "how many modules are clean is what it is run for")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tests::command::{fsin, mpi_library};
use tests::mpi::said;
use tests::shared::skipped;

/// Modules that are not clean, the least number of ranks with which they are not, and why.
const OTHERS: [(&str, usize, &str); 4] = [
    ("test_toplevel", 1, "it never calls MPI_Init, and such a program is refused"),
    ("test_dynproc", 2, "it connects programs through ports, which are refused"),
    ("test_ulfm", 2, "its ranks call a barrier and an allreduce in different orders"),
    ("test_util_sync", 2, "it looks at a window until another rank has changed it, and no virtual time passes"),
];

/// Runs a module on so many ranks.
fn run(folder: &Path, module: &str, ranks: usize) -> Output {
    let mut command = fsin(folder);
    command.env("FSIN_MPI_LIBRARY", mpi_library());
    // Idle threads of OpenBLAS, and tests of what is refused: MPI_Comm_spawn.
    command.env("OPENBLAS_NUM_THREADS", "1").env("MPI4PY_TEST_SPAWN", "0");
    let flags = format!(
        "mpirun -q -n {ranks} --network constant-delay:delay=1us -- timeout 900 python3 -m unittest -q {module}"
    );
    command.args(flags.split_whitespace()).output().unwrap()
}

/// The modules in a folder.
fn modules(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut modules: Vec<String> = names
        .filter_map(|name| name.strip_suffix(".py").filter(|name| name.starts_with("test_")).map(str::to_owned))
        .collect();
    modules.sort();
    modules
}

#[test]
#[ignore = "half an hour; needs mpi4py's sources in MPI4PY_SOURCES (pip download --no-deps --no-binary mpi4py mpi4py)"]
fn modules_of_mpi4py_are_clean() {
    let Some(sources) = std::env::var_os("MPI4PY_SOURCES").map(PathBuf::from) else {
        skipped("MPI4PY_SOURCES does not name mpi4py's sources");
        return;
    };
    let folder = sources.join("test");
    let all = modules(&folder);
    assert!(all.len() > 60, "{all:?}");
    let mut wrong = Vec::new();
    for ranks in [1, 2, 4] {
        let mut clean = 0;
        for module in &all {
            let other = OTHERS.iter().any(|&(name, from, _)| name == module && ranks >= from);
            let output = run(&folder, module, ranks);
            clean += usize::from(output.status.success());
            if output.status.success() == other {
                wrong.push(format!("{module} on {ranks}: {}\n{}", output.status, said(&output).1));
            }
        }
        eprintln!("{ranks} ranks: {clean} of {} modules are clean", all.len());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
