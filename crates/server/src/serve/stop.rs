//! Stopping: everybody can ask whether the server is being stopped, and wait for it.

use tokio::sync::watch;

/// Whether the server is being stopped.
#[derive(Clone)]
pub(crate) struct Stop {
    sender: watch::Sender<bool>,
}

impl Stop {
    pub(crate) fn new() -> Stop {
        Stop { sender: watch::Sender::new(false) }
    }

    /// From now on, it is.
    pub(crate) fn begin(&self) {
        self.sender.send_replace(true);
    }

    /// Whether it is.
    pub(crate) fn begun(&self) -> bool {
        *self.sender.borrow()
    }

    /// Returns when it is.
    pub(crate) async fn wait(&self) {
        // The sender lives as long as `self`, so that there is no error.
        let _ = self.sender.subscribe().wait_for(|begun| *begun).await;
    }
}
