//! A flamegraph of the process, taken by the process: a timer signal, a stack a sample, no root and no other program.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use pprof::{ProfilerGuard, ProfilerGuardBuilder};

/// A profile under way.
pub struct Profile(ProfilerGuard<'static>);

impl Profile {
    /// Samples a second of CPU time: a prime, so as not to beat with anything periodic.
    const FREQUENCY: i32 = 997;

    /// Starts to sample.
    ///
    /// # Errors
    /// When the timer can't be set.
    pub fn start() -> Result<Profile> {
        let guard = ProfilerGuardBuilder::default()
            .frequency(Self::FREQUENCY)
            // A sample taken within these can't be unwound safely.
            .blocklist(&["libc", "libgcc", "pthread", "vdso"])
            .build()
            .context("the profiler can't start")?;
        Ok(Profile(guard))
    }

    /// Ends sampling and writes the flamegraph.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn write(self, path: &Path) -> Result<()> {
        let report = self.0.report().build().context("the profile is unusable")?;
        let file = File::create(path).with_context(|| path.display().to_string())?;
        report.flamegraph(file).with_context(|| path.display().to_string())
    }
}
