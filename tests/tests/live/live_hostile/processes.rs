//! Endpoint and guests as processes of their own: killed, numerous, silent.

use super::*;

/// `fsin serve` as a process, with its address and the rest of its output.
fn serve(folder: &Path, words: &str) -> (Child, String, BufReader<std::process::ChildStderr>) {
    let mut command = fsin(folder);
    command.args(["serve", "--listen", "127.0.0.1:0"]).args(words.split_whitespace());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("fsin has just been built");
    let mut reader = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut first = String::new();
    reader.read_line(&mut first).expect("it says where it listens");
    let address = first.split_whitespace().nth(2).unwrap_or_else(|| panic!("{first}")).to_owned();
    (child, address, reader)
}

fn guest(folder: &Path, script: &str, address: &str, nodes: &str) -> Child {
    let mut command = fsin(folder);
    command.args(["guest", script, "--connect", address, "--node"]).args(nodes.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("fsin has just been built")
}

fn ended(child: Child, what: &str) -> (Output, String) {
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("{what}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, said)
}

#[test]
fn a_guest_that_is_killed_is_named_and_the_others_are_told_or_go_on() {
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("the folder is ours");
    let pair = |rounds: u32| format!("repeat {rounds}\n node 0: send 1 64\n node 1: send 0 64\n receive\nend");
    // Partners of a run that must be aborted are still busy; those of a run that goes on reach their end.
    write("abort", &pair(100_000_000));
    write("drop-node", &pair(20_000));
    // Longer than the test lasts: the others wait for its clock.
    write("victim", "repeat 100000000\n advance 1us\nend");
    for policy in ["abort", "drop-node"] {
        let words = format!("--network switch:delay=1us,nodes=3 --lost-guest {policy}");
        let (server, address, mut reader) = serve(folder.path(), &words);
        let others = guest(folder.path(), policy, &address, "0..1");
        let mut victim = guest(folder.path(), "victim", &address, "2 --class stepped");
        thread::sleep(Duration::from_millis(700));
        // SIGKILL.
        victim.kill().expect("it is a child");
        let begin = Instant::now();
        let mut said = String::new();
        while !said.contains("guest `victim 2` (node 2), running") {
            let mut line = String::new();
            assert!(reader.read_line(&mut line).expect("text") > 0, "{policy}: it ended and said {said}");
            said.push_str(&line);
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{policy}: {:?}", begin.elapsed());
        let _ = ended(victim, "the killed guest");
        let (pair, told) = ended(others, "the others");
        let output = server.wait_with_output().expect("it ends");
        let results: serde_json::Value = serde_json::from_slice(&output.stdout).expect("results");
        assert_eq!((&results["complete"], &results["guests_lost"]), (&false.into(), &1.into()), "{policy}");
        if policy == "abort" {
            assert_eq!((pair.status.code(), output.status.code()), (Some(1), Some(1)), "{told}");
            assert!(told.contains("victim 2"), "the others are told why: {told}");
        } else {
            assert_eq!((pair.status.code(), output.status.code()), (Some(0), Some(0)), "{told}");
            assert_eq!(results["messages_delivered"], 40_000, "nothing is lost or invented");
        }
    }
}

#[test]
fn guests_notice_that_the_endpoint_was_killed() {
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    std::fs::write(folder.path().join("long"), "repeat 100000000\n send next 64\n receive\nend").expect("ours");
    let (mut server, address, _reader) = serve(folder.path(), "--network switch:delay=1us,nodes=2");
    let guests = guest(folder.path(), "long", &address, "0..1");
    thread::sleep(Duration::from_millis(500));
    server.kill().expect("it is a child");
    let _ = server.wait();
    let begin = Instant::now();
    let (output, said) = ended(guests, "the guests");
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("the guest of node 0: the endpoint was lost while"), "{said}");
}

#[test]
fn the_token_is_nowhere_to_be_read() {
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the folder is ours");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("the file is ours");
    };
    let secrets = ["the-secret-of-the-run-42", "another-long-secret-4711"];
    write("token", secrets[0]);
    write("wrong", secrets[1]);
    write("script", "node 0: send 1 8\nnode 1: receive");
    let words = "--network switch:delay=1us,nodes=2 --token-file token --wire-log log";
    let (mut server, address, mut reader) = serve(folder.path(), words);
    let arguments = std::fs::read(format!("/proc/{}/cmdline", server.id())).unwrap_or_default();
    let mut all = String::from_utf8_lossy(&arguments).into_owned();
    for (token, code) in [("wrong", 1), ("token", 0)] {
        let mut command = fsin(folder.path());
        command.args(["guest", "script", "--connect", &address, "--node", "0..1", "--token-file", token]);
        let output = command.output().expect("fsin has just been built");
        all.push_str(&String::from_utf8_lossy(&output.stderr));
        all.push_str(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(output.status.code(), Some(code), "{token}: {all}");
    }
    reader.read_to_string(&mut all).expect("text");
    server.stdout.take().expect("it is piped").read_to_string(&mut all).expect("text");
    assert!(server.wait().expect("it ends").success(), "{all}");
    let log = std::fs::read_to_string(folder.path().join("log")).expect("it has been written");
    assert!(log.contains("Inject"), "{log}");
    assert!(all.contains("refused guest"), "the wrong one was told of: {all}");
    for secret in secrets {
        assert!(!all.contains(secret) && !log.contains(secret), "{all}{log}");
    }
    let flag = tests::command::run(folder.path(), "serve --token abcdefghijklmnopqrst");
    assert_eq!(flag.status.code(), Some(2), "a token is never an argument");
}

#[test]
fn connections_that_cannot_be_taken_are_told_of_once() {
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 24; exec \"$0\" serve --listen 127.0.0.1:0 --network switch:delay=1us,nodes=2"]);
    command.arg(tests::command::binary()).current_dir(folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("there is a shell");
    let mut reader = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    reader.read_line(&mut line).expect("it says where it listens");
    let address: std::net::SocketAddr = line.split_whitespace().nth(2).expect("text").parse().expect("an address");
    let silent: Vec<_> = (0..40).map_while(|_| TcpStream::connect(address).ok()).collect();
    line.clear();
    reader.read_line(&mut line).expect("text");
    assert!(line.contains("cannot let anybody else connect") && line.contains("ulimit -n"), "{line}");
    thread::sleep(Duration::from_millis(500));
    child.kill().expect("it is a child");
    child.wait().expect("it ends");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).expect("text");
    assert!(!rest.contains("cannot let anybody"), "{rest}");
    drop(silent);
}

