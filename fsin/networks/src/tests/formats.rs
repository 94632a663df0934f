//! One network in every format, and what each makes of a fault.

use proptest::prelude::*;

use fsin_core::topology::graph::{Options, Understood};
use fsin_core::topology::{self, Switched, Topology};
use trgen::catalog::SpecError;

use super::samples::*;
use super::{described, facts};
use crate::{Syntax, dot, network, rewritten};

fn read(text: &str) -> Switched {
    network(text, "graph:x".to_owned(), None).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> SpecError {
    network(text, "graph:x".to_owned(), None).err().unwrap_or_else(|| panic!("{text} is read"))
}

/// A text with options of its specification.
fn read_with(text: &str, options: &[(&str, &str)]) -> Result<Switched, SpecError> {
    let mut all = Options::default();
    for (name, value) in options {
        all.set("graph:x", name, value).unwrap();
    }
    described(text, "graph:x".to_owned(), &all)
}

/// What was understood of a text.
fn understood(text: &str, options: &[(&str, &str)]) -> Understood {
    let net = read_with(text, options).unwrap_or_else(|error| panic!("{text}: {error}"));
    net.understood().cloned().unwrap()
}

/// A row without a sample would be read by no test.
#[test]
fn every_format_that_is_read_has_a_sample() {
    let found: Vec<&str> = ALL.iter().chain(&[OWN]).map(|text| understood(text, &[]).format).collect();
    for row in crate::rows().into_iter().filter(|row| row.is_read() && row.component.name != "topohub-gml") {
        assert!(found.contains(&row.called), "{}", row.component.name);
        assert!(!row.component.about.is_empty() && !row.component.source.is_empty(), "{}", row.component.name);
    }
}

/// Other authors of a format write spaces, ends of lines and remarks elsewhere.
#[test]
fn how_a_file_is_laid_out_says_nothing() {
    for text in ALL {
        let expected = facts(&read(text));
        let mut laid_out = vec![
            format!("\u{feff}{text}"),
            text.replace('\n', "\r\n"),
            format!("\n \n{text}\n\n"),
            format!("   {}", text.replace('\n', "   \n   ")),
            text.trim_end().to_owned(),
        ];
        let plain = [OWN, NS3, ANYNET, HTSIM, SNDLIB, BRITE, SLURM];
        if plain.contains(&text) {
            laid_out.extend([text.replace(' ', "\t"), text.replace(' ', "   ")]);
        }
        if text.starts_with('<') {
            let begin = text.find("?>").map_or(0, |at| at + 2);
            laid_out.push(format!("{}<!-- a < b --><!DOCTYPE x>{}", &text[..begin], &text[begin..]));
            laid_out.push(format!("<!-- none -->{}", &text[begin..]));
        } else if !text.starts_with('{') {
            laid_out.push(format!("# a remark\n#\n{text}"));
        }
        for other in laid_out {
            assert_eq!(facts(&read(&other)), expected, "{}", other.escape_debug());
        }
    }
    let capitals = ["graph", "node", "edge", "source", "target"]
        .into_iter()
        .fold(GML.to_owned(), |text, key| text.replace(&format!("{key} "), &format!("{} ", key.to_ascii_uppercase())));
    assert_eq!(facts(&read(&capitals)), facts(&read(GML)));
    let topohub = |space: &str| {
        let text = "graph [ stats [ avg_degree 1.0 ] node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 dist 5.0 ] ]";
        understood(&text.replace(' ', space), &[]).format
    };
    assert_eq!((topohub(" "), topohub("\t")), ("TopoHub (GML)", "TopoHub (GML)"));
}

/// A list that is shorter than its first line says is refused for that, whatever text stands behind it.
#[test]
fn lists_of_ns3_end_where_they_say() {
    let error = refused(&format!("{}\nFirst line: nodes\n", NS3.replace("4 2 3", "4 2 4")));
    let said = error.to_string();
    assert!(said.contains("line 7") && said.contains("where link 4 should stand, of 4 that the first line"), "{said}");
}

#[test]
fn maps_have_demands_and_rates_by_their_unit() {
    let mut facts_of = Vec::new();
    for text in [SNDLIB, SNDLIB_XML] {
        let net = read_with(text, &[("modules", "largest")]).unwrap();
        let links = facts(&net).2;
        assert_eq!(links.iter().filter(|link| link.contains("40000000000")).count(), 2, "{links:?}");
        assert_eq!(links.iter().filter(|link| link.contains("10000000000")).count(), 2, "{links:?}");
        let says = net.understood().unwrap();
        let demands = says.demands.clone().unwrap();
        assert_eq!((demands.count, demands.total(), demands.unit), (2, 3.5, Some(1e9)));
        assert_eq!(demands.pairs, [(0, 2, 2.5), (2, 1, 1.0)]);
        // Without the option, what may be bought is no rate.
        let plain = understood(text, &[]);
        assert!(plain.notes.iter().any(|note| note.contains("modules that may be bought")), "{:?}", plain.notes);
        facts_of.push(facts(&read(text)));
    }
    assert_eq!(facts_of[0], facts_of[1]);
    let says = understood(TOPOHUB, &[]);
    assert_eq!(says.demands.unwrap().pairs, [(0, 2, 2.5), (2, 1, 1.0)]);
    assert_eq!(says.decoration.keys().collect::<Vec<_>>(), ["dist", "ecmp_fwd", "type"]);
    let names = read(TOPOHUB);
    assert_eq!((names.endpoints(), names.name(trgen::NodeId(3))), (3, Some("Hagen")));
}

#[test]
fn brite_has_megabits_and_milliseconds() {
    let links = facts(&read(BRITE)).2;
    assert!(links.iter().any(|link| link.contains("104160000") && link.contains("1900000000")), "{links:?}");
    assert!(links.iter().any(|link| link.contains("500000000")), "{links:?}");
    let error = refused(&BRITE.replace("1 1 2 10.00 0.5 -1 -1 -1 E_RT U\n", ""));
    assert!(error.to_string().contains("1 edges are listed where the file says 2"), "{error}");
}

#[test]
fn cables_of_infiniband_stand_at_one_end_or_both() {
    let says = understood(INFINIBAND, &[]);
    assert_eq!((says.switches, says.links, says.hosts.as_str()), (1, 3, "2: as the format says"));
    assert!(says.notes.iter().any(|note| note.contains("1 aggregation node")), "{:?}", says.notes);
    let links = facts(&read(INFINIBAND)).2;
    assert_eq!(links.iter().filter(|link| link.contains("(200000000000)")).count(), 2, "{links:?}");
    for (from, to, what) in [
        ("[4]\t\"H-1\"[2]", "[4]\t\"H-1\"[1]", "another cable"),
        ("\"H-2\"[1]", "\"H-3\"[1]", "`H-3` is no node"),
        ("lid 2 4xNDR\n\nCa", "lid 2 4xEDR\n\nCa", "and 4xNDR in"),
    ] {
        let error = refused(&INFINIBAND.replacen(from, to, 1));
        assert!(error.to_string().contains(what), "{from}: {error}");
    }
}

#[test]
fn a_fabric_of_switches_alone_has_the_endpoints_that_are_asked_for() {
    let text = "Switch 8 \"S-1\"\n[1] \"S-2\"[1]\n\nSwitch 8 \"S-2\"\n[1] \"S-1\"[1]\n";
    assert_eq!(network(text, "graph:x".to_owned(), Some(3)).unwrap().endpoints(), 6);
    let error = refused(text);
    assert!(error.to_string().contains("has no host"), "{error}");
    assert!(error.remedy().to_string().contains("endpoints=1"), "{error:?}");
    // Where the file says which nodes are hosts, the option would do nothing.
    let error = network(INFINIBAND, "graph:x".to_owned(), Some(3)).unwrap_err();
    assert!(error.to_string().contains("no effect"), "{error}");
}

#[test]
fn slurm_has_lists_of_names() {
    let net = read(SLURM);
    assert_eq!((net.endpoints(), net.nodes()), (5, 8));
    assert_eq!(net.name(trgen::NodeId(1)), Some("n09"));
    let error = refused("BlockName=b Nodes=n[1-4]\n");
    assert!(error.to_string().contains("Slurm's topology of blocks"), "{error}");
    assert!(refused(&SLURM.replace("s[0-1]", "s0")).to_string().contains("2 parts, the smallest of 2 nodes"));
}

#[test]
fn options_read_a_file_otherwise() {
    let bare = "source,target,capacity\na,b,10\nb,c,20\n";
    assert!(read_with(bare, &[]).unwrap_err().remedy().to_string().contains("rate-unit=Gb/s"));
    let says = understood(bare, &[("rate-unit", "Gb/s")]);
    assert_eq!(says.units, ["rates: numbers are Gb/s, by rate-unit"]);
    assert!(read_with("u v {'weight': 3}\n", &[("ignore", "wei*")]).is_ok());
    let apart = "a b\nb c\nd e\n";
    assert_eq!(read_with(apart, &[("part", "largest")]).unwrap().endpoints(), 3);
    let drawn = "<graphml><graph edgedefault=\"directed\"><node id=\"a\"/><node id=\"b\"/><node id=\"c\"/><edge source=\"a\" target=\"b\"/>\
                 <edge source=\"b\" target=\"c\"/><edge source=\"c\" target=\"c\"/></graph></graphml>\n";
    let says = understood(drawn, &[]);
    assert_eq!((says.links, says.notes.len()), (2, 2), "{:?}", says.notes);
    assert!(read_with(drawn, &[("directed", "true")]).is_err());
    for (name, value) in [("rate-unit", "Gb"), ("part", "small"), ("directed", "yes"), ("delay-unit", "week")] {
        assert!(Options::default().set("graph:x", name, value).is_err(), "{name}={value}");
    }
}

#[test]
fn a_label_is_no_type() {
    let map = "graph [\n node [ id 0 label \"Hamburg\" type \"City\" Latitude 3.5 ]\n node [ id 1 label \"Hull\" ]\n node [ id 2 label \"Hull\" ]\n \
               edge [ source 0 target 1 ]\n edge [ source 1 target 2 ]\n]\n";
    let net = read(map);
    assert_eq!((net.endpoints(), net.name(trgen::NodeId(4))), (3, Some("Hull (1)")));
    assert!(net.understood().unwrap().remarks().iter().any(|remark| remark.contains("Latitude (1), type (1)")));
}

#[test]
fn no_size_of_a_topology_of_htsim_takes_memory() {
    let huge = HTSIM.replacen(
        "Tier 1\nDownlink_speed_Gbps 100\nRadix_Up 2",
        "Tier 1\nDownlink_speed_Gbps 100\nRadix_Up 4294967294",
        1,
    );
    assert_ne!(huge, HTSIM);
    assert!(refused(&huge).to_string().contains("line 11"), "{}", refused(&huge));
    let switches = HTSIM.replacen(
        "Downlink_Latency_ns 1000\nTier 1",
        "Downlink_Latency_ns 1000\nSwitch_Latency_ns 250\nTier 1",
        1,
    );
    let links = facts(&read(&switches)).2;
    assert!(links.iter().any(|link| link.starts_with("tier0.0 to tier1.0") && link.contains("1250000")), "{links:?}");
    assert!(links.iter().any(|link| link.starts_with("tier1.0 to tier0.0") && link.contains("(1000000)")), "{links:?}");
}

#[test]
fn members_of_json_stand_in_any_order() {
    let moved = JSON.replace("\"graph\": {}, ", "").replacen('{', "{\"graph\": {\"name\": \"west // east\"}, ", 1);
    assert_eq!(facts(&read(&moved)), facts(&read(JSON)));
}

#[test]
fn one_network_in_every_format() {
    let expected = facts(&read(OWN));
    let kinds =
        "source,target,rate,delay,source_kind\nH0,west,10Gb/s,,host\nH1,east,10Gb/s,,host\nwest,east,40Gb/s,4us,\n";
    for text in [GML, GRAPHML, JSON, kinds, &JSON.replace("\"edges\"", "\"links\"")] {
        assert_eq!(facts(&read(text)), expected, "{text}");
    }
    // What says nothing of kinds has labels, and each node is a switch with an endpoint.
    let switches = "H0 kind switch\nwest kind switch\nH1 kind switch\neast kind switch\n";
    let expected = facts(&read(&format!("{switches}{OWN}")));
    for text in [EDGES, CSV] {
        assert_eq!(facts(&read(text)), expected, "{text}");
    }
    for separator in [";", "\t"] {
        assert_eq!(facts(&read(&CSV.replace(',', separator))), expected, "{separator}");
    }
    let gephi = "Source,Target,Type,Id,Label,rate,delay\nH0,west,Undirected,0,,10Gb/s,\nH1,east,Undirected,1,x,10Gb/s,\n\
                 west,east,Directed,2,,40Gb/s,4us\neast,west,Directed,3,,40Gb/s,4us\n";
    assert_eq!(facts(&read(gephi)), expected);
    // Each direction on its own.
    let both: String = CSV
        .lines()
        .enumerate()
        .map(|(row, line)| match row {
            0 => format!("{line},directed\n"),
            _ => {
                let fields: Vec<&str> = line.split(',').collect();
                format!("{line},true\n{},{},{},{},true\n", fields[1], fields[0], fields[2], fields[3])
            }
        })
        .collect();
    assert_eq!(facts(&read(&both)), expected);
}

#[test]
fn hosts_and_rates_of_a_list_of_ns3() {
    let net = read(NS3);
    assert_eq!((net.endpoints(), net.nodes()), (2, 4));
    let (_, _, links) = facts(&net);
    assert_eq!(links.iter().filter(|link| link.contains("10000000000")).count(), 4, "{links:?}");
    assert!(
        links.iter().any(|link| link.starts_with("2 to 3") && link.contains("40000000000") && link.contains("4000000"))
    );
    // SimAI: nodes, GPUs of a server, NVSwitches, switches, links, kind of GPU.
    let simai = "4 1 0 2 3 H100\n2 3\n0 2 10Gbps 0 0\n1 3 10Gbps 0 0\n2 3 40Gbps 0.004ms 0\n";
    assert_eq!(facts(&read(simai)), facts(&net));
}

#[test]
fn latencies_of_anynet_count_cycles() {
    let net = read(ANYNET);
    assert_eq!((net.endpoints(), net.nodes()), (4, 7));
    let (_, homes, links) = facts(&net);
    assert_eq!(homes, ["router0", "router1", "router2", "router2"]);
    // A latency of 3 is two cycles beyond the one in which a flit crosses.
    assert!(links.iter().any(|link| link.starts_with("router1 to router0") && link.contains("Cycles(2)")), "{links:?}");
    assert!(links.iter().any(|link| link.starts_with("router0 to router2") && link.contains("Cycles(0)")), "{links:?}");
}

#[test]
fn a_fat_tree_of_htsim() {
    let net = read(HTSIM);
    // 16 hosts, 8 leaves, 8 switches of the middle tier, 4 at the top; 16 links between each two tiers.
    assert_eq!((net.endpoints(), net.nodes()), (16, 36));
    let (_, _, links) = facts(&net);
    let of = |rate: &str| links.iter().filter(|link| link.contains(rate)).count();
    assert_eq!((links.len(), of("400000000000"), of("100000000000")), (96, 32, 64));
}

#[test]
fn faults_name_their_line_and_a_remedy() {
    let mut wrongly = Vec::new();
    for (text, from, to, place, what) in [
        (GML, "source 2", "source 9", "line 25", "node 9"),
        (GML, "capacity \"40Gb/s\"", "capacty \"40Gb/s\"", "line 32", "capacty"),
        (GML, "delay \"4us\"\n  ]\n]", "delay \"4us\"\n  ]", "line", ""),
        (GRAPHML, "target=\"west\"", "target=\"vest\"", "line 10", "`vest`"),
        (GRAPHML, "key=\"d2\">4us", "key=\"d7\">4us", "line 18", "`d7`"),
        (GRAPHML, "</graph>", "", "line", "not XML"),
        (GRAPHML, "</graph>\n</graphml>\n", "", "line 5", "<graph> is not closed"),
        (GRAPHML, "</graph>\n</graphml>\n", "<edge", "line", "a tag does not end"),
        (JSON, "}]}", "}", "line 4", "the text ends within"),
        (DOT, "\n}", "", "line 1", "1 brace is not closed"),
        (JSON, "\"target\": \"west\"", "\"target\": \"vest\"", "line 2", "`vest`"),
        (JSON, "\"nodes\"", "\"knots\"", "line 1", "`nodes` is missing"),
        (JSON, "\"4us\"", "\"4 lightyears\"", "line 4", "delay"),
        (EDGES, "'delay': '4us'", "'weight': 7", "line 3", "weight"),
        (EDGES, "'4us'}", "'4us}", "line 3", ""),
        (CSV, "source,target", "one,two", "line 1", "source and target"),
        (CSV, "40Gb/s", "40", "line 4", "rate"),
        (CSV, "H0,west,10Gb/s,", "H0,west", "line 2", ""),
        (CSV, "source,target,rate,delay\nH0,west", "u,v,rate,delay\nu,west", "line 2", "name of a column"),
        (CSV, "rate,delay", "rate,", "line 1", "no name"),
        (CSV, "source,target,rate,delay", "<gexf>", "", "GEXF"),
        (OWN, "west east", "west east 7", "line 3", "attribute"),
        (OWN, "rate 10Gb/s\nH1", "rat 10Gb/s\nH1", "line 1", "rat=10Gb/s"),
        (DOT, "count=2", "count=0", "line 3", "count=0"),
        (DOT, "kind=nic", "kind=card", "line 4", "neither host nor switch nor nic"),
        (SIMGRID, "dst=\"west\"", "dst=\"vest\"", "line 6", "vest"),
        (NS3, "4 2 3", "4 2 5", "line", "3 links are listed"),
        (NS3, "2 3 40Gbps 0.004ms 0", "2 3 40Gbps 0.004ms 0.1", "line 5", "error rate"),
        (NS3, "0 2 10Gbps", "0 7 10Gbps", "line 3", "node 7"),
        (ANYNET, "router 2 node 2", "router 2 nod 2", "line 3", "`nod`"),
        (HTSIM, "Radix_Up 2", "Radix_Op 2", "line 6", "`Radix_Op`"),
        (HTSIM, "Radix_Down 4", "Radix_Down 5", "line 14", "5 links down"),
        (HTSIM, "Tiers 3", "Tiers 5", "line 2", "5 tiers"),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{from}");
        let error = refused(&wrong);
        let said = error.to_string();
        if !said.contains(place) || !said.contains(what) || error.remedy().to_string().is_empty() {
            wrongly.push(format!("{from} -> {to}: {said}"));
        }
    }
    assert!(wrongly.is_empty(), "{}", wrongly.join("\n"));
}

#[test]
fn what_is_written_is_read_back() {
    let directed = "Ha Sa\nHb Sb\nSa -> Sb delay 9\nSb -> Sa delay 1 queue 7 rate 1000Mbps\nSa Sb dead true\n";
    let topologies = [
        "torus:4x3",
        "fattree:2,3",
        "dragonfly:p=1,a=3,h=1",
        "hyperx:3x3:2",
        "star:5",
        "cmesh:2x2:2",
        "rail:k=2,of=(star:3)",
    ];
    let topologies = topologies.map(|spec| topology::parse(spec, 2).unwrap());
    let samples = ALL.iter().copied().chain([OWN, directed]).map(|text| Box::new(read(text)) as Box<dyn Topology>);
    for topology in topologies.into_iter().chain(samples) {
        let dot = dot(&*topology, &[]);
        let expected = facts(&read(&dot));
        for syntax in [Syntax::List, Syntax::NodeLink] {
            let text = rewritten(&*topology, syntax).unwrap();
            assert_eq!(facts(&read(&text)), expected, "{syntax:?}\n{text}\nof\n{dot}");
        }
        // CSV names no node, so numbers may differ.
        match rewritten(&*topology, Syntax::Csv) {
            Ok(text) => {
                let again = facts(&read(&text));
                assert_eq!((again.0, again.2.len()), (expected.0, expected.2.len()), "{text}");
            }
            Err(error) => assert!(error.to_string().contains("CSV has links alone"), "{error}"),
        }
    }
}

/// A text with some of its bytes changed, repeated, exchanged or cut.
fn damaged(text: &str, changes: &[(u32, u32, u8)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for &(kind, at, byte) in changes {
        if bytes.is_empty() {
            break;
        }
        let at = at as usize % bytes.len();
        match kind % 5 {
            0 => bytes[at] = byte % 128,
            1 => drop(bytes.drain(at..(at + 1 + byte as usize % 9).min(bytes.len()))),
            2 => bytes.insert(at, byte % 128),
            3 => {
                let piece = bytes[at..(at + 1 + byte as usize % 40).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads damaged samples: anything but a panic.
fn survives(which: usize, changes: &[(u32, u32, u8)]) {
    let text = damaged(ALL[which % ALL.len()], changes);
    let _ = network(&text, "graph:x".to_owned(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn damaged_files_never_panic(
        which in 0..ALL.len(), changes in proptest::collection::vec((any::<u32>(), any::<u32>(), any::<u8>()), 1..6),
    ) {
        survives(which, &changes);
    }
}

#[test]
#[ignore = "a million damaged files: a minute"]
fn a_million_damaged_files_never_panic() {
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    for _ in 0..1_000_000 {
        let count = 1 + draw() % 5;
        let changes: Vec<(u32, u32, u8)> = (0..count).map(|_| (draw(), draw(), draw() as u8)).collect();
        survives(draw() as usize, &changes);
    }
}
