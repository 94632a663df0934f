//! Types and constants of MPICH's `mpi.h`, which are facts of its ABI.

use std::ffi::{c_int, c_void};

/// Address of a buffer of the program that is only read.
pub(crate) type P = *const c_void;
/// Address of a buffer of the program that is written to.
pub(crate) type M = *mut c_void;
/// Address of a function of the program; null for none.
pub(crate) type F = *const c_void;
/// A handle, or any other integer.
pub(crate) type I = c_int;
/// A pointer to integers.
pub(crate) type Ip = *mut c_int;

/// `MPI_Status`, field by field. The number of received bytes is split over two fields: the low 32 bits in `count_lo`,
/// the others in bits 1 to 31 of the next field, whose bit 0 says whether the operation was cancelled.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Status {
    pub(crate) count_lo: c_int,
    pub(crate) count_hi_and_cancelled: c_int,
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) error: c_int,
}

impl Status {
    /// The status of an operation that communicated nothing.
    pub(crate) const EMPTY: Self =
        Self { count_lo: 0, count_hi_and_cancelled: 0, source: ANY_SOURCE, tag: ANY_TAG, error: SUCCESS };
    /// The status of a receive from `MPI_PROC_NULL`.
    pub(crate) const NOBODY: Self = Self { source: PROC_NULL, ..Self::EMPTY };

    /// Sets the size of the received data \[bytes\].
    pub(crate) fn set_bytes(&mut self, bytes: u64) {
        self.count_lo = bytes as u32 as c_int;
        self.count_hi_and_cancelled = (((bytes >> 32) << 1) as c_int) | (self.count_hi_and_cancelled & 1);
    }

    /// Size of the received data \[bytes\].
    pub(crate) fn bytes(&self) -> u64 {
        (u64::from((self.count_hi_and_cancelled as u32) >> 1) << 32) | u64::from(self.count_lo as u32)
    }

    /// Records whether the operation was cancelled.
    pub(crate) fn cancel(&mut self, cancelled: bool) {
        self.count_hi_and_cancelled = (self.count_hi_and_cancelled & !1) | c_int::from(cancelled);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.count_hi_and_cancelled & 1 != 0
    }
}

// Error classes.
pub(crate) const SUCCESS: c_int = 0;
pub(crate) const ERR_BUFFER: c_int = 1;
pub(crate) const ERR_COUNT: c_int = 2;
pub(crate) const ERR_TYPE: c_int = 3;
pub(crate) const ERR_TAG: c_int = 4;
pub(crate) const ERR_COMM: c_int = 5;
pub(crate) const ERR_RANK: c_int = 6;
pub(crate) const ERR_ROOT: c_int = 7;
pub(crate) const ERR_GROUP: c_int = 8;
pub(crate) const ERR_OP: c_int = 9;
pub(crate) const ERR_TOPOLOGY: c_int = 10;
pub(crate) const ERR_DIMS: c_int = 11;
pub(crate) const ERR_ARG: c_int = 12;
pub(crate) const ERR_TRUNCATE: c_int = 14;
pub(crate) const ERR_OTHER: c_int = 15;
pub(crate) const ERR_IN_STATUS: c_int = 17;
pub(crate) const ERR_REQUEST: c_int = 19;
pub(crate) const ERR_ACCESS: c_int = 20;
pub(crate) const ERR_AMODE: c_int = 21;
pub(crate) const ERR_BAD_FILE: c_int = 22;
pub(crate) const ERR_DUP_DATAREP: c_int = 24;
pub(crate) const ERR_FILE_EXISTS: c_int = 25;
pub(crate) const ERR_FILE: c_int = 27;
pub(crate) const ERR_INFO: c_int = 28;
pub(crate) const ERR_INFO_KEY: c_int = 29;
pub(crate) const ERR_INFO_VALUE: c_int = 30;
pub(crate) const ERR_INFO_NOKEY: c_int = 31;
pub(crate) const ERR_IO: c_int = 32;
pub(crate) const ERR_NO_MEM: c_int = 34;
pub(crate) const ERR_NOT_SAME: c_int = 35;
pub(crate) const ERR_NO_SPACE: c_int = 36;
pub(crate) const ERR_NO_SUCH_FILE: c_int = 37;
pub(crate) const ERR_QUOTA: c_int = 39;
pub(crate) const ERR_READ_ONLY: c_int = 40;
pub(crate) const ERR_UNSUPPORTED_DATAREP: c_int = 43;
pub(crate) const ERR_UNSUPPORTED_OPERATION: c_int = 44;
pub(crate) const ERR_WIN: c_int = 45;
pub(crate) const ERR_LOCKTYPE: c_int = 47;
pub(crate) const ERR_RMA_SYNC: c_int = 50;
pub(crate) const ERR_SIZE: c_int = 51;
pub(crate) const ERR_DISP: c_int = 52;
pub(crate) const ERR_RMA_RANGE: c_int = 55;
pub(crate) const ERR_RMA_ATTACH: c_int = 56;
pub(crate) const ERR_RMA_SHARED: c_int = 57;
pub(crate) const ERR_RMA_FLAVOR: c_int = 58;
pub(crate) const ERR_KEYVAL: c_int = 48;
pub(crate) const ERR_SESSION: c_int = 75;
pub(crate) const ERR_LASTCODE: c_int = 0x3fff_ffff;

