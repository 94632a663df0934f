//! Platforms of SimGrid, written by hand from its manual: what they mean, and what each makes of a fault.

use std::collections::{BTreeMap, VecDeque};

use trgen::NodeId;
use trgen::catalog::SpecError;

use fsin_core::topology::Topology as _;
use fsin_core::topology::graph::Options;
use fsin_core::topology::switched::{Delay, Switched};

use crate::network;
use crate::tests::{described, facts};

/// A platform of these elements.
fn platform(elements: &str) -> String {
    format!(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n{elements}</platform>\n"
    )
}

fn read(elements: &str) -> Switched {
    let text = platform(elements);
    network(&text, "graph:x".to_owned(), None).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Why a platform cannot be read, or why its routes are those of no graph.
fn refused(elements: &str) -> SpecError {
    no_graph(&platform(elements))
}

/// Why the platform of a text cannot be read, or why its routes are those of no graph.
fn no_graph(text: &str) -> SpecError {
    match network(text, "graph:x".to_owned(), None) {
        Err(error) => error,
        Ok(net) => net.no_graph().cloned().unwrap_or_else(|| panic!("{text} is a graph")),
    }
}

/// \[links\] Distances between all pairs of endpoints, and how many pairs have each.
fn distances(net: &Switched) -> BTreeMap<u32, usize> {
    let mut found = BTreeMap::new();
    for from in 0..net.endpoints() {
        let mut distances = vec![u32::MAX; net.nodes()];
        distances[from] = 0;
        let mut reached = VecDeque::from([from]);
        while let Some(here) = reached.pop_front() {
            for port in 0..net.fabric().ports() {
                let Some(next) = net.neighbour(NodeId::at(here), fsin_core::topology::Port::at(port)) else { continue };
                if distances[next.index()] == u32::MAX {
                    distances[next.index()] = distances[here] + 1;
                    reached.push_back(next.index());
                }
            }
        }
        for (to, distance) in distances.iter().enumerate().take(net.endpoints()) {
            *found.entry(*distance).or_default() += usize::from(to != from);
        }
    }
    found.retain(|_, pairs| *pairs > 0);
    found
}

const FLAT: &str = "<cluster id=\"c\" prefix=\"node-\" radical=\"0-2,7\" suffix=\".org\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\"/>\n";

#[test]
fn a_flat_cluster_is_a_star() {
    let own = "node-0.org kind host\nnode-1.org kind host\nnode-2.org kind host\nnode-7.org kind host\n".to_owned()
        + &[0, 1, 2, 7].map(|host| format!("node-{host}.org node-c_router.org rate 1Gb/s delay 50us\n")).concat();
    let expected = facts(&network(&own, "graph:x".to_owned(), None).unwrap());
    assert_eq!(facts(&read(FLAT)), expected);
    let world = format!("<zone id=\"world\" routing=\"Full\">\n{FLAT}</zone>\n");
    assert_eq!(facts(&read(&world)), expected);
    // A backbone that cannot be full adds its latency.
    let wide = FLAT.replace("/>", " bb_bw=\"2GBps\" bb_lat=\"500us\"/>");
    let net = read(&wide);
    let delays = |from: usize| net.link(NodeId::at(from), fsin_core::topology::Port(0)).delay;
    assert_eq!((net.endpoints(), delays(0)), (4, Some(Delay::Time(50_000_000))));
    assert!(facts(&net).2.iter().filter(|link| link.contains("Time(550000000)")).count() == 4);
}

#[test]
fn hosts_cabinets_and_a_router_of_a_zone() {
    let text = "<AS id=\"z\" routing=\"Cluster\">\n<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"><prop id=\"x\" value=\"y\"/></host>\n\
                <link id=\"la\" bandwidth=\"1Gbps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>\n\
                <link id=\"bu\" bandwidth=\"1Gbps\" latency=\"1us\"/><link id=\"bd\" bandwidth=\"2Gbps\" latency=\"3us\"/>\n\
                <router id=\"r\"/><host_link id=\"a\" up=\"la_UP\" down=\"la_DOWN\"/><host_link id=\"b\" up=\"bu\" down=\"bd\"/>\n\
                <cabinet id=\"k\" prefix=\"k\" suffix=\"\" radical=\"1-2\" speed=\"1Gf\" bw=\"1Gbps\" lat=\"1us\"/></AS>\n";
    let own = "a kind host\nb kind host\nk1 kind host\nk2 kind host\na r rate 1Gb/s delay 1us\nb -> r rate 1Gb/s delay 1us\nr -> b rate 2Gb/s delay 3us\n\
               k1 r rate 1Gb/s delay 1us\nk2 r rate 1Gb/s delay 1us\n";
    assert_eq!(facts(&read(text)), facts(&network(own, "graph:x".to_owned(), None).unwrap()));
}

/// Counts of clusters by formula: nodes, links and distances, of which two are those to routers of hosts with several
/// links.
#[test]
fn tori_fat_trees_and_dragonflies() {
    let cluster = |hosts: usize, topology: &str, parameters: &str| {
        read(&format!(
            "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-{}\" speed=\"1Gf\" bw=\"1Gbps\" lat=\"1us\" topology=\"{topology}\" \
             topo_parameters=\"{parameters}\" loopback_bw=\"1GBps\" loopback_lat=\"0\"/>\n",
            hosts - 1
        ))
    };
    let torus = cluster(24, "TORUS", "4,3,2");
    // A host and its router each; two links on a ring of two.
    assert_eq!((torus.endpoints(), torus.nodes()), (24, 48));
    assert_eq!(facts(&torus).2.len(), 2 * (24 + 3 * 24));
    // Distances on rings of 4, 3 and 2: (1 + 2x + x^2)(1 + 2x)(1 + x).
    assert_eq!(distances(&torus), BTreeMap::from([(3, 24 * 5), (4, 24 * 9), (5, 24 * 7), (6, 24 * 2)]));
    let rates: Vec<u64> =
        (0..24).filter_map(|host| torus.link(NodeId::at(host), fsin_core::topology::Port(0)).rate).collect();
    assert_eq!(rates, [6_000_000_000; 24]);

    let tree = cluster(16, "FAT_TREE", "2;4,4;1,2;1,2");
    // 4 leaves and 2 roots; 16 links to hosts, 4 x 2 x 2 above.
    assert_eq!((tree.endpoints(), tree.nodes()), (16, 22));
    assert_eq!(facts(&tree).2.len(), 2 * (16 + 16));
    assert_eq!(distances(&tree), BTreeMap::from([(2, 16 * 3), (4, 16 * 12)]));
    let three = cluster(24, "FAT_TREE", "3;2,3,4;1,2,2;1,1,1");
    // 12 leaves, 4 x 2 switches in the middle, 4 at the top.
    assert_eq!((three.endpoints(), three.nodes()), (24, 24 + 12 + 8 + 4));
    assert_eq!(facts(&three).2.len(), 2 * (24 + 12 * 2 + 8 * 2));
    assert_eq!(distances(&three), BTreeMap::from([(2, 24), (4, 24 * 4), (6, 24 * 18)]));

    let dragonfly = cluster(120, "DRAGONFLY", "3,4;4,3;5,1;2");
    assert_eq!((dragonfly.endpoints(), dragonfly.nodes()), (120, 120 + 60));
    // Routers of a chassis, chassis of a group, groups.
    assert_eq!(facts(&dragonfly).2.len(), 2 * (120 + 3 * (4 * 10 + 5 * 6) + 3));
    let of_rate = |rate: &str| facts(&dragonfly).2.iter().filter(|link| link.contains(rate)).count();
    assert_eq!((of_rate("Some(4000000000)"), of_rate("Some(3000000000)")), (2 * 3, 2 * 3 * 30));
}

const STAR: &str = "<zone id=\"w\" routing=\"Full\">\n<host id=\"A\" speed=\"1Gf\"/><host id=\"B\" speed=\"1Gf\"/><host id=\"C\" speed=\"1Gf\"/>\n\
    <link id=\"la\" bandwidth=\"1Gbps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>\n\
    <link id=\"lb\" bandwidth=\"2Gbps\" latency=\"2us\" sharing_policy=\"SPLITDUPLEX\"/>\n\
    <link id=\"lc\" bandwidth=\"3Gbps\" latency=\"3us\" sharing_policy=\"SPLITDUPLEX\"/>\n\
    <link id=\"lo\" bandwidth=\"9Gbps\" latency=\"0\" sharing_policy=\"FATPIPE\"/>\n\
    <route src=\"A\" dst=\"A\"><link_ctn id=\"lo\"/></route>\n\
    <route src=\"A\" dst=\"B\"><link_ctn id=\"la\" direction=\"UP\"/><link_ctn id=\"lb\" direction=\"DOWN\"/></route>\n\
    <route src=\"A\" dst=\"C\"><link_ctn id=\"la\" direction=\"UP\"/><link_ctn id=\"lc\" direction=\"DOWN\"/></route>\n\
    <route src=\"C\" dst=\"B\"><link_ctn id=\"lc\" direction=\"UP\"/><link_ctn id=\"lb\" direction=\"DOWN\"/></route>\n</zone>\n";

#[test]
fn routes_show_where_links_meet() {
    let own = "A kind host\nB kind host\nC kind host\nA junction0 rate 1Gb/s delay 1us\njunction0 B rate 2Gb/s delay 2us\n\
               junction0 C rate 3Gb/s delay 3us\n";
    let expected = facts(&network(own, "graph:x".to_owned(), None).unwrap());
    assert_eq!(facts(&read(STAR)), expected);
    // The same by links whose directions share a bandwidth, if they are taken as full duplex.
    let mut shared = platform(STAR);
    for word in [" sharing_policy=\"SPLITDUPLEX\"", " direction=\"UP\"", " direction=\"DOWN\""] {
        shared = shared.replace(word, "");
    }
    assert_eq!(
        facts(&described(&shared, "graph:x".to_owned(), &Options { duplex: true, ..Options::default() }).unwrap()),
        expected
    );
    let error = no_graph(&shared);
    assert!(error.to_string().contains("line 6") && error.to_string().contains("link `la`"), "{error}");
    assert!(error.remedy().to_string().contains("shared=duplex"), "{}", error.remedy());
    let error = described("A B\n", "graph:x".to_owned(), &Options { duplex: true, ..Options::default() }).unwrap_err();
    assert!(error.to_string().contains("no policy of sharing"), "{error}");
}

#[test]
fn edges_of_a_graph_by_shortest_paths() {
    // A host with two links becomes a switch with a host; a link for each direction.
    let text = "<zone id=\"w\" routing=\"Floyd\">\n<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/><router id=\"r\"/>\n\
                <link id=\"1\" bandwidth=\"1Gbps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>\n\
                <link id=\"2\" bandwidth=\"2Gbps\" latency=\"2us\"/><link id=\"3\" bandwidth=\"3Gbps\" latency=\"3us\"/>\n\
                <route src=\"a\" dst=\"r\"><link_ctn id=\"1\" direction=\"UP\"/></route>\n\
                <route src=\"a\" dst=\"b\" symmetrical=\"NO\"><link_ctn id=\"2\"/></route>\n\
                <route src=\"b\" dst=\"a\" symmetrical=\"NO\"><link_ctn id=\"3\"/></route>\n</zone>\n";
    let own = "a kind host\na.router endpoints 0\nb kind host\nb.router endpoints 0\nr endpoints 0\na a.router rate 3Gb/s delay 0ps\n\
               b b.router rate 3Gb/s delay 0ps\na.router r rate 1Gb/s delay 1us\na.router -> b.router rate 2Gb/s delay 2us\n\
               b.router -> a.router rate 3Gb/s delay 3us\n";
    assert_eq!(facts(&read(text)), facts(&network(own, "graph:x".to_owned(), None).unwrap()));
}

#[test]
fn zones_are_joined_at_their_gateways() {
    let text = format!(
        "<zone id=\"w\" routing=\"Floyd\">\n{FLAT}{}<link id=\"l\" bandwidth=\"10Gbps\" latency=\"1ms\" sharing_policy=\"SPLITDUPLEX\"/>\n\
         <zoneRoute src=\"c\" dst=\"d\" gw_src=\"node-c_router.org\" gw_dst=\"edge\"><link_ctn id=\"l\" direction=\"DOWN\"/></zoneRoute>\n</zone>\n",
        FLAT.replace("\"c\"", "\"d\" router_id=\"edge\"").replace("node-", "other-")
    );
    let net = read(&text);
    assert_eq!((net.endpoints(), net.nodes()), (8, 10));
    assert_eq!(distances(&net), BTreeMap::from([(2, 8 * 3), (3, 8 * 4)]));
    assert!(
        facts(&net).2.iter().any(|link| link.starts_with("node-c_router.org to edge") && link.contains("1000000000"))
    );
}

#[test]
fn deep_and_large_platforms_are_refused() {
    let deep = "<zone id=\"z\" routing=\"Full\">".repeat(100_000);
    assert!(refused(&deep).to_string().contains("nested deeper than 64"));
    let entity = "<!DOCTYPE x [<!ENTITY a \"b\">]><platform>&a;</platform>";
    let error = network(entity, "graph:x".to_owned(), None).unwrap_err();
    assert!(error.to_string().contains("entities"), "{error}");
    let large = FLAT.replace("0-2,7", "0-999999");
    assert!(refused(&large).to_string().contains("more than 131072 hosts"), "{}", refused(&large));
    // A router of many links is a switch as others are, and the model of flows takes the routes of the file.
    let wide = network(&platform(&FLAT.replace("0-2,7", "0-999")), "graph:x".to_owned(), None).unwrap();
    assert_eq!((wide.no_graph(), wide.nodes(), wide.fabric().ports()), (None, 1001, 1000));
    let crossed: Vec<&str> = wide
        .stated_routes()
        .and_then(|routes| Some((routes.route(3, 999)?, routes.constraints())))
        .map(|(route, links)| route.iter().map(|&link| links[link as usize].name.as_str()).collect())
        .unwrap();
    assert_eq!((wide.endpoints(), &crossed[..]), (1000, &["c.3_UP", "c.999_DOWN"][..]));
    // Before a switch of them is made.
    let many = FLAT.replace("/>", " topology=\"FAT_TREE\" topo_parameters=\"2;2,2;9999,9999;1,1\"/>");
    assert!(refused(&many).to_string().contains("topo_parameters"), "{}", refused(&many));
}

#[test]
fn faults_name_their_line_and_a_remedy() {
    let mut wrongly = Vec::new();
    let torus = FLAT.replace("/>", " topology=\"TORUS\" topo_parameters=\"2,2\"/>");
    for (text, from, to, line, what) in [
        (FLAT, "125MBps", "125MB", 4, "bw `125MB` is no bandwidth"),
        (FLAT, "50us", "50 metres", 4, "lat `50 metres` is no time"),
        (FLAT, "0-2,7", "0-2,x", 4, "radical `0-2,x`"),
        (FLAT, "0-2,7", "0-99999999999", 4, "radical"),
        (FLAT, "0-2,7", "0-2,2", 4, "`node-2.org` stands twice"),
        (FLAT, "radical", "radicle", 4, "unknown attribute radicle"),
        (FLAT, " lat=", " bb_bw=\"250MBps\" lat=", 4, "a bus"),
        (FLAT, " lat=", " limiter_link=\"1GBps\" lat=", 4, "limiter_link"),
        (FLAT, " lat=", " sharing_policy=\"FATPIPE\" lat=", 4, "FATPIPE"),
        (FLAT, " lat=", " topology=\"TOURS\" lat=", 4, "topology `TOURS`"),
        (&torus, "2,2", "2,3", 4, "topo_parameters `2,3` of 4 hosts"),
        (&torus, "TORUS", "FAT_TREE", 4, "topo_parameters"),
        (&torus, "TORUS", "DRAGONFLY", 4, "topo_parameters"),
        (STAR, "Full", "Vivaldi", 4, "routing `Vivaldi`"),
        (STAR, "Full", "None", 10, "a zone with routing None"),
        (STAR, "src=\"C\"", "src=\"D\"", 13, "src `D`"),
        (STAR, "lo\"/>", "lu\"/>", 10, "`lu` is no link"),
        (STAR, "UP\"/><link_ctn id=\"lb", "UP\"/><link_ctn id=\"la", 11, "link `la`"),
        (STAR, " direction=\"UP\"", "", 11, "link `la` has two directions"),
        (STAR, "\"UP\"", "\"LEFT\"", 11, "direction `LEFT`"),
        (STAR, "SPLITDUPLEX", "WIFI", 6, "sharing_policy `WIFI`"),
        (STAR, "SPLITDUPLEX", "FATPIPE", 11, "link `la`"),
        (STAR, "lo\"/></route>", "lo\"/></route><bypassRoute src=\"A\" dst=\"B\"/>", 10, "<bypassRoute>"),
        (STAR, "<route src=\"A\" dst=\"A\">", "<rout/><route src=\"A\" dst=\"A\">", 10, "<rout>: unknown element"),
        (STAR, "latency=\"2us\"", "latency_file=\"x\"", 7, "latency_file"),
        (STAR, "</zone>", "", 15, "not XML"),
        // A way that is not the shortest.
        (
            STAR,
            "<link id=\"lo\"",
            "<link id=\"x\" bandwidth=\"1Gbps\" latency=\"0\" sharing_policy=\"SPLITDUPLEX\"/><router id=\"R\"/>\
             <route src=\"A\" dst=\"R\"><link_ctn id=\"la\" direction=\"UP\"/></route>\
             <route src=\"A\" dst=\"B\"><link_ctn id=\"x\" direction=\"UP\"/></route><link id=\"lo\"",
            11,
            "crosses 2 links, and 1 lead there too",
        ),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{from}");
        let error = refused(&wrong);
        let said = error.to_string();
        if !said.contains(&format!("line {line}")) || !said.contains(what) || error.remedy().to_string().is_empty() {
            wrongly.push(format!("{from} -> {to}: {said}"));
        }
    }
    assert!(wrongly.is_empty(), "{}", wrongly.join("\n"));
}
