//! Connections that never become guests keep no guest out.

use super::*;

/// Half-open connections, as many as the system allows up to `most`: silent ones, and some that have sent a part of a
/// Hello.
fn half_open(address: &Address, most: usize) -> Vec<TcpStream> {
    let Address::Tcp(tcp) = address else { panic!("TCP") };
    let (mut codec, mut bytes) = (Codec::default(), BytesMut::new());
    codec.put(0, 0, &Body::Hello(Box::new(hello("half", 0))), &mut bytes);
    let connect = |number: usize| {
        let mut stream = TcpStream::connect(tcp).ok()?;
        // The endpoint may have closed it already.
        let _ = stream.write_all(&bytes[..number % bytes.len()]);
        Some(stream)
    };
    (0..most).map_while(connect).collect()
}

#[test]
fn connections_without_a_guest_keep_no_guest_out() {
    // No handshake ends by its own limit during the test: the guest is let in although all others wait.
    let mut table = table(1);
    table.terms.handshake = Duration::from_secs(3600);
    let mut guests = Vec::new();
    // This process holds both ends of each.
    let connections = table.gather(1, |address| {
        let address = address.clone();
        guests.push(thread::spawn(move || {
            let strangers = half_open(&address, 400);
            assert!(strangers.len() > 300, "only {} connections", strangers.len());
            let honest = introduce(&address, hello("honest", 0));
            assert!(matches!(honest.2, Body::Welcome(_)), "{:?}", honest.2);
            (strangers, honest)
        }));
    });
    assert_eq!(connections.len(), 1);
    drop(guests.pop().expect("it was started").join().expect("it does not panic"));
}

#[test]
fn where_files_are_few_connections_without_a_guest_give_way() {
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let program = tests::command::binary().display().to_string();
    let line = format!(
        "ulimit -n 64; exec '{program}' serve --listen 127.0.0.1:0 --topology torus:2x2 --guests 1 --send-overhead 1us"
    );
    let mut serve = std::process::Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let mut said = BufReader::new(serve.stderr.take().expect("it is piped"));
    let mut first = String::new();
    said.read_line(&mut first).expect("it says where it listens");
    let address: Address =
        first.split_whitespace().nth(2).unwrap_or_else(|| panic!("{first}")).parse().expect("an address");
    let rest = thread::spawn(move || {
        let mut rest = String::new();
        let _ = said.read_to_string(&mut rest);
        rest
    });
    let strangers = half_open(&address, 200);
    let (mut stream, mut codec, answer) = introduce(&address, hello("honest", 0));
    assert!(matches!(answer, Body::Welcome(_)), "{answer:?}");
    let mut bytes = BytesMut::new();
    codec.put(0, 0, &Body::Bye { reason: String::new(), injects: 0, notices: 0 }, &mut bytes);
    stream.write_all(&bytes).expect("it is read");
    let ended = serve.wait().expect("it is a child");
    let rest = rest.join().expect("it does not panic");
    assert!(ended.success(), "{rest}");
    assert!(rest.contains("and others wait"), "{rest}");
    drop(strangers);
}