#[test]
fn guests_that_wait_for_each_other_are_told_what_to_look_for() {
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    std::fs::write(folder.path().join("script"), "receive").expect("the folder is ours");
    let (server, address, mut reader) = serve(folder.path(), "--network switch:delay=1us,nodes=2 --wire-log log");
    let _ = ended(guest(folder.path(), "script", &address, "0..1"), "the guests");
    let mut said = String::new();
    reader.read_to_string(&mut said).expect("text");
    assert_eq!(ended(server, "the network").0.status.code(), Some(3), "{said}");
    assert!(said.contains("waits for a message that nobody sends") && !said.contains("trace"), "{said}");
    let log = std::fs::read_to_string(folder.path().join("log")).expect("it has been written");
    assert_eq!(log.matches("\tError\tcode=10 text=the run has failed").count(), 2, "{log}");
}

#[test]
fn what_ended_a_guest_is_in_the_wire_log() {
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let words = "--network switch:delay=1us,nodes=2 --guests 1 --wire-log log";
    let (server, address, _reader) = serve(folder.path(), words);
    let address: Address = address.parse().expect("an address");
    let (mut stream, mut codec, _) = introduce(&address, hello("greedy", 0));
    let mut bytes = BytesMut::new();
    let inject = Inject {
        destination: 1,
        notify: false,
        size: 3,
        cookie: 0,
        unmodelled: false,
        identified: None,
        payload: Bytes::from_static(b"12345"),
    };
    codec.put(0, 0, &Body::Inject(inject), &mut bytes);
    stream.write_all(&bytes).expect("somebody reads");
    stream.read_to_end(&mut Vec::new()).expect("it is told, and closed");
    let (output, said) = ended(server, "the network");
    assert_eq!(output.status.code(), Some(1), "{said}");
    let log = std::fs::read_to_string(folder.path().join("log")).expect("it has been written");
    let why = "an Inject frame carries 5 bytes, but its size is 3";
    for line in [
        format!("<\tgreedy\t0\t0\tmalformed\twhy={why}"),
        format!(">\tgreedy\t0\t0\tError\tcode=1 text={why}; correct the guest"),
    ] {
        assert!(log.lines().any(|found| found == line), "no `{line}` in\n{log}");
    }
}

