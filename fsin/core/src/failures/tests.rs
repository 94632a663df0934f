use std::path::Path;

use super::*;
use crate::topology::switched::network_of_text;
use crate::topology::{dead_link_name, parse as topology};

fn failures(value: &str, spec: &str) -> Result<Failures, SpecError> {
    Failures::parse(value, Path::new(""), &*topology(spec, 2).unwrap(), 1, (1, 1))
}

fn named(links: &[DeadLink]) -> Vec<String> {
    links.iter().map(|link| format!("{}-{}", link.from, link.to)).collect()
}

#[test]
fn none_is_no_failure() {
    assert!(failures("none", "mesh:3x3").unwrap().is_empty());
    assert_eq!(parse::file("none"), None);
}

#[test]
fn events_are_ordered_by_time() {
    let found = failures("repair:link:1-0@9us,link:0-1@5us,node:3@0,link:4-5@5us", "mesh:3x3").unwrap();
    assert_eq!(named(&found.start), ["0-3", "3-4", "3-6"]);
    let changes: Vec<_> =
        found.changes.iter().map(|change| (change.at, named(&change.dies), named(&change.revives))).collect();
    let no_links = Vec::<String>::new;
    assert_eq!(
        changes,
        [
            (5_000_000, vec!["0-1".to_owned(), "4-5".to_owned()], no_links()),
            (9_000_000, no_links(), vec!["0-1".to_owned()])
        ]
    );
    assert_eq!(found.changes[0].words, ["link:0-1@5us", "link:4-5@5us"]);
    assert_eq!(found.phases().map(|dead| dead.len()).collect::<Vec<_>>(), [3, 5, 4]);
}

#[test]
fn what_dies_and_is_repaired_at_one_time_does_not_change() {
    let found = failures("link:0-1@5,repair:link:0-1@5,link:1-2@5", "mesh:3").unwrap();
    assert_eq!((named(&found.changes[0].dies), found.changes[0].revives.len()), (vec!["1-2".to_owned()], 0));
}

#[test]
fn classes_are_drawn_among_what_is_alive() {
    let spec = "dragonfly:p=1,a=4,h=2";
    let all = failures("class:global@0", spec).unwrap().start.len();
    assert_eq!(all, 9 * 8 / 2, "a pair of groups has one link");
    let some = failures("class:global#3@0,class:between-groups#4@7,repair:class:global#5@8", spec).unwrap();
    let lengths = |change: &Change| (change.dies.len(), change.revives.len());
    assert_eq!((some.start.len(), lengths(&some.changes[0]), lengths(&some.changes[1])), (3, (4, 0), (0, 5)));
    assert!(some.changes[0].dies.iter().all(|link| !some.start.contains(link)));
    assert_eq!(failures("class:x#2@0", "torus:4x4").unwrap().start.len(), 2);
    assert_eq!(failures("class:hosts@0", "fattree:2,2").unwrap().start.len(), 4);
    let other = Failures::parse("class:global#3@0", Path::new(""), &*topology(spec, 2).unwrap(), 2, (1, 1)).unwrap();
    assert_ne!(other.start, some.start, "the seed draws");
}

#[test]
fn names_are_those_of_the_file_and_may_have_hyphens() {
    let text = "H1 s-1\nH2 s-2\ns-1 s-2\ns-1 s-2\ns-2 s\nH3 s\n";
    let network = network_of_text(text, "graph:x".to_owned(), None).unwrap();
    let failures = |list: &str| Failures::parse(list, Path::new(""), &network, 1, (1, 1));
    let found = failures("link:s-1-s-2@0,link:H3-s@4").unwrap();
    assert_eq!((found.start.len(), found.changes[0].dies.len()), (2, 1), "parallel links die together");
    let name = dead_link_name(&network, &found.changes[0].dies[0]);
    assert!(name.contains("H3") && name.contains('s'), "{name}");
    let error = failures("node:s-3@0").unwrap_err();
    assert!(error.remedy().to_string().contains("s-1"), "{}", error.remedy());
    let lines = |text: &str| parse::lines("list.txt", text);
    let read = lines("# the first failure\nlink:s-1-s-2@0 # both\n\nlink:H3-s@4, node:H1@5\n").unwrap();
    let read = Failures::resolve(read, &network, 1, (1, 1)).unwrap();
    assert_eq!((read.start.len(), read.changes.len()), (2, 2));
    let read = lines("link:s-1-s-2@0\nlink:H3-t@4\n").unwrap();
    let error = Failures::resolve(read, &network, 1, (1, 1)).unwrap_err();
    assert!(error.to_string().contains("list.txt, line 2: `link:H3-t@4`: there is no node `t`"), "{error}");
    let spaced = lines("class:level 1 to 2#1@20us  repair:class:level 1 to 2@9\tlink:New York-Lima@5,node:a b@7 # c\n");
    let words: Vec<String> = spaced.unwrap().into_iter().map(|event| event.word).collect();
    let expected = ["class:level 1 to 2#1@20us", "repair:class:level 1 to 2@9", "link:New York-Lima@5", "node:a b@7"];
    assert_eq!(words, expected);
    let lacks_time = lines("link:0-1 link:2-3@5\n").unwrap_err().to_string();
    assert!(lacks_time.contains("`link:0-1`: no time is given"), "{lacks_time}");
    assert!(lines("# nothing\n").unwrap_err().to_string().contains("names no failure"));
}

