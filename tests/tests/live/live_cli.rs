//! `fsin serve`, `fsin guest` and the Python client, as processes. They need `python3`.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use adapters::guest::{Config, Guest};
use serde_json::Value;
use tests::command::{fsin, results, run, serve};
use tests::shared::workspace;

#[test]
fn a_ring_of_scripts_over_the_switch() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("ring"),
        "repeat 5\n node 0: send next 64\n receive\n others 0: send next 64\nend\nmark round",
    )
    .unwrap();
    let (child, address) = serve(folder.path(), "--network switch:delay=100us,nodes=4");
    let guests = run(folder.path(), &format!("guest ring --connect {address} --node 0..3"));
    assert!(guests.status.success(), "{}", String::from_utf8_lossy(&guests.stderr));
    let table = String::from_utf8(guests.stdout).unwrap();
    assert!(table.contains("\n0,2000000000,5,5,"), "5 rounds of 4 x 100 us: {table}");
    let results = results(child);
    assert_eq!(results["complete"], true);
    assert_eq!(results["messages_delivered"], 20);
    assert_eq!(results["guests"][3]["marks"][0]["label"], "round");
}

#[test]
fn a_python_guest_and_a_script_exchange_messages() {
    let python = r#"
import sys, tgp1
guest = tgp1.Guest(sys.argv[1], node=1, token=open("token", "rb").read())
first = guest.receive()
guest.send(0, 100, b"answer")
print(first.time, first.source, first.size)
guest.finish()
"#;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ask"), "advance 32ns\nsend 1 64\nreceive").unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123").unwrap();
    // Other users could read it, and both sides report that.
    std::fs::set_permissions(&token, Permissions::from_mode(0o644)).unwrap();
    for line in ["serve --token-file token", "guest ask --token-file token"] {
        let refused = run(folder.path(), line);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("its mode is 0644") && said.contains("chmod 600"), "{line}: {said}");
    }
    std::fs::set_permissions(&token, Permissions::from_mode(0o600)).unwrap();
    let (child, address) = serve(folder.path(), "--topology torus:4x4 --guests 2 --token-file token");
    let guest = Command::new("python3")
        .args(["-c", python, &address])
        .env("PYTHONPATH", workspace().join("adapters/clients"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let script = run(folder.path(), &format!("guest ask --connect {address} --token-file token"));
    assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
    let said = String::from_utf8(guest.wait_with_output().unwrap().stdout).unwrap();
    // Sent at 32 ns, which is the beginning of cycle 11; one packet of 16 phits over one link.
    let words: Vec<u64> = said.split_whitespace().map(|word| word.parse().unwrap()).collect();
    assert!(words[0] > 32_000 + 16 * 3200, "{said}");
    assert_eq!(words[1..], [0, 64]);
    let results = results(child);
    assert_eq!((&results["messages"], &results["messages_undelivered"]), (&2.into(), &0.into()));
}

#[test]
fn what_cannot_be_served_is_said_before_anybody_waits() {
    let folder = tempfile::tempdir().unwrap();
    for (words, expected) in [
        ("--listen 0.0.0.0:0", "guests need no token"),
        ("--step 1us", "3200 ps, the horizon"),
        ("--network switch:delay=5", "--delay takes a time"),
        ("--network switch:delay=5us,nodes=4 --topology torus:4x4", "exclude each other"),
        ("--network switch:delay=5us --vcs 2", "--vcs has no meaning"),
        ("--guests 65", "use 1 to 64"),
        ("--factor 10", "add --mode realtime"),
        ("--mode realtime --factor 0", "0.001 to 1000000"),
        ("--warm-up soon", "or --warm-up mark"),
        ("--measure begin", "--measure begin..end"),
        ("--pcap-link ethernet", "add --pcap FILE"),
        ("--wire-log /nowhere/log", "/nowhere/log"),
        ("--send-overhead 5", "write --send-overhead 100us"),
    ] {
        let output = run(folder.path(), &format!("serve {words}"));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words}: {message}");
        assert!(message.contains(expected), "{words}: {message}");
    }
}

