//! Prefetching: asking the processor for cache lines before they are needed, so that the waits overlap.

const CACHE_LINE: usize = 64;

/// Asks for the cache line at the beginning of `value`.
#[inline]
#[cfg_attr(target_arch = "x86_64", allow(unsafe_code))]
pub(crate) fn line<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint that has no effect on memory; SSE is part of x86_64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Asks for all of `bytes`, up to a few cache lines.
#[inline]
pub(crate) fn all(bytes: &[u8]) {
    for part in bytes.chunks(CACHE_LINE).take(8) {
        line(part);
    }
}
