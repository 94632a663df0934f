//! Tests of configurations.

use super::*;
use crate::meaning::together;

/// Two hosts at a switch, with links of two rates.
const LINKS: &str = "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 25Gbps 1us 0\n";

fn find(file: &str) -> Option<Found> {
    let text = match file {
        "mix/topology.txt" => LINKS,
        "mix/flow.txt" => "1\n0 1 3 100 1000 2\n",
        "mix/tcp_flow.txt" => "2\n",
        "mix/tcp_flow_0.txt" => "0\n",
        _ => return None,
    };
    Some(Found { path: format!("/at/{file}"), text: text.to_owned() })
}

fn meant(text: &str) -> (BTreeMap<&'static str, String>, String) {
    let meaning = meaning(text, &find).unwrap_or_else(|refusals| panic!("{text}: {}", together(refusals).error));
    (meaning.settings.into_iter().map(|(key, value, _)| (key, value)).collect(), meaning.notes.join("\n"))
}

const FILES: &str = "TOPOLOGY_FILE mix/topology.txt\nFLOW_FILE mix/flow.txt\n\
                     KMAX_MAP 2 25000000000 400 100000000000 1600\nKMIN_MAP 2 25000000000 100 100000000000 400.5\n\
                     PMAX_MAP 2 25000000000 0.2 100000000000 0.2\n";

