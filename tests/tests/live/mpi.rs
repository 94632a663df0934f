//! Unmodified MPI programs on simulated networks: they verify themselves, and their runs repeat to the bit.
//!
//! The programs make the calls of the NAS benchmarks in their patterns, but are programs of these tests.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;
use tests::command::{fsin, mpi_library};
use tests::mpi::{Program, program, said};
use tests::shared::{skipped, workspace};

/// Runs a program and returns its results; its output must say that it has verified itself.
fn results(program: &Program, name: &str, flags: &str) -> Value {
    let file = program.folder().join("result.json");
    let _ = fs::remove_file(&file);
    let output = program.run(&format!("{flags} -o result.json"), "");
    let (out, errors) = said(&output);
    assert!(output.status.success(), "{name} {flags}: {}: {out}{errors}", output.status);
    assert_eq!(out.trim(), format!("{name} VERIFIED"), "{flags}: {errors}");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

const PROGRAMS: [(&str, &str); 6] =
    [("cg", "cg.c"), ("mg", "mg.c"), ("ft", "ft.c"), ("is", "is.c"), ("lu", "lu.f90"), ("bt", "bt.f90")];

#[test]
fn programs_in_the_patterns_of_nas_verify_themselves_on_any_network_and_repeat() {
    for (name, source) in PROGRAMS {
        let Some(program) = program(source) else { return };
        for network in ["--network switch:delay=1us,nodes=16", "--topology torus:4x4", "--topology fattree:4,2"] {
            for ranks in [4, 16] {
                let flags = format!("-n {ranks} {network} --compute fixed:100ns");
                let (first, second) = (results(&program, name, &flags), results(&program, name, &flags));
                assert!(first["guest_digest"].is_string());
                for figure in ["guest_digest", "digest", "completion_cycles", "ranks"] {
                    assert_eq!(first[figure], second[figure], "{name} {flags}: {figure}");
                }
            }
        }
    }
}

#[test]
fn neither_the_order_of_start_nor_a_busy_machine_changes_anything() {
    let Some(program) = program("is.c") else { return };
    let flags = "-n 8 --topology torus:4x2 --compute fixed:100ns";
    let expected = results(&program, "is", flags);
    // The last ranks come first, and some much later than others.
    let script = "sleep 0.$(( (FSIN_MPI_SIZE - FSIN_MPI_RANK) % 4 )); exec ./program";
    fs::write(program.folder().join("late.sh"), script).unwrap();
    let busy = AtomicBool::new(true);
    let found = thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while busy.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let mut command = fsin(program.folder());
        command.env("FSIN_MPI_LIBRARY", mpi_library());
        command.arg("mpirun").args(flags.split_whitespace()).args(["-q", "-o", "late.json", "--", "sh", "late.sh"]);
        let output = command.output().unwrap();
        busy.store(false, Ordering::Relaxed);
        assert_eq!(said(&output), ("is VERIFIED\n".to_owned(), String::new()));
        fs::read_to_string(program.folder().join("late.json")).unwrap()
    });
    let found: Value = serde_json::from_str(&found).unwrap();
    for figure in ["guest_digest", "digest", "completion_cycles", "ranks"] {
        assert_eq!(found[figure], expected[figure], "{figure}");
    }
}

#[test]
fn ranks_compute_at_the_same_time_without_a_change_of_results() {
    let Some(program) = program("compute.c") else { return };
    // Long enough for announcements: 5 ms of processor time between two messages.
    for compute in ["fixed:1ms", "none"] {
        let flags = format!("-n 4 --network switch:delay=10us,nodes=4 --compute {compute}");
        let run = || {
            let output = program.run(&format!("{flags} -o result.json"), "5 5");
            assert_eq!(said(&output).0, "compute VERIFIED\n", "{}", said(&output).1);
            let file = program.folder().join("result.json");
            let result: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            fs::remove_file(file).unwrap();
            result["guest_digest"].clone()
        };
        assert_eq!(run(), run(), "{compute}");
    }
    let output = program.run("-n 4 --network switch:delay=10us,nodes=4 --compute measured --wire-log wire", "5 5");
    assert_eq!(said(&output).0, "compute VERIFIED\n", "{}", said(&output).1);
    let wire = fs::read_to_string(program.folder().join("wire")).unwrap();
    assert!(wire.lines().any(|line| line.contains("\tBusy\t")), "nobody has announced that it computes");
}

