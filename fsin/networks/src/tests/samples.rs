//! A small sample of every format that is read, for tests here and for `tests/hostile`.

#![allow(unreachable_pub, reason = "tests/hostile takes this file as well")]

/// Two hosts at two switches, by the words of this project.
pub const OWN: &str = "H0 west rate 10Gb/s\nH1 east rate 10Gb/s\nwest east rate 40Gb/s delay 4us\n";

/// As networkx 3.6 writes it.
pub const GML: &str = "graph [\n  node [\n    id 0\n    label \"H0\" kind \"host\"\n  ]\n  node [\n    id 1\n    label \"west\"\n    pos \"1,2\"\n  ]\n  \
node [\n    id 2\n    label \"H1\" kind \"host\"\n  ]\n  node [\n    id 3\n    label \"east\"\n  ]\n  edge [\n    source 0\n    target 1\n    capacity \
\"10Gb/s\"\n  ]\n  edge [\n    source 2\n    target 3\n    capacity \"10Gb/s\"\n  ]\n  edge [\n    source 1\n    target 3\n    capacity \
\"40Gb/s\"\n    delay \"4us\"\n  ]\n]\n";
/// The same in GraphML.
pub const GRAPHML: &str = "<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n  \
<key id=\"d3\" for=\"node\" attr.name=\"type\" /><key id=\"d2\" for=\"edge\" attr.name=\"delay\" attr.type=\"string\" />\n  \
<key id=\"d1\" for=\"edge\" attr.name=\"capacity\" attr.type=\"string\" />\n  \
<graph edgedefault=\"undirected\">\n    <node id=\"H0\"><data key=\"d3\">host</data></node>\n    <node id=\"west\" />\n    <node id=\"H1\"><data key=\"d3\">host</data></node>\n    <node id=\"east\" />\n    \
<edge source=\"H0\" target=\"west\">\n      <data key=\"d1\">10Gb/s</data>\n    </edge>\n    \
<edge source=\"H1\" target=\"east\">\n      <data key=\"d1\">10Gb/s</data>\n    </edge>\n    \
<edge source=\"west\" target=\"east\">\n      <data key=\"d1\">40Gb/s</data>\n      <data key=\"d2\">4us</data>\n    </edge>\n  \
</graph>\n</graphml>\n";
/// The same as node-link JSON.
pub const JSON: &str = "{\"directed\": false, \"multigraph\": false, \"graph\": {}, \"nodes\": [{\"id\": \"H0\", \"kind\": \"host\"}, {\"id\": \"west\"}, \
{\"id\": \"H1\", \"kind\": \"host\"}, {\"id\": \"east\"}],\n\"edges\": [{\"capacity\": \"10Gb/s\", \"source\": \"H0\", \"target\": \"west\"},\n\
{\"capacity\": \"10Gb/s\", \"source\": \"H1\", \"target\": \"east\"},\n\
{\"capacity\": \"40Gb/s\", \"delay\": \"4us\", \"source\": \"west\", \"target\": \"east\"}]}";
/// The same as networkx's list of edges.
pub const EDGES: &str = "H0 west {'capacity': '10Gb/s'}\nH1 east {'capacity': '10Gb/s'}\nwest east {'capacity': '40Gb/s', 'delay': '4us'}\n";
/// The same as CSV.
pub const CSV: &str = "source,target,rate,delay\nH0,west,10Gb/s,\nH1,east,10Gb/s,\nwest,east,40Gb/s,4us\n";
/// Hosts 0 and 1 at switches 2 and 3.
pub const NS3: &str = "4 2 3\n2 3\n0 2 10Gbps 0 0\n1 3 10Gbps 0 0\n2 3 40Gbps 0.004ms 0\n";
/// BookSim's anynet.
pub const ANYNET: &str = "router 0 node 0 router 1 3 router 2\nrouter 1 node 1 router 2 2\nrouter 2 node 2 node 3\n";
/// A fat tree of three tiers.
pub const HTSIM: &str = "Nodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\nDownlink_Latency_ns 1000\n\
Tier 1\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\nDownlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 4\n\
Downlink_Latency_ns 2000\n";

