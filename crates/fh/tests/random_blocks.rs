//! Calls of the handler with blocks made of random bytes: each gives a status, none a crash or a file out of place.
//!
//! Only pointers are true, since C has no way to check one: they lead to blocks of random bytes, as long as what they say.

#![allow(clippy::unwrap_used, reason = "tests")]
#![expect(unsafe_code, reason = "the handler is called as C calls it")]

use std::ffi::CString;
use std::process::Command;

use immuxfh::fcd::{FCD_LEN, MAX_RECORD};
use immuxfh::immuxfh;
use proptest::prelude::*;

const CODES: &[u8] = &[
    0x00, 0x01, 0x02, 0x03, 0x80, 0x81, 0x85, 0xe8, 0xea, 0xeb, 0xec, 0xed, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf9, 0xfe,
    0xff,
];

/// The record area: longer than any length that blocks are given here.
const AREA: usize = 1 << 17;

/// A call: which code, and which bytes of the FCD become which.
#[derive(Clone, Debug)]
struct Call {
    code: [u8; 2],
    changes: Vec<(usize, u8)>,
}

fn call() -> impl Strategy<Value = Call> {
    let code = prop_oneof![
        9 => prop::sample::select(CODES).prop_map(|code| [0xfa, code]),
        1 => any::<[u8; 2]>(),
    ];
    let changes = prop::collection::vec((0..FCD_LEN, any::<u8>()), 0..6);
    (code, changes).prop_map(|(code, changes)| Call { code, changes })
}

/// A key definition block as libcob makes it, for records of at least 20 bytes.
fn good_keys() -> Vec<u8> {
    let mut block = vec![0, 66, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0];
    block.extend([0, 1, 0, 46, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    block.extend([0, 1, 0, 56, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    block.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4]);
    block
}

fn keys() -> impl Strategy<Value = Vec<u8>> {
    let flipped = prop::collection::vec((0..66usize, any::<u8>()), 0..4).prop_map(|changes| {
        let mut block = good_keys();
        changes.into_iter().for_each(|(at, byte)| block[at] = byte);
        block
    });
    prop_oneof![2 => Just(good_keys()), 2 => flipped, 1 => prop::collection::vec(any::<u8>(), 2..300)]
}

/// What a program of libcob would pass for an indexed file of records of 20 to 40 bytes.
fn good_fcd() -> [u8; FCD_LEN] {
    let mut fcd = [0u8; FCD_LEN];
    fcd[5] = 2;
    fcd[6] = 8;
    fcd[7] = 128;
    fcd[91] = 40;
    fcd[95] = 20;
    fcd[99] = 40;
    fcd[67] = 4;
    fcd
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "called by give_a_status_and_no_crash"]
    fn random_calls(calls in prop::collection::vec(call(), 1..30), keys in keys(), record in any::<[u8; 64]>()) {
        let folder = tempfile::tempdir().unwrap();
        let name = CString::new(folder.path().join("randomfile").to_str().unwrap()).unwrap();
        let mut name = name.into_bytes();
        let name_len = u16::try_from(name.len()).unwrap();
        // Its length is also too long at times; behind it are spaces.
        name.resize(usize::from(u16::MAX), b' ');
        let mut block = keys;
        block.resize(usize::from(u16::MAX), 0);
        let mut area = vec![0u8; AREA];
        area[..64].copy_from_slice(&record);
        let mut fcd = good_fcd();
        for call in &calls {
            for (at, byte) in &call.changes {
                fcd[*at] = *byte;
            }
            // A shorter name would be a file elsewhere.
            if u16::from_be_bytes([fcd[54], fcd[55]]) < name_len {
                fcd[54..56].copy_from_slice(&name_len.to_be_bytes());
            }
            let max = u32::from_be_bytes(fcd[96..100].try_into().unwrap());
            if max <= MAX_RECORD && max as usize > AREA {
                fcd[96..98].fill(0);
            }
            fcd[160..168].copy_from_slice(&area.as_mut_ptr().addr().to_ne_bytes());
            fcd[168..176].copy_from_slice(&name.as_ptr().addr().to_ne_bytes());
            fcd[184..192].copy_from_slice(&block.as_mut_ptr().addr().to_ne_bytes());
            // What is not indexed would go to libcob, which is not here.
            fcd[5] = 2;
            let mut code = call.code;
            // SAFETY: the pointers lead to blocks that are as long as any length in the FCD says.
            let result = unsafe { immuxfh(code.as_mut_ptr(), fcd.as_mut_ptr()) };
            prop_assert_eq!(result, 0);
            let status = [fcd[0], fcd[1]];
            prop_assert!(status.iter().all(u8::is_ascii_digit), "{:?}", status);
        }
    }
}

/// The calls are made in a process of their own, since they say much on standard error.
#[test]
fn give_a_status_and_no_crash() {
    let test = std::env::current_exe().unwrap();
    let output = Command::new(test).args(["--ignored", "--exact", "random_calls"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{} {out}\n{err}", output.status);
    assert!(err.contains("immuxfh: ") && !err.contains("an error in ImmuxDB itself"), "{out}\n{err}");
}

#[test]
fn null_pointers_are_refused() {
    let mut fcd = good_fcd();
    // SAFETY: null is looked at only.
    unsafe {
        assert_eq!(immuxfh(std::ptr::null_mut(), fcd.as_mut_ptr()), -1);
        assert_eq!(immuxfh([0xfa, 0].as_mut_ptr(), std::ptr::null_mut()), -1);
        // Neither name, nor keys, nor record area.
        assert_eq!(immuxfh([0xfa, 0].as_mut_ptr(), fcd.as_mut_ptr()), 0);
    }
    assert_eq!(&fcd[..2], b"31");
}
