//! The contract between a congestion-management scheme and the network.