/// A platform with routes, a torus of a cluster, and a zone.
pub const SIMGRID: &str = "<platform version=\"4.1\"><zone id=\"w\" routing=\"Full\"><host id=\"H0\"/><host id=\"H1\"/>\n<router id=\"west\"/>\
<router id=\"east\"/>\n<link id=\"a\" bandwidth=\"10Gbps\" latency=\"0\" sharing_policy=\"SPLITDUPLEX\"/>\n<link id=\"b\" bandwidth=\"1.25GBps\" \
sharing_policy=\"SPLITDUPLEX\"/>\n<link id=\"c\" bandwidth=\"5E9\" latency=\"4us\" sharing_policy=\"SPLITDUPLEX\"/>\n\
<route src=\"H0\" dst=\"west\"><link_ctn id=\"a\" direction=\"UP\"/></route>\n\
<route src=\"H0\" dst=\"H1\"><link_ctn id=\"a\" direction=\"UP\"/><link_ctn id=\"c\" direction=\"UP\"/><link_ctn id=\"b\" direction=\"DOWN\"/></route>\n\
<route src=\"H1\" dst=\"east\"><link_ctn id=\"b\" direction=\"UP\"/></route></zone>\n\
<cluster id=\"t\" prefix=\"n\" suffix=\"\" radical=\"0-3\" bw=\"1Gbps\" lat=\"1us\" topology=\"TORUS\" topo_parameters=\"2,2\"/>\n\
<zone id=\"z\" routing=\"Floyd\"><link id=\"l\" bandwidth=\"1Gbps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>\n\
<route src=\"n0\" dst=\"west\"><link_ctn id=\"l\" direction=\"UP\"/></route></zone></platform>\n";

/// A platform of clusters of every shape: their ranges and parameters are many hosts, switches and links in few
/// letters.
pub const CLUSTERS: &str = "<platform version=\"4.1\"><zone id=\"w\" routing=\"Floyd\">\n<cluster id=\"f\" prefix=\"f\" suffix=\"\" radical=\"0-3\" \
bw=\"1Gbps\" lat=\"1us\" topology=\"FAT_TREE\" topo_parameters=\"2;2,2;1,2;1,1\"/>\n<cluster id=\"d\" prefix=\"d\" suffix=\"\" radical=\"0-3\" \
bw=\"1Gbps\" lat=\"1us\" topology=\"DRAGONFLY\" topo_parameters=\"2,1;1,1;2,1;1\"/>\n<cluster id=\"c\" prefix=\"c\" suffix=\"\" radical=\"0,2-3\" \
bw=\"1Gbps\" lat=\"1us\" router_id=\"r\"/>\n<link id=\"l\" bandwidth=\"1Gbps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/><link id=\"m\" \
bandwidth=\"1Gbps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>\n<zoneRoute src=\"f\" dst=\"c\" gw_src=\"f0\" gw_dst=\"r\"><link_ctn id=\"l\" \
direction=\"UP\"/></zoneRoute>\n<zoneRoute src=\"d\" dst=\"c\" gw_src=\"d0\" gw_dst=\"r\"><link_ctn id=\"m\" direction=\"UP\"/></zoneRoute>\n\
</zone></platform>\n";

/// Hosts with several links, and words of every kind.
pub const DOT: &str = "strict digraph \"two leaves\" { // a comment\n  node [endpoints=2]; edge [rate=\"10Gb/s\", dir=both];\n  H0 -> {a; b}; \
H1 -> a:p:n; H1 -> b [count=2];\n  subgraph cluster_1 { a; b; x [kind=nic, endpoints=1]; }\n  a -> b [dir=forward, delay=\"4us\", \
queue=7, routes=\"H0\"]; b -> a [dir=forward, delay=5, routes=\"*\"];\n  a -> x [dead=true, color=red, label=<b>]; x -> b;\n}\n";

