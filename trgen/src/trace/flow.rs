//! What a program sends from one node to another.

use crate::NodeId;

/// The messages from one node to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
    /// \[bytes\] Data of all messages.
    pub bytes: u64,
    /// \[messages\] Number of messages.
    pub messages: u64,
}