/// \[bytes\] Peak memory of a process.
fn peak_memory(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[test]
fn ten_thousand_connections_take_a_bounded_amount_of_memory() {
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    std::fs::write(folder.path().join("script"), "node 0: send 1 8\nnode 1: receive").expect("the folder is ours");
    let (server, address, reader) = serve(folder.path(), "--network switch:delay=1us,nodes=2");
    // Its output is read, so that it never blocks on a full pipe.
    let reading = thread::spawn(move || reader.lines().map_while(Result::ok).collect::<Vec<_>>().join("\n"));
    let Address::Tcp(tcp) = address.parse().expect("an address") else { panic!("TCP") };
    let mut kept = Vec::new();
    for number in 0..10_000 {
        let Ok(mut stream) = TcpStream::connect(tcp) else { continue };
        // A third sends garbage, a third leaves at once, a third announces a long Hello and stays; as many as may be
        // open.
        match number % 3 {
            0 => drop(stream.write_all(b"GET / HTTP/1.1\r\nHost: example\r\n\r\n")),
            1 => {}
            _ => {
                let _ = stream.write_all(&[&[0, 0x7f, 0, 0, 1][..], &[0; 19], &[b'x'; 4000]].concat());
                kept.push(stream);
                if kept.len() > 400 {
                    kept.clear();
                }
            }
        }
    }
    let peak = peak_memory(server.id());
    kept.clear();
    // And it still works.
    let (output, said) = ended(guest(folder.path(), "script", &address, "0..1"), "the guests");
    assert!(output.status.success(), "{said}");
    let output = server.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let told = reading.join().expect("it reads");
    assert!(told.contains("connections have been refused"), "{told}");
    assert!(told.lines().count() < 64, "it does not tell of each: {told}");
    match peak {
        Some(peak) => assert!(peak < 64 << 20, "{peak} bytes"),
        None => tests::shared::skipped("no /proc to read the memory of a process from"),
    }
}

#[test]
fn a_thousand_guests_pass_a_token_round() {
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let ring = "repeat 2\n node 0: send next 64\n receive\n others 0: send next 64\nend";
    std::fs::write(folder.path().join("ring"), ring).expect("the folder is ours");
    let (server, address, _reader) = serve(folder.path(), "--network switch:delay=1us,nodes=1000");
    let (output, said) = ended(guest(folder.path(), "ring", &address, "0..999"), "the guests");
    assert!(output.status.success(), "{said}");
    let table = String::from_utf8(output.stdout).expect("a table is text");
    assert!(table.contains("\n0,2000000000,2,2,"), "two rounds of 1000 x 1 us: {}", &table[..200]);
    let output = server.wait_with_output().expect("it ends");
    let results: serde_json::Value = serde_json::from_slice(&output.stdout).expect("results are JSON");
    assert_eq!((&results["complete"], &results["messages_delivered"]), (&true.into(), &2000.into()));
}

#[test]
fn whoever_never_says_hello_is_shown_out_within_the_limit() {
    let mut table = table(2);
    table.terms.handshake = Duration::from_millis(500);
    let mut visitor = None;
    drop(table.gather(1, |address| {
        let address = address.clone();
        visitor = Some(thread::spawn(move || {
            let Address::Tcp(tcp) = &address else { panic!("TCP") };
            let begin = Instant::now();
            let mut silent = TcpStream::connect(tcp).expect("somebody listens");
            let mut answer = Vec::new();
            silent.read_to_end(&mut answer).expect("it is told, and closed");
            assert!(answer.len() > 24 && answer[4] == 12, "an Error frame");
            assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
            introduce(&address, hello("right", 0))
        }));
    }));
    drop(visitor.expect("it was started").join().expect("it does not panic"));
    // A port without a listener.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = Address::Tcp(listener.local_addr().expect("it has one"));
    drop(listener);
    let config = Config { patience: Duration::from_millis(100), ..Config::new("lonely", 0) };
    let error = Guest::connect(&address, &config).map(drop).expect_err("nobody listens").to_string();
    assert!(error.contains("cannot connect to 127.0.0.1"), "{error}");
}
