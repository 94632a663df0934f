//! How texts of known formats that are not read begin, and what to do with them instead, with settings in braces.

use super::head;
use super::xml::root;

pub(crate) const GRAPHML: &str = "write it as GraphML, as networkx does: nx.write_graphml(G, \"net.graphml\")";
pub(crate) const LINKS: &str = "write its links as CSV: a line `source,target,rate,delay`, then one for each link; columns source_kind and \
                                target_kind say which nodes are hosts";
pub(crate) const MACHINE: &str =
    "give the network between machines, or a machine of two levels: {topology} cluster:nodes=8,gpus=4,...";
pub(crate) const SNDLIB: &str = "give the file of SNDlib itself, native or XML: its demands are read with it";
pub(crate) const ASTRA: &str = "write the network that it means: Ring(8) is {topology} torus:8, Switch(8) star:8, Ring(4) by Ring(2) torus:4x2, \
                                two levels cluster:nodes=N,gpus=G,...; bandwidth is {link-rate} (a GB there has 2^30 bytes: 50 is 429496729600b/s), \
                                latency {propagation}";
pub(crate) const WEIGHTS: &str = "routes are shortest in hops, and a weight is neither rate nor delay: leave the third word out, or name it, \
                                  `A B rate 10Gb/s` or `A B delay 4us`";
pub(crate) const MATRIX: &str = "write an adjacency matrix as links, in Python: import numpy, networkx; \
                                 networkx.write_graphml(networkx.from_numpy_array(numpy.loadtxt(\"FILE\")), \"net.graphml\"); coordinates of \
                                 nodes are no network";

/// The first element of XML; empty for another text.
fn element(text: &str) -> &str {
    root(text)
        .strip_prefix('<')
        .map_or("", |rest| rest.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next().unwrap_or(""))
}

/// True if some line has this key of YAML without a space before it.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
}

/// True if some line has this key of YAML, wherever it stands.
fn has_inner_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| {
        line.trim_start().trim_start_matches("- ").strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))
    })
}

pub(crate) fn is_hwloc(text: &str) -> bool {
    element(text) == "topology" && text.contains("<object")
}

pub(crate) fn is_nccl(text: &str) -> bool {
    element(text) == "system" && text.contains("<cpu")
}

pub(crate) fn is_gexf(text: &str) -> bool {
    element(text).eq_ignore_ascii_case("gexf")
}

pub(crate) fn is_graphviz(text: &str) -> bool {
    element(text) == "graphviz"
}

pub(crate) fn is_xml(text: &str) -> bool {
    let element = element(text);
    text.trim_start().starts_with('<') && element.starts_with(char::is_alphabetic)
}

pub(crate) fn is_netq(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{']) && text.contains("\"compounded_links\"")
}

pub(crate) fn is_sndlib_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && (text.contains("\"pre_installed_capacity\"") || text.contains("\"demand_value\""))
}

pub(crate) fn is_cm(text: &str) -> bool {
    let mut lines = text.lines().filter_map(|line| line.split('#').next()?.split_whitespace().next());
    ["Nodes", "Connections"].iter().all(|key| lines.next().is_some_and(|word| word.eq_ignore_ascii_case(key)))
}

pub(crate) fn is_containerlab(text: &str) -> bool {
    has_key(text, "topology") && has_inner_key(text, "nodes")
}

pub(crate) fn is_topograph(text: &str) -> bool {
    has_key(text, "switches")
        && (has_key(text, "nodes") || has_key(text, "capacity_blocks") || has_inner_key(text, "switches"))
}

pub(crate) fn is_infragraph(text: &str) -> bool {
    has_key(text, "infrastructure")
        || ((has_key(text, "device") || has_key(text, "devices"))
            && (has_inner_key(text, "components") || has_inner_key(text, "connections")))
}

pub(crate) fn is_astra(text: &str) -> bool {
    has_key(text, "npus_count") || (has_key(text, "topology") && has_key(text, "bandwidth"))
}

pub(crate) fn is_noxim(text: &str) -> bool {
    has_key(text, "mesh_dim_x") || has_key(text, "n_delta_tiles") || has_key(text, "buffer_depth")
}

