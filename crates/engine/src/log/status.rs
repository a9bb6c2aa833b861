//! The status slots: what other processes, and the next opening, can know without reading the log.
//!
//! Two slots are written in turn, so that a torn one leaves the other; the valid one with the larger sequence number
//! counts. A slot may be older than the log, never newer: what it calls synced is synced.

use std::io;

use super::LogPoint;
use super::header::array;
use crate::storage::File;
use crate::types::Height;

const SLOT_OFFSETS: [u64; 2] = [512, 1024];
const SLOT_BYTES: usize = 65;

/// A process that writes, or wrote, to a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Writer {
    /// The machine's run since it was started: other after each start.
    pub boot_id: [u8; 16],
    /// The process id.
    pub pid: u32,
    /// When the process was started, in microseconds since 1970.
    pub started: u64,
}

/// What a status slot says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// Counts the slots that were written.
    pub sequence: u64,
    /// The height up to which commits are on the device.
    pub synced_height: Height,
    /// The end of the last frame that is on the device.
    pub synced_offset: u64,
    /// The chain value after that frame.
    pub synced_chain: u64,
    /// Who wrote the slot.
    pub writer: Writer,
    /// Whether the writer closed the log.
    pub closed: bool,
}

impl Status {
    pub(super) fn new(sequence: u64, synced: LogPoint, writer: Writer, closed: bool) -> Status {
        Status {
            sequence,
            synced_height: synced.height,
            synced_offset: synced.offset,
            synced_chain: synced.chain,
            writer,
            closed,
        }
    }

    fn encode(&self, log_id: [u8; 16]) -> [u8; SLOT_BYTES] {
        let mut out = [0; SLOT_BYTES];
        out[..8].copy_from_slice(&self.sequence.to_le_bytes());
        out[8..16].copy_from_slice(&self.synced_height.0.to_le_bytes());
        out[16..24].copy_from_slice(&self.synced_offset.to_le_bytes());
        out[24..32].copy_from_slice(&self.synced_chain.to_le_bytes());
        out[32..48].copy_from_slice(&self.writer.boot_id);
        out[48..52].copy_from_slice(&self.writer.pid.to_le_bytes());
        out[52..60].copy_from_slice(&self.writer.started.to_le_bytes());
        out[60] = u8::from(self.closed);
        let crc = crc32c::crc32c_append(crc32c::crc32c(&log_id), &out[..61]);
        out[61..].copy_from_slice(&crc.to_le_bytes());
        out
    }

    fn decode(bytes: &[u8], log_id: [u8; 16]) -> Option<Status> {
        let bytes = bytes.get(..SLOT_BYTES)?;
        let crc = crc32c::crc32c_append(crc32c::crc32c(&log_id), &bytes[..61]);
        if crc != u32::from_le_bytes(array(bytes, 61)) {
            return None;
        }
        Some(Status {
            sequence: u64::from_le_bytes(array(bytes, 0)),
            synced_height: Height(u64::from_le_bytes(array(bytes, 8))),
            synced_offset: u64::from_le_bytes(array(bytes, 16)),
            synced_chain: u64::from_le_bytes(array(bytes, 24)),
            writer: Writer {
                boot_id: array(bytes, 32),
                pid: u32::from_le_bytes(array(bytes, 48)),
                started: u64::from_le_bytes(array(bytes, 52)),
            },
            closed: bytes[60] == 1,
        })
    }

    /// Writes the slot whose turn it is.
    pub(super) fn write(&self, file: &dyn File, log_id: [u8; 16]) -> io::Result<()> {
        let offset = SLOT_OFFSETS[(self.sequence & 1) as usize];
        file.write_at(&self.encode(log_id), offset)
    }

    /// The newest valid slot of a log.
    pub(super) fn read(file: &dyn File, log_id: [u8; 16]) -> io::Result<Option<Status>> {
        let mut newest: Option<Status> = None;
        for offset in SLOT_OFFSETS {
            let mut bytes = [0; SLOT_BYTES];
            let filled = file.read_at(&mut bytes, offset)?;
            if let Some(status) = Status::decode(&bytes[..filled], log_id)
                && newest.is_none_or(|n| n.sequence < status.sequence)
            {
                newest = Some(status);
            }
        }
        Ok(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_comes_back_and_every_flipped_bit_is_noticed() {
        let status = Status {
            sequence: 9,
            synced_height: Height(5),
            synced_offset: 5000,
            synced_chain: 77,
            writer: Writer { boot_id: [3; 16], pid: 42, started: 99 },
            closed: true,
        };
        let bytes = status.encode([1; 16]);
        assert_eq!(Status::decode(&bytes, [1; 16]), Some(status));
        assert_eq!(Status::decode(&bytes, [2; 16]), None);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Status::decode(&flipped, [1; 16]), None, "bit {bit}");
        }
    }
}
