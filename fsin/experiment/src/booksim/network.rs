//! Topologies and routings of BookSim.

use super::Config;

/// A routing of BookSim: its topology, its name, the name here and the division of rings into classes.
type Routing = (&'static str, &'static str, &'static str, Option<&'static str>);

/// Routings that have an equal.
const ROUTINGS: &[Routing] = &[
    ("mesh", "dor", "dor", None),
    ("mesh", "dim_order", "dor", None),
    ("mesh", "xy_yx", "xy-yx", None),
    ("mesh", "adaptive_xy_yx", "adaptive-xy-yx", None),
    ("mesh", "valiant", "valiant", None),
    ("mesh", "romm", "romm", None),
    ("mesh", "min_adapt", "booksim-min-adapt", None),
    ("torus", "dim_order", "dor", Some("per-dimension")),
    ("torus", "dor", "dor", Some("per-dimension")),
    ("torus", "dim_order_bal", "dor", Some("balanced")),
    ("cmesh", "dor", "dor", None),
    ("cmesh", "xy_yx", "xy-yx", None),
    ("cmesh", "dor_no_express", "dor-no-express", None),
    ("cmesh", "xy_yx_no_express", "xy-yx-no-express", None),
    ("flatfly", "ran_min", "dor", None),
    ("flatfly", "dor", "dor", None),
    ("flatfly", "xyyx", "xy-yx", None),
    ("flatfly", "adaptive_xyyx", "adaptive-xy-yx", None),
    ("flatfly", "valiant", "valiant", None),
    ("flatfly", "ugal", "booksim-ugal", None),
    ("flatfly", "ugal_xyyx", "booksim-ugal-xy-yx", None),
    ("dragonflynew", "min", "booksim-min", None),
    ("dragonflynew", "ugal", "booksim-ugal", None),
    ("fattree", "nca", "minimal", None),
    ("fattree", "anca", "anca", None),
    ("fly", "dest_tag", "destination-tag", None),
    ("anynet", "min", "shortest", None),
];

/// \[nodes\] Nodes of each router of a concentrated mesh.
const CMESH_NODES: u64 = 4;

impl Config {
    /// Topology and routing.
    pub(super) fn network(&mut self) {
        let topology = self.value("topology").0.to_owned();
        let (k, n, c) = (self.whole("k", 1), self.whole("n", 1), self.whole("c", 1));
        if n > 16 {
            return self.refuse("n", "more than 16 dimensions", "use 1 to 16");
        }
        let is_tiled = matches!(&*topology, "cmesh" | "flatfly");
        if !is_tiled {
            for name in ["x", "y", "xr", "yr"] {
                if self.differs(name) {
                    self.note(name, "without effect: only cmesh and flatfly have tiles of nodes");
                }
            }
        }
        if c != 1 && !is_tiled {
            // Butterflies, trees and networks of a file have no such number.
            match &*topology {
                "torus" | "mesh" => {
                    self.refuse("c", "several nodes at a router of a mesh or torus", "use topology = cmesh")
                }
                _ => self.note("c", "without effect: this topology has no such number"),
            }
        }
        let sizes = vec![k.to_string(); n as usize].join("x");
        let spec = match &*topology {
            "torus" | "mesh" => format!("{topology}:{sizes}"),
            "cmesh" => self.tiled("cmesh", k, n, c),
            "flatfly" => self.tiled("hyperx", k, n, c),
            "fattree" => format!("fattree:{k},{n}"),
            "fly" => format!("fly:{k},{n}"),
            "dragonflynew" => {
                if n != 1 {
                    self.refuse("n", "groups whose switches are not all linked with each other", "write n = 1");
                }
                // Links have these lengths whatever use_noc_latency says.
                format!("dragonfly:p={k},a={},h={k},local=10,global=100", 2 * k)
            }
            "anynet" => {
                let file = self.value("network_file").0.to_owned();
                if file.is_empty() {
                    self.refuse("topology", "no network_file", "add network_file = FILE;");
                }
                format!("graph:{file}")
            }
            _ => {
                let remedy = "torus, mesh, cmesh, fattree, fly, flatfly, dragonflynew and anynet have an equal here; `fsin list topologies` \
                              names others";
                return self.refuse("topology", "a network without an equal here", remedy);
            }
        };
        if topology != "anynet" && self.differs("network_file") {
            self.note("network_file", "without effect: only anynet reads one");
        }
        self.set("topology", spec, "topology");
        self.routing(&topology, n);
        // Links of a folded torus are twice as long; those of tiles are part of the topology.
        let delay = if topology == "torus" && self.switch("use_noc_latency") { 2 } else { 1 };
        self.set("link-delay", delay, "use_noc_latency");
    }

