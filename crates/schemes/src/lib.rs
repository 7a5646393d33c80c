//! Congestion-management schemes, one file each.