#[test]
fn a_kernel_through_tcp_gives_the_digest_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = "--kernel all-to-all:tasks=16,bytes=512";
    let (child, address) = serve(folder.path(), "--topology torus:4x4 --digest-every 1us --measure begin..end");
    let guests = run(folder.path(), &format!("guest {kernel} --connect {address}"));
    assert!(guests.status.success(), "{}", String::from_utf8_lossy(&guests.stderr));
    let live = results(child);
    let alone = run(folder.path(), &format!("run --topology torus:4x4 {kernel} --format json"));
    let alone: Value = serde_json::from_slice(&alone.stdout).unwrap();
    for key in ["digest", "completion_cycles", "messages"] {
        assert_eq!(live[key], alone[key], "{key}");
    }
    assert!(live["running_digests"].as_array().unwrap().len() > 2, "{live}");
    assert!(live["warnings"][0].as_str().unwrap().contains("set the mark `begin`"), "{live}");
    let wrong = run(folder.path(), &format!("guest {kernel} --node 0..3"));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("write --node 0..15"), "{wrong:?}");
}

#[test]
fn a_network_that_cannot_keep_up_with_the_wall_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let words = "--network switch:delay=100us,nodes=2 --guests 1 --mode realtime --step 1ms";
    let (child, address) = serve(folder.path(), words);
    let mut guest = Guest::connect(&address.parse().unwrap(), &Config::new("slow", 0).stepped(0)).unwrap();
    // A turn of a millisecond of virtual time takes 1.2 s of wall-clock time.
    guest.until().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1200));
    guest.advance(2_000_000_000).unwrap();
    guest.finish("done").unwrap();
    let results = results(child);
    let (most, mean) = (results["behind_max_ps"].as_f64().unwrap(), results["behind_mean_ps"].as_f64().unwrap());
    assert!(most > 1.1e12 && 0.0 < mean && mean <= most, "{results}");
    let warnings = results["warnings"].to_string();
    assert!(warnings.contains("s behind the wall clock") && warnings.contains("use --factor"), "{warnings}");
}

#[test]
fn a_live_result_says_what_it_is_of_and_a_measurement_without_end_says_so() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script"), "mark begin\nnode 0: send 1 64\nnode 1: receive").unwrap();
    let words = "--topology torus:4x4 --guests 2 --vcs 2 --in-transit-priority 0.5 --measure begin..end --seed 7";
    let (child, address) = serve(folder.path(), words);
    let guests = run(folder.path(), &format!("guest script --connect {address} --node 0..1"));
    assert!(guests.status.success(), "{}", String::from_utf8_lossy(&guests.stderr));
    let results = results(child);
    assert!(results["warnings"][0].as_str().unwrap().contains("no guest set the mark `end`"), "{results}");
    let settings = &results["experiment"];
    assert_eq!((&settings["vcs"], &settings["in-transit-priority"]), (&2.into(), &0.5.into()), "numbers as numbers");
    let manifest = &results["manifest"];
    assert_eq!((&manifest["schema"], &manifest["seeds"]), (&results["schema"], &serde_json::json!([7])));
    let command = manifest["command"].as_array().unwrap();
    assert!(command.contains(&"--measure".into()) && manifest["commit"].is_string(), "{manifest}");
}

