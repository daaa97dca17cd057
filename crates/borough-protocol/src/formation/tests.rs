//! Tests of formation.