pub(crate) fn is_codes(text: &str) -> bool {
    let head = head(text);
    head.starts_with("LPGROUPS") || head.starts_with("PARAMS") || text.lines().any(|line| line.trim_end() == "LPGROUPS")
}

pub(crate) fn is_booksim(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or("").trim());
    lines.filter(|line| line.ends_with(';') && line.contains('=')).take(3).count() == 3 && text.contains("topology")
}

pub(crate) fn is_ned(text: &str) -> bool {
    let head = head(text);
    (head.starts_with("network ")
        || head.starts_with("package ")
        || head.starts_with("import ")
        || head.starts_with("module ")
        || head.starts_with("simple "))
        && text.contains('{')
        && text.contains(';')
}

pub(crate) fn is_sst(text: &str) -> bool {
    let is_import =
        |line: &str| line.trim_end() == "import sst" || line.starts_with("from sst") || line.starts_with("import sst.");
    text.lines().any(is_import)
}

pub(crate) fn is_pajek(text: &str) -> bool {
    let head = head(text).get(..9).unwrap_or("").to_ascii_lowercase();
    head == "*vertices" || head.starts_with("*network")
}

pub(crate) fn is_graph6(text: &str) -> bool {
    text.starts_with(">>graph6<<") || text.starts_with(">>sparse6<<")
}

/// A line of numbers: how many, and whether one is no whole number.
type Numbers = (usize, bool);

/// Lines of a text, up to some hundred, where they all have numbers alone.
fn numbers(text: &str) -> Option<Vec<Numbers>> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty());
    let numbers = |line: &str| {
        let words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        words.map(|word| word.parse::<f64>().ok()).try_fold((0, false), |(count, is_broken), number| {
            number.map(|number| (count + 1, is_broken || number.fract() != 0.0))
        })
    };
    lines.take(300).map(numbers).collect()
}

pub(crate) fn is_rocketfuel(text: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(20);
    let mut is_any = false;
    let all = lines.map(|line| line.split_whitespace().take(4).collect::<Vec<_>>()).all(|line| {
        is_any |= line.iter().any(|word| word.contains(",+"));
        line.len() == 3 && line[2].parse::<f64>().is_ok() && line[0].parse::<f64>().is_err()
    });
    all && is_any
}

/// Counts of nodes and links, then three numbers a line: nodes with places, edges with lengths.
pub(crate) fn is_inet(text: &str) -> bool {
    numbers(text).is_some_and(|lines| lines.len() > 2 && lines[0].0 == 2 && lines[1..].iter().all(|line| line.0 == 3))
}

pub(crate) fn is_weighted(text: &str) -> bool {
    let lines = || text.lines().map(|line| line.split('#').next().unwrap_or("")).filter(|line| !line.trim().is_empty());
    lines().next().is_some()
        && lines().take(300).all(|line| {
            let mut words = line.split_whitespace();
            let third = words.nth(2);
            third.is_some_and(|word| word.parse::<f64>().is_ok()) && words.next().is_none() && !line.contains(',')
        })
        // A list of ns-3 may have three switches and no link.
        && lines().nth(1).is_some()
}

/// Rows of equally many numbers, three or more, or two that are no whole numbers: an adjacency matrix or coordinates.
pub(crate) fn is_matrix(text: &str) -> bool {
    numbers(text).is_some_and(|lines| match lines.first() {
        Some(&(first, _)) if lines.len() > 1 => {
            lines.iter().all(|&(count, _)| count == first)
                && (first > 3 || first == 2 && lines.iter().any(|&(_, is_broken)| is_broken))
        }
        _ => false,
    })
}

/// True if the first line is a key of YAML alone, or a key with a word.
pub(crate) fn is_yaml(text: &str) -> bool {
    let head = head(text);
    let first = head.lines().next().unwrap_or("").trim_end();
    let head = head.strip_prefix("---").map_or(head, str::trim_start);
    first == "---" && head.contains(':')
        || first.split_once(':').is_some_and(|(key, rest)| {
            !key.is_empty()
                && key.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
                && (rest.is_empty() || rest.starts_with(' '))
        })
}