    /// The topology of a network of k x k routers, each with a square tile of c nodes of a grid.
    fn tiled(&mut self, name: &str, k: u64, n: u64, c: u64) -> String {
        let side = c.isqrt();
        if n != 2 {
            self.refuse("n", "tiles of nodes have 2 dimensions", "write n = 2");
        }
        if side * side != c || (name == "cmesh" && c != CMESH_NODES) {
            let remedy = if name == "cmesh" { "write c = 4" } else { "use a square, such as c = 4" };
            self.refuse("c", "no square tile of nodes with an equal here", remedy);
        }
        for extent in ["xr", "yr"] {
            if !super::is_same(self.value(extent).0, &side.to_string()) {
                self.refuse(
                    extent,
                    &format!("not the side of a square of c = {c} nodes"),
                    format!("write {extent} = {side}"),
                );
            }
        }
        for count in ["x", "y"] {
            if super::is_same(self.value(count).0, &k.to_string()) {
                continue;
            }
            if name == "cmesh" {
                self.note(count, &format!("without effect: k = {k} says how many routers are in a row"));
            } else {
                self.refuse(count, &format!("not k = {k}, the routers in a row"), format!("write {count} = {k}"));
            }
        }
        let spaced = if self.switch("use_noc_latency") { ":spaced" } else { "" };
        let express = if name == "cmesh" && self.has_express(k) { ":express" } else { "" };
        format!("{name}:{k}x{k}:{side}x{side}{spaced}{express}")
    }

    /// True if the express links of a concentrated mesh, which BookSim always builds, matter: to a routing that takes
    /// them, and to energy, as they have buffers and leak.
    fn has_express(&mut self, k: u64) -> bool {
        let routing = self.value("routing_function").0.to_owned();
        let is_used = matches!(&*routing, "dor" | "xy_yx");
        if !is_used && self.value("sim_power").0 != "1" {
            return false;
        }
        if k < 4 || !k.is_multiple_of(2) {
            let what = "express links of a concentrated mesh are of an even number of routers in a row, 4 or more";
            let remedy = match is_used {
                true => format!("write k = 4, or {routing}_no_express"),
                false => "write k = 4, or leave sim_power out".to_owned(),
            };
            self.refuse("k", what, remedy);
        }
        if routing == "xy_yx" && k > 4 {
            // It takes an express link of k / 2 routers wherever 2 are to go, and from its end the same link back.
            let what = "a routing that goes to and fro over the same express link where k is more than 4";
            self.refuse("routing_function", what, "write k = 4, xy_yx_no_express or dor");
        }
        true
    }

    /// The routing of a topology.
    fn routing(&mut self, topology: &str, n: u64) {
        let routing = self.value("routing_function").0.to_owned();
        if routing == "none" {
            // BookSim reads such a file, and stops when it builds the network.
            return self.note(
                "routing_function",
                "BookSim has no such routing and stops; the usual one of this network is taken",
            );
        }
        let of_topology = || ROUTINGS.iter().filter(|row| row.0 == topology);
        let Some(&(_, _, ours, classes)) = of_topology().find(|row| row.1 == routing) else {
            let names: Vec<&str> = of_topology().map(|row| row.1).collect();
            let remedy = format!("with an equal here: {}", names.join(", "));
            return self.refuse("routing_function", "no routing with an equal here for this topology", remedy);
        };
        if (ours.ends_with("xy-yx") || ours.ends_with("xy-yx-no-express")) && n != 2 {
            self.refuse(
                "routing_function",
                &format!("of 2 dimensions, and n = {n}"),
                "write n = 2, or another routing",
            );
        }
        // Where there are no express links, because none is taken, there is nothing to do without.
        let is_plain = topology == "cmesh" && self.value("sim_power").0 != "1";
        let ours = if is_plain { ours.trim_end_matches("-no-express") } else { ours };
        if ours == "booksim-min-adapt" {
            self.note("routing_function", "it does not adapt in a mesh; `adaptive` is the routing that does");
        }
        self.set("routing", ours, "routing_function");
        if topology == "dragonflynew" && ours == "booksim-ugal" {
            self.doubt("routing_function", "not free of deadlock: `ugal` is the routing that is");
        }
        if let Some(classes) = classes {
            self.set("vc-classes", classes, "routing_function");
        }
    }
}
