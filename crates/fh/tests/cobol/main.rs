//! Real COBOL programs, compiled by the real compilers, on ImmuxDB. The programs are in `tests/cobol`; what each prints
//! stands beside it.

mod support;
mod transcripts;
