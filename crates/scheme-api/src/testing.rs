//! Test rigs: drive one scheme alone.