#[test]
fn every_synchronisation_gives_the_results_of_the_central_order() {
    // Sums of the rounds of all programs and ranks.
    let (mut null, mut combined) = (0.0, 0.0);
    for (name, source) in PROGRAMS {
        let Some(program) = program(source) else { return };
        for compute in ["fixed:100ns", "none"] {
            // The grid of this program is square.
            let ranks = if name == "bt" { 4 } else { 8 };
            let flags = format!("-n {ranks} --network switch:delay=1us,nodes=8 --compute {compute}");
            let central = results(&program, name, &flags);
            let mut conditional = f64::INFINITY;
            for sync in
                ["quantum:1us", "quantum:300ns", "null-message", "conditional-event", "combined", "deterministic"]
            {
                let found = results(&program, name, &format!("{flags} --sync {sync}"));
                for figure in ["guest_digest", "digest", "completion_cycles"] {
                    assert_eq!(found[figure], central[figure], "{name} {compute} {sync}: {figure}");
                }
                let rounds = |rank: &Value| rank["sync_rounds"].as_f64().unwrap();
                let rounds: f64 = found["ranks"].as_array().unwrap().iter().map(rounds).sum();
                match sync {
                    // Those of null messages depend on the host, by a few per cent.
                    "null-message" => null += rounds,
                    "conditional-event" => conditional = rounds,
                    "combined" => {
                        assert!(rounds < conditional, "{name} {compute}: {rounds} {conditional}");
                        combined += rounds;
                    }
                    _ => {}
                }
                let ranks = found["ranks"].as_array().unwrap().iter().zip(central["ranks"].as_array().unwrap());
                for (found, central) in ranks {
                    let cost = |figure: &str| found[figure].as_f64().unwrap();
                    for (figure, value) in central.as_object().unwrap() {
                        let costs = ["sync_rounds", "sync_rounds_relative", "uninterrupted_mean_delays"];
                        if !costs.contains(&&**figure) {
                            assert_eq!(&found[figure], value, "{name} {compute} {sync}: {figure}");
                        }
                    }
                    // A round more begins the run, and one may end it.
                    let quanta = (found["time_ps"].as_f64().unwrap() / 1e6).ceil() + 2.0;
                    match sync {
                        "quantum:1us" | "conditional-event" => {
                            assert!((1.0..=quanta).contains(&cost("sync_rounds")), "{sync} {found}");
                        }
                        "quantum:300ns" => assert!(cost("sync_rounds") > quanta, "{found}"),
                        _ => assert!(found["sync_rounds"].is_u64()),
                    }
                }
            }
        }
    }
    assert!(combined < 0.95 * null, "{combined} {null}");
}

#[test]
fn wildcards_and_collectives_in_progress_are_synchronised_too() {
    let Some(program) = program("calls.c") else { return };
    let run = |sync: &str| {
        let output = program.run(&format!("-n 5 --network switch:delay=1us,nodes=8 --sync {sync}"), "");
        let (_, errors) = said(&output);
        let digest = errors.split("digest ").nth(1).and_then(|rest| rest.lines().next()).map(str::to_owned);
        (output.status.success(), digest, errors)
    };
    let central = run("central");
    assert!(central.0 && central.1.is_some(), "{}", central.2);
    for sync in ["quantum:1us", "null-message", "conditional-event", "combined"] {
        let found = run(sync);
        assert_eq!((found.0, found.1), (true, central.1.clone()), "{sync}: {}", found.2);
    }
    // Its synchronous sends may be answered too late for the deterministic mode, which says so.
    let found = run("deterministic");
    if found.0 {
        assert_eq!(found.1, central.1);
    } else {
        assert!(found.2.contains("use --sync combined"), "{}", found.2);
    }
}

