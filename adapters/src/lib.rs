//! Will hold the live side: the wire protocol, the TCP endpoint for guests, the guest library, and the source of traffic
//! that couples running programs to a simulated network. Nothing is here yet.
