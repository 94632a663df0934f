//! Elements of a platform: which are read, with which attributes.

use trgen::catalog::{ErrorKind, SpecError, suggestion};

use super::{Policy, quantity};
use crate::xml::Node;
use fsin_core::topology::graph::{Places, refusal, short};

/// An element that is read: the attributes that are read, and those that do not concern the network.
struct Known {
    name: &'static str,
    read: &'static [&'static str],
    idle: &'static [&'static str],
}

/// All elements that are read.
const KNOWN: &[Known] = &[
    Known { name: "platform", read: &["version"], idle: &[] },
    Known { name: "zone", read: &["id", "routing"], idle: &[] },
    Known { name: "AS", read: &["id", "routing"], idle: &[] },
    Known {
        name: "host",
        read: &["id"],
        idle: &["speed", "core", "pstate", "coordinates", "speed_file", "availability_file", "availability", "power"],
    },
    Known { name: "router", read: &["id"], idle: &["coordinates"] },
    Known { name: "link", read: &["id", "bandwidth", "latency", "sharing_policy"], idle: &[] },
    Known {
        name: "cluster",
        read: &[
            "id",
            "prefix",
            "suffix",
            "radical",
            "bw",
            "lat",
            "sharing_policy",
            "bb_bw",
            "bb_lat",
            "bb_sharing_policy",
            "topology",
            "topo_parameters",
            "router_id",
            "limiter_link",
        ],
        idle: &["speed", "core", "loopback_bw", "loopback_lat"],
    },
    Known { name: "cabinet", read: &["id", "prefix", "suffix", "radical", "bw", "lat"], idle: &["speed"] },
    Known { name: "host_link", read: &["id", "up", "down"], idle: &[] },
    Known { name: "backbone", read: &["id", "bandwidth", "latency", "sharing_policy"], idle: &[] },
    Known { name: "route", read: &["src", "dst", "symmetrical"], idle: &[] },
    Known { name: "zoneRoute", read: &["src", "dst", "gw_src", "gw_dst", "symmetrical"], idle: &[] },
    Known { name: "ASroute", read: &["src", "dst", "gw_src", "gw_dst", "symmetrical"], idle: &[] },
    Known { name: "link_ctn", read: &["id", "direction"], idle: &[] },
];

/// Elements that concern computation, with all that is in them.
pub(super) const IDLE: &[&str] = &["prop", "disk", "storage", "storage_type", "mount", "process", "actor", "config"];

/// Elements that mean something that a graph does not, with what to do.
const REFUSED: &[(&str, &str)] = &[
    ("peer", "give the host a link, and routes or a <cluster>"),
    ("bypassRoute", ROUTES),
    ("bypassASroute", ROUTES),
    ("bypassZoneRoute", ROUTES),
    ("include", "put the file in the place of the element"),
    ("trace", TRACE),
    ("trace_connect", TRACE),
];
const ROUTES: &str = "leave it out, and name routes of the simulation by the setting routes";
const TRACE: &str = "leave it out: links keep their rates here; failures are a setting of the run, fail";

/// Routings of zones that are read.
const ROUTINGS: [&str; 6] = ["Full", "Floyd", "Dijkstra", "DijkstraCache", "Cluster", "None"];

/// An element.
#[derive(Clone, Copy)]
pub(super) struct Element<'d> {
    pub(super) node: Node<'d>,
    pub(super) places: &'d Places<'d>,
}