#[test]
fn synchronisation_without_a_centre_needs_delays_that_are_known() {
    let Some(program) = program("is.c") else { return };
    for (flags, reason) in [
        ("--topology torus:4x2 --sync combined", "not known when it is sent"),
        ("--network switch:delay=1us,nodes=8 --sync quantum:0ns", "not a time above 0"),
        ("--network switch:delay=1us,nodes=8 --sync best", "there is no such synchronisation"),
        ("--network switch:delay=1us,nodes=4 --ranks-per-node 2 --sync deterministic", "ranks share nodes"),
    ] {
        let output = program.run(&format!("-n 8 {flags}"), "");
        assert_eq!(output.status.code(), Some(2), "{flags}");
        assert!(said(&output).1.contains(reason), "{flags}: {}", said(&output).1);
    }
}

#[test]
fn ranks_may_share_nodes() {
    let Some(program) = program("mg.c") else { return };
    let flags = "-n 16 --ranks-per-node 4 --topology torus:2x2 --compute fixed:1us";
    let (first, second) = (results(&program, "mg", flags), results(&program, "mg", flags));
    assert_eq!(first["guest_digest"], second["guest_digest"]);
    assert_eq!(first["nodes"], 4);
    let apart = results(&program, "mg", "-n 16 --topology torus:4x4 --compute fixed:1us");
    assert_ne!(first["completion_cycles"], apart["completion_cycles"]);
}

#[test]
fn every_call_does_what_the_standard_says() {
    let Some(program) = program("calls.c") else { return };
    for ranks in [2, 3, 5, 8] {
        for collectives in
            ["mpich", "basic", "allreduce=ring,bcast=scatter-ring,alltoall=bruck,allgather=ring,reduce=linear"]
        {
            let flags = format!("-n {ranks} --network switch:delay=1us,nodes=8 --collectives {collectives}");
            results(&program, "calls", &flags);
        }
    }
}

#[test]
fn more_calls_do_what_the_standard_says() {
    let Some(program) = program("more.c") else { return };
    for ranks in [2, 3, 4, 7] {
        for network in ["--network switch:delay=1us,nodes=8", "--topology torus:4x2 --compute fixed:100ns"] {
            results(&program, "more", &format!("-n {ranks} {network}"));
        }
    }
    results(&program, "more", "-n 4 --network switch:delay=1us,nodes=8 --sync combined");
}

/// Calls of MPI-1.3, of which each is made by a program of these tests.
const MPI_1_3: &str = "Abort Address Allgather Allgatherv Allreduce Alltoall Alltoallv Attr_delete Attr_get Attr_put \
    Barrier Bcast Bsend Bsend_init Buffer_attach Buffer_detach Cancel Cart_coords Cart_create Cart_get Cart_map \
    Cart_rank Cart_shift Cart_sub Cartdim_get Comm_compare Comm_create Comm_dup Comm_free Comm_group Comm_rank \
    Comm_remote_group Comm_remote_size Comm_size Comm_split Comm_test_inter Dims_create Errhandler_create \
    Errhandler_free Errhandler_get Errhandler_set Error_class Error_string Finalize Gather Gatherv Get_count \
    Get_elements Get_processor_name Get_version Graph_create Graph_get Graph_map Graph_neighbors \
    Graph_neighbors_count Graphdims_get Group_compare Group_difference Group_excl Group_free Group_incl \
    Group_intersection Group_range_excl Group_range_incl Group_rank Group_size Group_translate_ranks Group_union \
    Ibsend Init Initialized Intercomm_create Intercomm_merge Iprobe Irecv Irsend Isend Issend Keyval_create \
    Keyval_free Op_create Op_free Pack Pack_size Pcontrol Probe Recv Recv_init Reduce Reduce_scatter Request_free \
    Rsend Rsend_init Scan Scatter Scatterv Send Send_init Sendrecv Sendrecv_replace Ssend Ssend_init Start Startall \
    Test Test_cancelled Testall Testany Testsome Topo_test Type_commit Type_contiguous Type_extent Type_free \
    Type_hindexed Type_hvector Type_indexed Type_lb Type_size Type_struct Type_ub Type_vector Unpack Wait Waitall \
    Waitany Waitsome Wtick Wtime";

