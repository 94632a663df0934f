//! Invalid graphs: every fault is an error with its place, never a panic.

use proptest::prelude::*;
use trgen::trace::formats::{Application, ReadOptions, open_bytes};
use trgen::trace::goal::{Graph, binary, ideal, patterns, text};

const TEXT: &str = "num_ranks 2\nrank 0 {\nl1: calc 100 cpu 1\nl2: send 8b to 1 tag 7 cpu 0 nic 1\nl2 requires l1\n}\n\
                    rank 1 {\nl1: recv 8b from -1 tag -1\nl2: calc 5\nl2 irequires l1\n}\n";

fn read(bytes: &[u8]) -> Result<Graph, String> {
    match open_bytes("x.goal", bytes, &ReadOptions::default()) {
        Ok(Application::Graphs(graph)) => Ok(graph.graph),
        Ok(Application::Programs(_) | Application::Chakra(_)) => Err("no graph".to_owned()),
        Err(error) => Err(format!("{error} / {}", error.remedy().unwrap_or_default())),
    }
}

fn packed(graph: &Graph) -> Vec<u8> {
    let mut bytes = Vec::new();
    binary::write(graph, &mut bytes).unwrap();
    bytes
}

#[test]
fn faults_of_text_name_their_line() {
    let cases: &[(&str, &str, &str)] = &[
        ("l2 requires l1\n}", "l2 requires l3\n}", ":5: label `l3` has not been defined in rank 0"),
        ("l2 requires l1\n}", "l2 requires l3\n}", "above this line (labels of other ranks do not count)"),
        ("l2: send", "l1: send", ":4: label `l1` is defined twice"),
        ("l2: send", "l1: send", "/ give each operation of a rank a label of its own"),
        ("l2 requires l1", "l2 requires l1\nl1 requires l2", "/ leave out a dependency"),
        ("to 1", "to 2", ":4: rank is `2`, expected 0 to 1"),
        ("calc 100", "calc 99999999999999999999", ":3: size is"),
        ("send 8b", "send 9223372036854775808b", ":4: size is"),
        ("num_ranks 2", "num_ranks 9223372036854775808", ":1: number of ranks"),
        ("num_ranks 2", "num_ranks 3", "after 2 of 3 ranks"),
        ("l2 requires l1", "l2 requires l1\nl1 requires l2", "form a circle of 2 operations"),
        ("rank 1 {", "rank 2 {", ":7: rank 2, expected rank 1"),
        ("cpu 1", "cpu 256", ":3: cpu is"),
        ("tag 7 cpu 0", "cpu 0 tag 7", ":4: what follows"),
        ("calc 5", "calc -5", ":9: size is"),
        ("l2: calc 5", "/* l2: calc 5", "within a comment"),
        ("l2: calc 5", "l2: calc 5 $", "does not begin any word"),
    ];
    for (from, to, expected) in cases {
        let wrong = TEXT.replacen(from, to, 1);
        assert_ne!(wrong, TEXT);
        let error = read(wrong.as_bytes()).unwrap_err();
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn comments_crlf_and_text_after_the_end_are_as_in_the_grammar() {
    let expected = read(TEXT.as_bytes()).unwrap();
    let with_comments = TEXT.replace("rank 1 {", "/* a\nb */ rank 1 { // c").replace("l2: calc", "// d\nl2: calc");
    assert_eq!(read(with_comments.as_bytes()).unwrap(), expected);
    assert_eq!(read(TEXT.replace('\n', "\r\n").as_bytes()).unwrap(), expected);
    assert_eq!(read(format!("{TEXT}anything at all").as_bytes()).unwrap(), expected);
}

#[test]
fn faults_of_binary_name_their_byte() {
    let good = packed(&read(TEXT.as_bytes()).unwrap());
    assert_eq!(packed(&read(&good).unwrap()), good);
    let change = |at: usize, with: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + with.len()].copy_from_slice(with);
        read(&bytes).unwrap_err()
    };
    // Rank 0 begins at 14 + 2 * 16 = 46: two counts, one root, then operations of 39 bytes.
    let node = 46 + 8 + 4;
    assert!(change(0, &2342_u64.to_le_bytes()).contains("destroyed"));
    assert!(change(8, &u32::MAX.to_le_bytes()).contains("at byte 8: 4294967295 ranks"));
    assert!(change(14, &(1_u64 << 63).to_le_bytes()).contains("at byte 14"));
    assert!(change(30, &38_u64.to_le_bytes()).contains("overlaps"));
    assert!(change(46, &u32::MAX.to_le_bytes()).contains("at byte 46: 4294967295 operations"));
    assert!(change(54, &1_u32.to_le_bytes()).contains("roots listed"));
    assert!(change(node + 4, &[9]).contains(&format!("at byte {node}: operation type 9")));
    assert!(change(node + 9, &u64::MAX.to_le_bytes()).contains("a size of"));
    assert!(change(node + 21, &[2]).contains("above the highest"));
    assert!(change(node + 39 + 5, &7_u32.to_le_bytes()).contains("names rank 7"));
    assert!(change(node + 39 * 2, &5_u32.to_le_bytes()).contains("dependent 5 does not exist"));
}

#[test]
fn an_unanswered_receive_is_left_over_and_named() {
    let text = TEXT.replace("send 8b to 1 tag 7", "send 8b to 1 tag 8").replace("from -1 tag -1", "from 0 tag 7");
    let execution = ideal::execute(read(text.as_bytes()).unwrap(), Default::default(), 2500, &mut |_| true);
    let remains = execution.remains;
    assert_eq!((remains.unserved, remains.unreceived), (1, 1));
    assert!(remains.waits[0].contains("rank 1: operation 1 waits for a message from rank 0 with tag 7"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_text_never_panics(at in any::<prop::sample::Index>(), with in any::<[u8; 3]>(), length in 0_usize..4) {
        let mut bytes = TEXT.as_bytes().to_vec();
        let at = at.index(bytes.len());
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, with.into_iter().take(length));
        if let Ok(graph) = read(&bytes) {
            // Every accepted graph can be written, read again, and executed to some end.
            prop_assert_eq!(read(&packed(&graph)).unwrap(), graph.clone());
            ideal::execute(graph, Default::default(), 1, &mut |_| true);
        }
    }

    #[test]
    fn changed_binary_never_panics(
        pattern in 0_usize..3, at in any::<prop::sample::Index>(), with in any::<u32>(), cut in any::<bool>()
    ) {
        let specs = ["pipelinedringdep:ranks=4,bytes=3000", "linbarrier:ranks=5", "dissemination:ranks=8"];
        let mut bytes = packed(&patterns::parse(specs[pattern]).unwrap());
        let at = at.index(bytes.len() - 4);
        bytes[at..at + 4].copy_from_slice(&with.to_le_bytes());
        if cut {
            bytes.truncate(at + 1);
        }
        if let Ok(graph) = read(&bytes) {
            let mut written = Vec::new();
            text::write(&graph, &mut written).unwrap();
            ideal::execute(graph, Default::default(), 1, &mut |_| true);
        }
    }
}
