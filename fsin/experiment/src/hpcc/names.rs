//! The names of configurations of HPCC's simulator and its relatives, and what this project does with each.

use Takes::{Control, Idle, Means, Only};

/// What is done with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Takes {
    /// It is translated.
    Means,
    /// It is translated where one of these values of CC_MODE is set, and has no effect with others.
    Control(&'static [&'static str]),
    /// Its published value is what this project does; other values are refused with this remedy.
    Only(&'static str),
    /// It changes nothing that is simulated, for this reason.
    Idle(&'static str),
}

/// Whose names they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Of {
    /// HPCC's, and those that all have.
    Hpcc,
    /// Of ns3-rdma alone.
    Rdma,
    /// Of SimAI alone.
    SimAi,
}

/// A name, its value in the published configuration, what is done with it, and whose it is. The value completes a
/// configuration that lacks a name of [`Takes::Means`].
pub(super) type Name = (&'static str, &'static str, Takes, Of);

const PRINTS: &str = "it concerns what the simulator writes";
const DCQCN: &[&str] = &["1"];
const HPCC: &[&str] = &["3"];
const BOTH: &[&str] = &["1", "3"];

use Of::{Hpcc, Rdma, SimAi};

/// All names.
#[rustfmt::skip]
pub(super) const NAMES: &[Name] = &[
    ("ENABLE_QCN", "1", Means, Hpcc),
    ("USE_DYNAMIC_PFC_THRESHOLD", "1", Only("write 1: a threshold is a share of what is free in the buffer"), Hpcc),
    ("PACKET_PAYLOAD_SIZE", "1000", Means, Hpcc),
    ("TOPOLOGY_FILE", "", Means, Hpcc),
    ("FLOW_FILE", "", Means, Hpcc),
    ("TRACE_FILE", "", Idle(PRINTS), Hpcc),
    ("TRACE_OUTPUT_FILE", "", Idle(PRINTS), Hpcc),
    ("FCT_OUTPUT_FILE", "", Idle("times of flows are in the result, and a row for each in the log of messages"), Hpcc),
    ("PFC_OUTPUT_FILE", "", Idle("pauses of ports are in the result where ports are counted (port-stats)"), Hpcc),
    ("SIMULATOR_STOP_TIME", "", Means, Hpcc),
    ("CC_MODE", "1", Means, Hpcc),
    ("ALPHA_RESUME_INTERVAL", "1", Control(DCQCN), Hpcc),
    ("RATE_DECREASE_INTERVAL", "4", Control(DCQCN), Hpcc),
    ("CLAMP_TARGET_RATE", "0", Control(DCQCN), Hpcc),
    ("RP_TIMER", "300", Control(DCQCN), Hpcc),
    ("EWMA_GAIN", "0.00390625", Control(DCQCN), Hpcc),
    ("FAST_RECOVERY_TIMES", "1", Control(DCQCN), Hpcc),
    ("RATE_AI", "50Mb/s", Control(BOTH), Hpcc),
    ("RATE_HAI", "50Mb/s", Control(DCQCN), Hpcc),
    ("MIN_RATE", "100Mb/s", Control(BOTH), Hpcc),
    ("DCTCP_RATE_AI", "1000Mb/s", Idle("it is of CC_MODE = 8"), Hpcc),
    ("ERROR_RATE_PER_LINK", "0", Means, Hpcc),
    ("L2_CHUNK_SIZE", "4000", Idle("it matters only where a sender goes back to the beginning of a chunk"), Hpcc),
    ("L2_ACK_INTERVAL", "1", Means, Hpcc),
    ("L2_BACK_TO_ZERO", "0", Only("write 0: a sender goes back to the gap"), Hpcc),
    ("HAS_WIN", "1", Means, Hpcc),
    ("GLOBAL_T", "1", Means, Hpcc),
    ("VAR_WIN", "1", Means, Hpcc),
    ("FAST_REACT", "1", Control(HPCC), Hpcc),
    ("U_TARGET", "0.95", Control(HPCC), Hpcc),
    ("MI_THRESH", "0", Control(HPCC), Hpcc),
    ("INT_MULTI", "1", Control(HPCC), Hpcc),
    ("MULTI_RATE", "0", Control(HPCC), Hpcc),
    ("SAMPLE_FEEDBACK", "0", Control(HPCC), Hpcc),
    ("PINT_LOG_BASE", "1.05", Idle("it is of CC_MODE = 10"), Hpcc),
    ("PINT_PROB", "1.0", Idle("it is of CC_MODE = 10"), Hpcc),
    ("RATE_BOUND", "1", Only("write 1: frames are paced by the rate of their connection"), Hpcc),
    ("ACK_HIGH_PRIO", "0", Means, Hpcc),
    ("LINK_DOWN", "0 0 0", Only("write 0 0 0, and name the link and its time as a failure (fail)"), Hpcc),
    ("ENABLE_TRACE", "0", Idle(PRINTS), Hpcc),
    ("KMAX_MAP", "", Means, Hpcc),
    ("KMIN_MAP", "", Means, Hpcc),
    ("PMAX_MAP", "", Means, Hpcc),
    ("BUFFER_SIZE", "32", Means, Hpcc),
    ("QLEN_MON_FILE", "", Idle(PRINTS), Hpcc),
    ("QLEN_MON_START", "", Idle(PRINTS), Hpcc),
    ("QLEN_MON_END", "", Idle(PRINTS), Hpcc),
    // SimAI.
    ("BW_MON_FILE", "", Idle(PRINTS), SimAi),
    ("RATE_MON_FILE", "", Idle(PRINTS), SimAi),
    ("CNP_MON_FILE", "", Idle(PRINTS), SimAi),
    ("MON_START", "", Idle(PRINTS), SimAi),
    ("MON_END", "", Idle(PRINTS), SimAi),
    ("QP_MON_INTERVAL", "", Idle(PRINTS), SimAi),
    ("QLEN_MON_INTERVAL", "", Idle(PRINTS), SimAi),
    ("BW_MON_INTERVAL", "", Idle(PRINTS), SimAi),
    // ns3-rdma.
    ("KMAX", "200", Means, Rdma),
    ("KMIN", "5", Means, Rdma),
    ("PMAX", "0.01", Means, Rdma),
    ("CNP_INTERVAL", "50", Means, Rdma),
    ("NP_SAMPLING_INTERVAL", "0", Only("write 0: marks are returned as CNP_INTERVAL says"), Rdma),
    ("CLAMP_TARGET_RATE_AFTER_TIMER", "0", Only("write 0: increases by time leave the target as it is"), Rdma),
    ("BYTE_COUNTER", "10000000", Control(DCQCN), Rdma),
    ("DCTCP_GAIN", "0.00390625", Control(DCQCN), Rdma),
    ("PACKET_LEVEL_ECMP", "0", Only("write 0: the path of a flow is chosen once"), Rdma),
    ("FLOW_LEVEL_ECMP", "1", Means, Rdma),
    ("PAUSE_TIME", "5", Idle("a pause lasts until it is taken back; pause-quanta makes it expire"), Rdma),
    ("SEND_IN_CHUNKS", "0", Only("write 0: a flow is one message"), Rdma),
    ("L2_WAIT_FOR_ACK", "0", Only("write 0: a sender does not wait for acknowledgements of chunks"), Rdma),
    ("L2_TEST_READ", "0", Only("write 0: flows go from their source to their destination"), Rdma),
    ("TCP_FLOW_FILE", "", Means, Rdma),
    ("APP_START_TIME", "", Idle("flows start as their list says"), Rdma),
    ("APP_STOP_TIME", "", Idle("flows end with their last byte"), Rdma),
];

/// The row of a name.
pub(super) fn row(name: &str) -> Option<&'static Name> {
    NAMES.iter().find(|(known, ..)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_twice() {
        let mut names: Vec<&str> = NAMES.iter().map(|(name, ..)| *name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