/// Calls of later versions that benchmarks (NPB, HPCC, OSU, NetPIPE) and mpi4py make.
const LATER: &str = "Add_error_class Add_error_code Add_error_string Aint_add Allgather_init Alloc_mem Alltoallw \
    Barrier_init Comm_call_errhandler Comm_create_errhandler Comm_create_group Comm_create_keyval Comm_delete_attr \
    Comm_disconnect Comm_dup_with_info Comm_free_keyval Comm_get_attr Comm_get_errhandler Comm_get_info Comm_get_name \
    Comm_get_parent Comm_idup Comm_set_attr Comm_set_errhandler Comm_set_info Comm_set_name Comm_split_type \
    Dist_graph_create Dist_graph_create_adjacent Dist_graph_neighbors Dist_graph_neighbors_count Exscan Finalized \
    Free_mem Get_address Get_library_version Grequest_complete Grequest_start Iallgather Iallgatherv Iallreduce \
    Ialltoall Ialltoallv Ialltoallw Ibarrier Ibcast Iexscan Igather Igatherv Improbe Imrecv Ineighbor_allgather \
    Info_create Info_delete Info_dup Info_free Info_get Info_get_nkeys Info_get_nthkey Info_get_valuelen Info_set \
    Init_thread Ireduce Ireduce_scatter Ireduce_scatter_block Is_thread_main Iscan Iscatter Iscatterv Isendrecv \
    Isendrecv_replace Mprobe Mrecv Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv \
    Neighbor_alltoallw Op_commutative Query_thread Reduce_local Reduce_scatter_block Request_get_status \
    Status_set_cancelled Status_set_elements Type_create_f90_complex Type_create_f90_integer Type_create_f90_real \
    Type_create_hindexed Type_create_hindexed_block Type_create_hvector Type_create_indexed_block \
    Type_create_keyval Type_create_resized Type_create_struct Type_create_subarray Type_dup Type_free_keyval \
    Type_get_attr Type_get_contents Type_get_envelope Type_get_extent Type_get_name Type_get_true_extent \
    Type_match_size Type_set_attr Type_set_name";