#[test]
fn a_configuration_of_hpcc() {
    let text = format!(
        "ENABLE_QCN 1\n\nPACKET_PAYLOAD_SIZE 1000 {{packet size (bytes)}}\n{FILES}CC_MODE 3\nRATE_AI 40Mb/s\nU_TARGET 0.9\n\
         MI_THRESH 5\nINT_MULTI 4\nFAST_REACT 0\nRP_TIMER 300\nSIMULATOR_STOP_TIME 2.5\nTRACE_FILE mix/trace.txt\nBUFFER_SIZE 16\n\
         ACK_HIGH_PRIO 1\nL2_ACK_INTERVAL 2\nERROR_RATE_PER_LINK 0.0000\n"
    );
    assert!(is_config(&text) && !is_config("topology = \"torus:4x4\"\n") && !is_config("# a\nload = 0.3\n"));
    assert!(!is_config("") && !is_config("3 1 2\n") && !is_config("CLEAR all\n") && !is_config("CC_MODE = 3\n"));
    let (found, notes) = meant(&text);
    for (key, value) in [
        ("network", "ethernet"),
        ("topology", "graph:/at/mix/topology.txt"),
        ("flows", "/at/mix/flow.txt"),
        ("forwarding", "static"),
        ("spread", "ecmp"),
        ("frames", "hpcc"),
        ("mtu", "1000"),
        ("transport", "roce"),
        ("cc", "hpcc:eta=0.9,max-stage=5,fast-react=false,ai=40Mb/s,min-rate=100Mb/s,int-multi=4"),
        ("ecn", "red:100kB:400kB:0.2@25Gb/s;red:400500:1600kB:0.2@100Gb/s"),
        ("buffer", "16MiB"),
        ("pause", "pfc"),
        ("ack-every", "2"),
        ("ack-class", "control"),
        ("completion", "acked"),
        ("ideal", "hpcc"),
        ("max-cycles", "2500000000000"),
    ] {
        assert_eq!(found.get(key).map(String::as_str), Some(value), "{key}");
    }
    for note in ["TRACE_FILE: it concerns", "RP_TIMER: CC_MODE 3", "MIN_RATE 100Mb/s", "ACK_HIGH_PRIO 1:", "HAS_WIN 1"]
    {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    assert!(!found.contains_key("per") && !found.contains_key("in-flight"));
}

#[test]
fn congestion_controls_and_windows() {
    for (text, key, expected) in [
        (
            "CC_MODE 1\nRP_TIMER 900\nRATE_HAI 100Mb/s\nCLAMP_TARGET_RATE 1",
            "cc",
            "dcqcn:preset=hpcc,g=0.00390625,alpha-interval=1us,decrease-interval=4us,increase-interval=900us,fast-recovery=1,\
             ai=50Mb/s,hai=100Mb/s,min-rate=100Mb/s,clamp=true",
        ),
        ("CC_MODE 1\nHAS_WIN 1\nVAR_WIN 1", "in-flight", "bdp-scaled"),
        ("CC_MODE 1\nHAS_WIN 1\nVAR_WIN 0", "in-flight", "bdp"),
        ("CC_MODE 1\nHAS_WIN 0\nGLOBAL_T 0", "in-flight", "-"),
        ("ENABLE_QCN 0\nCC_MODE 1", "cc", "none"),
        ("ENABLE_QCN 0\nCC_MODE 1", "ecn", "-"),
        ("ERROR_RATE_PER_LINK 0.001", "per", "0.001"),
        ("SIMULATOR_STOP_TIME 40000000000000.00", "max-cycles", "-"),
        ("SIMULATOR_STOP_TIME 2000000", "max-cycles", "-"),
        ("SIMULATOR_STOP_TIME 1000000", "max-cycles", "1000000000000000000"),
        // ns3-rdma: what it leaves out is the paper's.
        ("CNP_INTERVAL 50\nBYTE_COUNTER 300000000\nRP_TIMER 1500", "cnp-interval", "50us"),
        (
            "DCTCP_GAIN 0.0625\nBYTE_COUNTER 300000000\nRP_TIMER 1500",
            "cc",
            "dcqcn:preset=sigcomm2015,g=0.0625,increase-interval=1500us,byte-counter=300000000",
        ),
        ("FLOW_LEVEL_ECMP 0\nTCP_FLOW_FILE mix/tcp_flow_0.txt", "spread", "one"),
        ("PAUSE_TIME 5\nL2_ACK_INTERVAL 256", "ack-every", "-"),
    ] {
        let (found, _) = meant(&format!("{FILES}{text}\n"));
        assert_eq!(found.get(key).map_or("-", String::as_str), expected, "{key} of {text}");
    }
    let (found, _) = meant("KMAX 200\nKMIN 5\nPMAX 0.01\nTOPOLOGY_FILE mix/topology.txt\nFLOW_FILE mix/flow.txt\n");
    assert_eq!(found["ecn"], "red:5kB:200kB:0.01");
    // SimAI names neither links nor flows.
    let (found, notes) = meant("ENABLE_QCN 0\nBW_MON_FILE bw.txt\nMON_START 0\n");
    assert!(!found.contains_key("flows") && notes.contains("TOPOLOGY_FILE") && notes.contains("FLOW_FILE"), "{notes}");
}

/// Every fault of a file is named at once, with its remedy.
#[test]
fn all_refusals_at_once() {
    let wrong = [
        ("CC_MODE 7", "TIMELY"),
        ("CC_MODE 10", "HPCC-PINT"),
        ("CC_MODE 3\nHAS_WIN 0", "HAS_WIN 0"),
        ("CC_MODE 3\nMULTI_RATE 1", "MULTI_RATE 1"),
        ("HAS_WIN 1\nGLOBAL_T 0", "GLOBAL_T 0"),
        ("L2_BACK_TO_ZERO 1", "L2_BACK_TO_ZERO 1"),
        ("LINK_DOWN 100 1 2", "LINK_DOWN 100 1 2"),
        ("RATE_BOUND 0", "RATE_BOUND 0"),
        ("USE_DYNAMIC_PFC_THRESHOLD 0", "USE_DYNAMIC_PFC_THRESHOLD 0"),
        ("PACKET_LEVEL_ECMP 1", "PACKET_LEVEL_ECMP 1"),
        ("SEND_IN_CHUNKS 1", "SEND_IN_CHUNKS 1"),
        ("TCP_FLOW_FILE mix/tcp_flow.txt", "flows of TCP"),
        ("RATE_AI 50", "no data rate"),
        ("ALPHA_RESUME_INTERVAL x", "no number"),
        ("BUFFER_SIZE 0", "no whole number"),
        ("PACKET_PAYLOAD_SIZE 12.5", "no whole number"),
        ("ENABLE_QCN yes", "neither 0 nor 1"),
        ("KMAX_MAP 2 25000000000 400", "no map of rates"),
        ("KMAX_MAP 1 25000000000 400", "is not in all three maps"),
        ("TOPOLOGY_FILE mix/other.txt", "no such file"),
        ("FLOW_FILE mix/other.txt", "no such file"),
        ("LB_MODE 9", "`LB_MODE` is no name"),
        ("CC_MODES 1", "`CC_MODES` is no name"),
    ];
    for (text, what) in wrong {
        let refusals = meaning(&format!("{FILES}{text}\n"), &find).expect_err(text);
        let said: Vec<String> = refusals.iter().map(|refusal| refusal.error.to_string()).collect();
        assert!(said.iter().any(|said| said.contains(what)), "{text}: {said:?}");
        assert!(refusals.iter().all(|refusal| !refusal.error.remedy().to_string().is_empty()), "{text}");
    }
    let both = format!("{FILES}CC_MODE 7\nRATE_BOUND 0\nLB_MODE 9\nBUFFER_SIZE x\n");
    let refusals = meaning(&both, &find).expect_err("wrong");
    let places: Vec<&str> = refusals.iter().map(|refusal| &both[refusal.span.clone()]).collect();
    assert_eq!(places, ["CC_MODE 7", "RATE_BOUND 0", "LB_MODE 9", "BUFFER_SIZE x"]);
    // A link without thresholds.
    let without = "TOPOLOGY_FILE mix/topology.txt\nFLOW_FILE mix/flow.txt\nKMAX_MAP 1 25000000000 400\nKMIN_MAP 1 25000000000 100\n\
                   PMAX_MAP 1 25000000000 0.2\n";
    let refusals = meaning(without, &find).expect_err("100 Gb/s");
    assert!(refusals[0].error.to_string().contains("links of 100Gb/s"), "{}", refusals[0].error);
}

#[test]
fn no_text_panics() {
    for text in [
        "CC_MODE",
        "CC_MODE\n",
        "KMAX_MAP 18446744073709551615 1 1",
        "\u{feff}CC_MODE 1\r\nLINK_DOWN\r\n",
        "ENABLE_QCN \u{0}",
    ] {
        assert!(is_config(text), "{text}");
        let _ = meaning(text, &find);
    }
}