/// A map of SNDlib with demands.
pub const SNDLIB: &str = "?SNDlib native format; type: network; version: 1.0\n# network x\nMETA (\n  unit = GBITPERSEC\n)\nNODES (\n  Hagen ( 7.4 51.3 )\n  \
Ulm ( 9.9 48.3 )\n  Jena ( 11.5 50.9 )\n)\nLINKS (\n  a ( Hagen Ulm ) 10.00 0.00 0.00 0.00 ( 40.00 5.00 )\n  b ( Ulm Jena ) 0.00 0.00 0.00 0.00 ( 20.00 \
1.00 40.00 2.00 )\n)\nDEMANDS (\n  d ( Hagen Jena ) 1 2.50 UNLIMITED\n  e ( Jena Ulm ) 1 1.00 UNLIMITED\n)\nADMISSIBLE_PATHS (\n  d (\n    P_0 ( a b )\n  \
)\n)\n";
/// The same as XML.
pub const SNDLIB_XML: &str = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<network xmlns=\"http://sndlib.zib.de/network\" version=\"1.0\">\n\
<meta><unit>GBITPERSEC</unit></meta>\n<networkStructure><nodes coordinatesType=\"pixel\"><node id=\"Hagen\"/><node id=\"Ulm\"/><node id=\"Jena\"/></nodes>\n\
<links><link id=\"a\"><source>Hagen</source><target>Ulm</target><preInstalledModule><capacity>10.0</capacity><cost>0</cost></preInstalledModule>\
<additionalModules><addModule><capacity>40.0</capacity></addModule></additionalModules></link>\n<link id=\"b\"><source>Ulm</source><target>Jena</target>\
<additionalModules><addModule><capacity>20.0</capacity></addModule><addModule><capacity>40.0</capacity></addModule></additionalModules></link></links>\
</networkStructure>\n<demands><demand id=\"d\"><source>Hagen</source><target>Jena</target><demandValue>2.5</demandValue></demand>\
<demand id=\"e\"><source>Jena</source><target>Ulm</target><demandValue>1.0</demandValue></demand></demands></network>\n";
/// A map of TopoHub with demands.
pub const TOPOHUB: &str = "{\"directed\": false, \"graph\": {\"name\": \"x\", \"demands\": {\"5\": {\"7\": 2.5}, \"7\": {\"6\": 1.0}}, \"stats\": \
{\"avg_degree\": 1.3}},\n\"nodes\": [{\"id\": 5, \"name\": \"Hagen\", \"pos\": [1, 2]}, {\"id\": 6, \"name\": \"Ulm\"}, {\"id\": 7, \"name\": \
\"Jena\", \"type\": \"City\"}],\n\"edges\": [{\"source\": 5, \"target\": 6, \"dist\": 3.5, \"ecmp_fwd\": {\"uni\": 1}}, {\"source\": 6, \"target\": 7}]}";
/// A map of BRITE.
pub const BRITE: &str = "Topology: ( 3 Nodes, 2 Edges )\nModel ( 2 ): 3 1000 100 1\n\nNodes: (3)\n0 1.0 2.0 1 1 -1 RT_NODE\n1 3.0 4.0 2 2 -1 RT_NODE\n2 5.0 6.0 1 1 -1 \
RT_NODE\n\nEdges: (2):\n0 0 1 568.70 1.90 104.16 -1 -1 E_RT U\n1 1 2 10.00 0.5 -1 -1 -1 E_RT U\n";
/// A cable that stands at both ends, one at the switch alone, a host with two ports.
pub const INFINIBAND: &str = "vendid=0x2c9\nswitchguid=0x1(1)\nSwitch\t8 \"S-1\"\t\t# \"leaf\" base port 0\n[1]\t\"H-1\"[1](2) \t\t# \"a\" lid 2 4xNDR\n[3]\t\
\"H-2\"[1]\t\t# \"b\" lid 3 4xHDR\n[4]\t\"H-1\"[2]\t# 4xNDR\n[5]\t\"H-9\"[1]\n\nCa\t2 \"H-1\"\t\t# \"a\"\n[1](2) \t\"S-1\"[1]\t\t# lid 2 4xNDR\n\nCa\t1 \
\"H-2\"\n\nCa\t1 \"H-9\"\t# \"Mellanox Technologies Aggregation Node\"\n[1] \"S-1\"[5]\n";
/// A tree of switches.
pub const SLURM: &str =
    "# a tree\nSwitchName=top Switches=s[0-1]\nSwitchName=s0 Nodes=n[08-10],x LinkSpeed=100\nSwitchName=s1 Nodes=m1\n";

/// All samples.
pub const ALL: [&str; 18] = [
    GML, GRAPHML, JSON, EDGES, CSV, NS3, ANYNET, HTSIM, SIMGRID, OWN, DOT, SNDLIB, SNDLIB_XML, TOPOHUB, BRITE,
    INFINIBAND, SLURM, CLUSTERS,
];
