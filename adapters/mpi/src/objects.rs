//! The objects of this process: the program and its libraries, and whether they are linked with MPI.
//!
//! The launcher has every process of a rank load this library before all others (`LD_PRELOAD`), so that its definitions
//! precede those of the C library and of an MPI library that is found by other means (`DT_RPATH`). So that the library is
//! also loaded by programs that have nothing to do with MPI, such as a shell that starts the program.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// `struct dl_phdr_info`, as far as it is used.
#[repr(C)]
struct Object {
    base: usize,
    name: *const c_char,
    headers: *const Header,
    count: u16,
}

/// A program header of ELF with 64 bits.
#[repr(C)]
struct Header {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    physical: u64,
    in_file: u64,
    in_memory: u64,
    alignment: u64,
}

/// An entry of the dynamic section.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

/// The kind of the header of the dynamic section; tags of its entries.
const DYNAMIC: u32 = 2;
const NEEDED: i64 = 1;
const STRINGS: i64 = 5;

unsafe extern "C" {
    fn dl_iterate_phdr(
        call: unsafe extern "C" fn(*const Object, usize, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
}

/// True if the program and the libraries that it is linked with need MPI. False for programs that load MPI later, such
/// as Python.
static IS_LINKED: AtomicBool = AtomicBool::new(false);

/// See [`IS_LINKED`].
pub(crate) fn is_linked_with_mpi() -> bool {
    IS_LINKED.load(Ordering::Relaxed)
}

/// Called by the dynamic linker when the library has been loaded.
extern "C" fn begin() {
    IS_LINKED.store(needed().iter().any(|name| is_mpi(name)), Ordering::Relaxed);
}

#[cfg_attr(not(test), used, unsafe(link_section = ".init_array"))]
static BEGIN: extern "C" fn() = begin;

/// True for the file name of an MPI library, or of its Fortran part.
fn is_mpi(name: &str) -> bool {
    ["libmpi.so", "libmpich.so", "libmpifort.so", "libmpichfort.so", "libmpicxx.so", "libmpichcxx.so", "libmpi_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// The library of Open MPI with which this process is linked, if there is one. Open MPI's handles are not those of
/// MPICH.
pub(crate) fn open_mpi() -> Option<String> {
    let version = |name: &str| name.strip_prefix("libmpi.so.")?.split('.').next()?.parse::<u32>().ok();
    // MPICH's ABI has version 12; Open MPI had 1 to 20 before it had 40.
    needed()
        .into_iter()
        .find(|name| name.starts_with("libopen-pal.so") || version(name).is_some_and(|number| number >= 20))
}

/// The libraries that the objects of this process need, by the names in their files.
fn needed() -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    // SAFETY: `add` has the type of the callback, and its argument outlives the call.
    unsafe { dl_iterate_phdr(add, (&raw mut all).cast()) };
    all
}

/// Adds the libraries that an object needs to the `Vec<String>` at `all`.
unsafe extern "C" fn add(object: *const Object, _size: usize, all: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid object, whose headers and dynamic section are mapped; `all` comes from
    // `needed`.
    unsafe {
        let (object, all) = (&*object, &mut *all.cast::<Vec<String>>());
        let headers = std::slice::from_raw_parts(object.headers, object.count.into());
        let Some(header) = headers.iter().find(|header| header.kind == DYNAMIC) else { return 0 };
        let mut entry = (object.base + header.address as usize) as *const Dynamic;
        let (mut strings, mut names) = (0, Vec::new());
        while (*entry).tag != 0 {
            match (*entry).tag {
                NEEDED => names.push((*entry).value as usize),
                STRINGS => strings = (*entry).value as usize,
                _ => {}
            }
            entry = entry.add(1);
        }
        // The dynamic linker replaces the offset by an address, but not in every object.
        if strings < object.base {
            strings += object.base;
        }
        let text = |name: usize| CStr::from_ptr((strings + name) as *const c_char).to_string_lossy().into_owned();
        all.extend(names.into_iter().map(text));
    }
    0
}