// Special ranks, tags and other integers.
pub(crate) const PROC_NULL: c_int = -1;
pub(crate) const ANY_SOURCE: c_int = -2;
pub(crate) const ANY_TAG: c_int = -1;
pub(crate) const UNDEFINED: c_int = -32766;
/// Largest tag that a program may use.
pub(crate) const TAG_UB: c_int = 0x7fff_ffff;
pub(crate) const KEYVAL_INVALID: c_int = 0x2400_0000;

// Predefined handles.
pub(crate) const COMM_NULL: c_int = 0x0400_0000;
pub(crate) const COMM_WORLD: c_int = 0x4400_0000;
pub(crate) const COMM_SELF: c_int = 0x4400_0001;
pub(crate) const GROUP_NULL: c_int = 0x0800_0000;
pub(crate) const GROUP_EMPTY: c_int = 0x4800_0000;
pub(crate) const DATATYPE_NULL: c_int = 0x0c00_0000;
/// `MPI_BYTE`.
pub(crate) const BYTE: c_int = 0x4c00_010d;
pub(crate) const OP_NULL: c_int = 0x1800_0000;
pub(crate) const REQUEST_NULL: c_int = 0x2c00_0000;
pub(crate) const MESSAGE_NULL: c_int = 0x2c00_0000;
pub(crate) const MESSAGE_NO_PROC: c_int = 0x6c00_0000;
pub(crate) const ERRHANDLER_NULL: c_int = 0x1400_0000;
pub(crate) const ERRORS_ARE_FATAL: c_int = 0x5400_0000;
pub(crate) const ERRORS_RETURN: c_int = 0x5400_0001;
pub(crate) const ERRORS_ABORT: c_int = 0x5400_0003;
pub(crate) const SESSION_NULL: c_int = 0x3800_0000;
pub(crate) const WIN_NULL: c_int = 0x2000_0000;
pub(crate) const INFO_NULL: c_int = 0x1c00_0000;
pub(crate) const INFO_ENV: c_int = 0x5c00_0001;

// Predefined operations that other modules name.
pub(crate) const OP_REPLACE: c_int = 0x5800_000d;
pub(crate) const OP_NO_OP: c_int = 0x5800_000e;

/// True for the address `MPI_IN_PLACE`.
pub(crate) fn is_in_place(buffer: P) -> bool {
    buffer as isize == -1
}

/// Writes a status, unless the pointer is null or `MPI_STATUS_IGNORE`, which is 1.
pub(crate) unsafe fn put_status(to: *mut Status, status: &Status) {
    if to as usize > 1 {
        // Calls that report one status leave its error field alone.
        unsafe { *to = Status { error: (*to).error, ..*status } }
    }
}

/// Writes a value through a pointer of the program, which may be null.
pub(crate) unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        unsafe { to.write(value) }
    }
}

/// An array of the program as a slice, empty if the pointer is null.
pub(crate) unsafe fn slice<'a, T>(from: *const T, count: usize) -> &'a [T] {
    if from.is_null() || count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(from, count) } }
}

/// A copy of an array of integers of the program, which have 32 or 64 bits.
pub(crate) unsafe fn whole<T: Copy + Into<i64>>(from: *const T, count: usize) -> Vec<i64> {
    unsafe { slice(from, count) }.iter().map(|&value| value.into()).collect()
}