#[test]
fn every_call_of_the_lists_is_made_by_a_program() {
    let folder = workspace().join("tests/programs/mpi");
    let sources = fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let text = sources.collect::<String>();
    let made: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let missing: Vec<&str> = MPI_1_3
        .split_whitespace()
        .chain(LATER.split_whitespace())
        .filter(|name| !made.contains(format!("MPI_{name}").as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn functions_of_the_program_that_mpi_calls_can_call_mpi() {
    let Some(program) = program("callbacks.c") else { return };
    for (word, status) in [("", 0), ("abort", 9)] {
        let output = program.run("-n 4 --topology torus:2x2 --compute fixed:1us", word);
        let (out, errors) = said(&output);
        assert_eq!(output.status.code(), Some(status), "{out}{errors}");
        // The attribute and its copy are deleted; a function that runs at the exit finds MPI finalized.
        let mut ranks = if status == 0 { 0..4 } else { 1..2 };
        assert!(ranks.all(|rank| out.contains(&format!("rank {rank}: 1 1 2 1 1 1 1\n"))), "{out}{errors}");
        assert!(out.contains("rank 1 at exit: 1\n"), "{out}{errors}");
    }
}

#[test]
fn half_a_round_trip_is_delay_and_overheads() {
    let Some(program) = program("pingpong.c") else { return };
    // A program reads its clock twice, and each reading takes a nanosecond. Computing before a receive passes while its
    // message travels: only that before a send counts.
    for (flags, expected) in [
        ("--network switch:delay=1us,nodes=2", 1_000_000.0),
        ("--network switch:delay=1us,nodes=2 --send-overhead 300ns --receive-overhead 200ns", 1_500_000.0),
        ("--network switch:delay=2500ns,nodes=2 --compute fixed:40ns", 2_540_000.0),
    ] {
        let output = program.run(&format!("-n 2 {flags}"), "32 1000");
        let (out, errors) = said(&output);
        let half: f64 =
            out.trim().strip_prefix("half ").and_then(|rest| rest.strip_suffix(" ps")).unwrap().parse().unwrap();
        assert!((half - expected).abs() <= 1000.0, "{flags}: {half} {errors}");
    }
}

#[test]
fn measured_computing_takes_time() {
    let Some(program) = program("cg.c") else { return };
    let result = results(&program, "cg", "-n 4 --network switch:delay=1us,nodes=4 --compute measured:10");
    for rank in result["ranks"].as_array().unwrap() {
        assert!(rank["computing_ps"].as_u64().unwrap() > 0, "{rank}");
    }
}

#[test]
fn ranks_account_for_their_time() {
    let Some(program) = program("lu.f90") else { return };
    let result = results(&program, "lu", "-n 4 --network switch:delay=1us,nodes=4 --compute fixed:1us");
    for rank in result["ranks"].as_array().unwrap() {
        let number = |name: &str| rank[name].as_u64().unwrap();
        assert_eq!(number("computing_ps") + number("waiting_ps"), number("time_ps"), "{rank}");
        let waits: u64 =
            rank["waits"].as_array().unwrap().iter().map(|wait| wait["waiting_ps"].as_u64().unwrap()).sum();
        assert_eq!(waits, number("waiting_ps"));
        assert_eq!(rank["calls"]["MPI_Finalize"], 1);
    }
    let sent: u64 =
        result["ranks"].as_array().unwrap().iter().map(|rank| rank["messages_sent"].as_u64().unwrap()).sum();
    assert_eq!(sent, result["messages"].as_u64().unwrap());
}

#[test]
fn a_recording_replays_to_the_same_end() {
    for (name, source) in PROGRAMS {
        let Some(program) = program(source) else { return };
        // Computing in whole cycles of 3.2 ns: a replay cuts others.
        let flags = "-n 4 --topology torus:2x2 --compute fixed:1600ns --record program.trg";
        let live = results(&program, name, flags);
        let mut replay = fsin(program.folder());
        replay.args([
            "run",
            "--trace",
            "program.trg",
            "--topology",
            "torus:2x2",
            "--bandwidth",
            "10Gb/s",
            "--format",
            "json",
        ]);
        let replay = replay.output().unwrap();
        assert!(replay.status.success(), "{name}: {}", said(&replay).1);
        let replay: Value = serde_json::from_slice(&replay.stdout).unwrap();
        // The digest is over the cycle of every delivery.
        for figure in ["completion_cycles", "digest"] {
            assert_eq!(live[figure], replay[figure], "{name}: {figure}");
        }
    }
}

#[test]
fn the_example_on_several_networks_gives_the_table_of_its_pages() {
    // It needs the compiler that this finds.
    let Some(_) = program("is.c") else { return };
    let folder = tempfile::tempdir().unwrap();
    for file in ["spectrum.c", "sweep.sh"] {
        fs::copy(workspace().join("examples/mpi-networks").join(file), folder.path().join(file)).unwrap();
    }
    let library = mpi_library();
    let commands = fsin(folder.path()).get_program().to_owned();
    let mut path = std::path::Path::new(&commands).parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut script = Command::new("sh");
    script.arg("sweep.sh").current_dir(folder.path()).env("PATH", path).env("FSIN_MPI_LIBRARY", library);
    let output = script.output().unwrap();
    let (out, errors) = said(&output);
    assert!(output.status.success(), "{out}{errors}");
    for page in ["examples/mpi-networks/README.md", "docs/book/src/tutorial-mpi.md"] {
        let text = fs::read_to_string(workspace().join(page)).unwrap();
        assert!(out.lines().count() == 8 && text.contains(&out), "{page} has other figures than:\n{out}");
    }
    let read = |path: std::path::PathBuf| fs::read_to_string(path).unwrap();
    let (drawn, kept) =
        (folder.path().join("results/torus-10Gbs.svg"), workspace().join("docs/book/src/images/mpi-traffic.svg"));
    assert!(read(drawn) == read(kept), "the picture in the book is another one");
}

#[test]
fn output_is_labelled_on_demand() {
    let Some(program) = program("calls.c") else { return };
    let output = program.run("-n 2 --network switch:delay=1us,nodes=2 --label -q", "");
    assert_eq!(said(&output), ("[0] calls VERIFIED\n".to_owned(), String::new()));
}

#[test]
fn netpipe_as_packaged_measures_the_modelled_network() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = fsin(folder.path());
    command.env("FSIN_MPI_LIBRARY", mpi_library());
    command.args([
        "mpirun",
        "-q",
        "-n",
        "2",
        "--network",
        "switch:delay=10us,nodes=2",
        "--",
        "NPmpich2",
        "-n",
        "10",
        "-u",
        "64",
    ]);
    let output = command.output().unwrap();
    let (_, errors) = said(&output);
    if errors.contains("cannot start rank 0") {
        skipped("no NPmpich2 on this machine (Debian: netpipe-mpich2)");
        return;
    }
    assert!(output.status.success(), "{errors}");
    let measured: Vec<&str> = errors.lines().filter(|line| line.contains("usec")).collect();
    assert!(measured.len() > 10, "{errors}");
    // Readings of the clock take time, too.
    assert!(measured.iter().all(|line| line.ends_with("10.00 usec") || line.ends_with("10.01 usec")), "{errors}");
}

#[test]
fn python_programs_run() {
    let python = Command::new("python3").args(["-c", "import mpi4py, numpy"]).output();
    if !python.is_ok_and(|python| python.status.success()) {
        skipped("no mpi4py and numpy on this machine (pip install mpi4py numpy)");
        return;
    }
    let mut command = fsin(&workspace().join("tests/programs/mpi"));
    command.env("FSIN_MPI_LIBRARY", mpi_library());
    command.args(["mpirun", "-q", "-n", "4", "--network", "switch:delay=1us,nodes=4", "--", "python3", "buffers.py"]);
    let output = command.output().unwrap();
    assert_eq!(said(&output), ("mpi4py VERIFIED\n".to_owned(), String::new()));
}

#[test]
fn every_name_of_mpich_is_exported() {
    let installed = "/usr/lib/x86_64-linux-gnu/libmpich.so.12";
    let names = |library: &str| -> Option<BTreeSet<String>> {
        let listed = Command::new("nm").args(["-D", "--defined-only", library]).output().ok()?;
        let text = String::from_utf8(listed.stdout).ok().filter(|_| listed.status.success())?;
        Some(text.lines().filter_map(|line| Some(line.split_whitespace().nth(2)?.to_owned())).collect())
    };
    let Some(installed) = names(installed) else {
        skipped("no nm, or no libmpich.so.12 of Debian, on this machine");
        return;
    };
    let ours = names(mpi_library().to_str().unwrap()).unwrap();
    // Versions of MPICH itself, and functions for tools and for its own C++ library.
    let is_own = |name: &&String| {
        ["MPII_Version_", "MPIR_Err_", "QMPI_"].iter().any(|own| name.starts_with(own)) || !name.contains("MPI")
    };
    let missing: Vec<&String> = installed.difference(&ours).filter(|name| !is_own(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(ours.iter().filter(|name| name.starts_with("MPI_")).count() > 600);
}