impl<'d> Element<'d> {
    pub(super) fn name(&self) -> &'d str {
        self.node.name()
    }

    /// \[bytes\] Its offset.
    pub(super) fn at(&self) -> usize {
        self.node.at()
    }

    pub(super) fn refusal(&self, kind: ErrorKind, what: impl AsRef<str>, remedy: &str) -> SpecError {
        refusal(self.places, self.at(), kind, format!("<{}>: {}", short(self.name()), what.as_ref()), remedy)
    }

    pub(super) fn parent(&self) -> Option<Self> {
        self.node.parent().map(|node| Self { node, ..*self })
    }

    pub(super) fn children(&self) -> impl Iterator<Item = Self> {
        let Self { node, places } = *self;
        node.children().map(move |node| Self { node, places })
    }

    /// This element and all within it, but for what stands in those that concern computation.
    pub(super) fn elements(&self) -> impl Iterator<Item = Self> {
        let Self { node, places } = *self;
        let counts = |node: &Node<'_>| node.parent().is_none_or(|parent| !IDLE.contains(&parent.name()));
        node.descendants().filter(counts).map(move |node| Self { node, places })
    }

    /// The value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&'d str> {
        self.node.attribute(name)
    }

    /// The value of an attribute that must be there.
    pub(super) fn need(&self, name: &str) -> Result<&'d str, SpecError> {
        self.get(name).ok_or_else(|| {
            self.refusal(ErrorKind::Malformed, format!("{name} is missing"), &format!("write {name}=\"...\""))
        })
    }

    /// Refuses elements and attributes that are not known.
    pub(super) fn check(&self) -> Result<(), SpecError> {
        let name = self.name();
        if let Some((_, remedy)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            return Err(self.refusal(ErrorKind::Unsupported, "has no meaning in a graph", remedy));
        }
        if IDLE.contains(&name) {
            return Ok(());
        }
        let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
            let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
            return Err(self.refusal(ErrorKind::UnknownName, "unknown element", &suggestion(name, &names).to_string()));
        };
        for attribute in self.node.attributes() {
            if known.read.contains(&attribute) || known.idle.contains(&attribute) {
                continue;
            }
            if attribute.ends_with("_file") || attribute.ends_with("_trace") {
                let what = format!("{}: what changes over time is not read", short(attribute));
                return Err(self.refusal(ErrorKind::Unsupported, what, TRACE));
            }
            let what = format!("unknown attribute {}", short(attribute));
            return Err(self.refusal(ErrorKind::UnknownName, what, &suggestion(attribute, known.read).to_string()));
        }
        Ok(())
    }

    /// The routing of a zone.
    pub(super) fn routing(&self) -> Result<&'static str, SpecError> {
        let given = self.need("routing")?;
        ROUTINGS.into_iter().find(|known| known.eq_ignore_ascii_case(given)).ok_or_else(|| {
            let what = format!("routing `{}` of a zone is not read", short(given));
            self.refusal(ErrorKind::Unsupported, what, "use Full, Floyd, Dijkstra, DijkstraCache, Cluster or None")
        })
    }

    /// \[b/s\] A bandwidth of more than 0.
    pub(super) fn bandwidth(&self, name: &str) -> Result<u64, SpecError> {
        let given = self.need(name)?;
        quantity::bandwidth(given).filter(|&rate| rate > 0).ok_or_else(|| {
            let what = format!("{name} `{}` is no bandwidth", short(given));
            self.refusal(ErrorKind::Malformed, what, "write it with its unit: 125MBps, 10Gbps")
        })
    }

    /// \[ps\] A time; 0 if it is not given.
    pub(super) fn time(&self, name: &str) -> Result<u64, SpecError> {
        let Some(given) = self.get(name) else { return Ok(0) };
        quantity::time(given).ok_or_else(|| {
            let what = format!("{name} `{}` is no time", short(given));
            self.refusal(ErrorKind::Malformed, what, "write it with its unit: 50us, 1ms")
        })
    }

    /// How traffic shares a link.
    pub(super) fn policy(&self, name: &str, usual: Policy) -> Result<Policy, SpecError> {
        match self.get(name) {
            None => Ok(usual),
            Some("SHARED") => Ok(Policy::Shared),
            Some("SPLITDUPLEX" | "FULLDUPLEX") => Ok(Policy::Duplex),
            Some("FATPIPE") => Ok(Policy::Fat),
            Some(other) => {
                let near = suggestion(other, &["SHARED", "SPLITDUPLEX", "FATPIPE"]).to_string();
                Err(self.refusal(ErrorKind::Unsupported, format!("{name} `{}`", short(other)), &near))
            }
        }
    }

    /// `YES` or `NO`.
    pub(super) fn is_yes(&self, name: &str, usual: bool) -> Result<bool, SpecError> {
        match self.get(name) {
            None => Ok(usual),
            Some("YES" | "yes") => Ok(true),
            Some("NO" | "no") => Ok(false),
            Some(other) => {
                Err(self.refusal(ErrorKind::Malformed, format!("{name} `{}`", short(other)), "write YES or NO"))
            }
        }
    }
}