#[test]
fn refusals_name_the_word_and_the_remedy() {
    for (value, what, remedy) in [
        ("link:0-1", "no time is given", "link:0-1@5us"),
        ("lnk:0-1@0", "`lnk` is nothing that fails", "`link`"),
        ("0-1@0", "does not say what fails", "link:A-B"),
        ("link:0-1@0,4-5", "does not say what fails", "link:A-B"),
        ("link:0-1@5u", "`5u` is no time", "5us"),
        ("link:0-1@1.5", "`1.5` is no time", "5us"),
        ("link:0@0", "a link has two ends", "link:A-B"),
        ("link:@0", "no name is given", "node:A"),
        ("link:0-17@0", "no node `17` in torus:4x4", "0 to 15"),
        ("node:left@0", "no node `left`", "0 to 15"),
        ("link:0-5@0", "no link joins 0 and 5", "1, 3, 4, 12"),
        ("class:w@0", "no class of links `w`", "`x`"),
        ("class:depth@0", "no class of links `depth`", "dimension-0"),
        ("class:x#0@0", "`0` is no number of links", "1 or more"),
        ("class:x#17@0", "16 of its links are alive then, and not 17", "leave it out"),
        ("link:0-1@0,node:0@1,link:0-4@2", "nothing of it is alive then", "leave it out"),
        ("repair:link:0-1@3", "nothing of it is dead then", "leave it out"),
        ("link:0-1@9999999s", "it is too late", "within the run"),
        ("/no/such/file", "/no/such/file", "path of a file of failures"),
    ] {
        let error = failures(value, "torus:4x4").unwrap_err();
        assert!(error.to_string().contains(what), "{value}: {error}");
        assert!(error.remedy().to_string().contains(remedy), "{value}: {}", error.remedy());
        assert_eq!(error.setting(), Some("fail"), "{value}");
    }
}

#[test]
fn any_text_is_parsed_or_refused() {
    let words = [
        "link:",
        "node:",
        "class:",
        "repair:",
        "@",
        "#",
        "-",
        ",",
        "0",
        "1",
        "5us",
        "x",
        "\u{e9}",
        " ",
        "9999999999999999999999",
    ];
    for case in 0..20_000_u64 {
        let text: String = (0..8).map(|at| words[pick(mix2(case, at), words.len() as u32) as usize]).collect();
        let _ = failures(&format!("@{text}"), "mesh:2x2");
        let _ = failures(&format!("link:{text}"), "mesh:2x2");
    }
}

#[test]
fn lost_pairs_are_those_of_different_parts() {
    let network = topology("mesh:4", 2).unwrap();
    let dead = failures("link:0-1@0", "mesh:4").unwrap();
    let lost = LostPairs::between(&parts(&*network, &dead_ports(&dead.start))).unwrap();
    assert_eq!(lost.to_string(), "6 of 12 pairs of nodes (0 to 1, 0 to 2, 0 to 3, 1 to 0, ...)");
    assert_eq!(LostPairs::between(&parts(&*network, &HashSet::new())), None);
    assert_eq!(dead.at_first(&Arc::from(network)).dead_links(), dead.start);
}

#[test]
fn a_topology_lacks_what_is_dead() {
    for spec in ["torus:4x4", "mesh:3x3", "fattree:2,3", "dragonfly:p=1,a=4,h=2", "hypercube:3"] {
        let whole: Arc<dyn Topology> = Arc::from(topology(spec, 2).unwrap());
        let found = Failures::parse("node:1@0", Path::new(""), &*whole, 1, (1, 1)).unwrap();
        let less = found.at_first(&whole);
        assert_eq!(less.faults(), found.start.len(), "{spec}");
        for node in (0..whole.nodes()).map(NodeId::at) {
            for port in (0..whole.shape().ports()).map(Port::at) {
                let is_dead = dead_ports(&found.start).contains(&(node, port));
                let expected = whole.neighbour(node, port).filter(|_| !is_dead);
                assert_eq!(less.neighbour(node, port), expected, "{spec} {node}");
                assert!(expected != Some(NodeId(1)) && (expected.is_none() || node != NodeId(1)), "{spec} {node}");
            }
        }
    }
}