#[test]
fn whoever_reads_the_results_learns_what_nobody_took_who_was_lost_and_what_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("net.txt", "a b\nb c\nc d\nd a\n");
    // Node 3 has no guest; the second message concerns it.
    write("script", "node 0: mark begin\nnode 0: send 1 64\nnode 1: receive\nnode 0: send 3 6400\nnode 7: send 0 10");
    let words = "--topology graph:net.txt --routing graph:updown --guests 3 --lost-guest drop-node --pcap p";
    let (child, address) = serve(folder.path(), words);
    let bad = format!("guest bad --connect {address} --node 2");
    // It fails during its turn: before time begins it would release its node.
    write("bad", "advance 1ns\nsend 2 64");
    let bad = tests::command::fsin(folder.path())
        .args(bad.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let guests = run(folder.path(), &format!("guest script --connect {address} --node 0..1"));
    let told = String::from_utf8_lossy(&guests.stderr).into_owned();
    assert!(guests.status.success(), "{told}");
    assert!(told.contains("script, line 5: it is for node 7"), "{told}");
    bad.wait_with_output().unwrap();
    let results = results(child);
    let count = |name: &str| results[name].as_u64().unwrap_or_else(|| panic!("{name}: {results}"));
    assert_eq!((count("messages"), count("messages_delivered"), count("messages_undelivered")), (2, 1, 1));
    assert_eq!((count("messages_measured"), count("guests_lost")), (1, 1));
    assert_eq!(count("packets_measured"), count("packets_received"), "the whole run is measured");
    let warnings = results["warnings"].to_string();
    for expected in [
        "1 of 2 messages arrived and was handed over to nobody: its node has no guest",
        "without guest `bad 2` (node 2)",
        "--pcap",
    ] {
        assert!(warnings.contains(expected), "no `{expected}` in {warnings}");
    }
    let inputs = &results["manifest"]["inputs"];
    assert_eq!(inputs[0]["path"], "net.txt", "{inputs}");
    assert_eq!(inputs[0]["sha256"].as_str().map(str::len), Some(64));
}

#[test]
fn a_python_guest_that_was_refused_hears_why_whatever_it_does_next() {
    let python = r#"
import sys, time, tgp1
guest = tgp1.Guest(sys.argv[1], node=0)
guest.send(1, 64)
time.sleep(2.5)
for call in (guest.receive, guest.receive):
    try:
        call()
    except tgp1.Refused as refused:
        print(refused)
"#;
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = serve(folder.path(), "--network switch:delay=1us,nodes=2 --guests 1 --stall 1");
    let guest = Command::new("python3")
        .args(["-c", python, &address])
        .env("PYTHONPATH", workspace().join("adapters/clients"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let said = String::from_utf8_lossy(&guest.stdout).into_owned();
    assert!(guest.status.success(), "{}", String::from_utf8_lossy(&guest.stderr));
    assert!(said.contains("silent for 1 s"), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn a_network_that_cannot_listen_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let output = run(folder.path(), &format!("serve --listen {address} --wire-log log --pcap frames.pcapng"));
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn guests_that_nobody_answers_say_so_while_they_try() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script"), "send 1 64\n").unwrap();
    let output = run(folder.path(), "guest script --connect unix:absent --node 0..3 --wait 3");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.matches("nobody has answered at unix:absent").count(), 1, "{said}");
    assert!(said.contains("Trying for 3 s (--wait)") && said.contains("the guest of node 0: cannot connect"), "{said}");
}

#[test]
fn guests_that_a_run_does_not_take_give_up_when_it_has_begun() {
    let folder = tempfile::tempdir().unwrap();
    // The two admitted guests wait for each other; the nodes of the others do not exist.
    std::fs::write(folder.path().join("ping"), "receive\n").unwrap();
    for listen in ["127.0.0.1:0", "unix:socket"] {
        let mut serve = fsin(folder.path());
        serve.args(["serve", "--listen", listen, "--topology", "torus:4x4", "--guests", "2"]);
        let mut child = serve.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let address = first.split_whitespace().nth(2).unwrap();
        let begun = std::time::Instant::now();
        let guests = run(folder.path(), &format!("guest ping --connect {address} --node 0..20 --wait 3600"));
        // They would retry for as long as their patience lasts.
        assert!(begun.elapsed().as_secs() < 1800);
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{rest:?}");
        assert_eq!(guests.status.code(), Some(1));
        let said = String::from_utf8_lossy(&guests.stderr).into_owned();
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("the endpoint ended it while waiting for its turn"), "{said}");
        assert!(words.contains("; 19 of 21 guests were not let in"), "{said}");
        assert!(words.contains("of these guests the run took 2: `fsin serve --guests 21` takes all"), "{said}");
    }
}
