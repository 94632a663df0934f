//! Variables and functions that MPICH's Fortran library needs in addition to the calls of C.

use std::ffi::{c_int, c_void};

use crate::abi::*;
use crate::caching::Holder;
use crate::calls::attributes;
use crate::calls::windows::{self, Value};
use crate::entry::{self, call};

/// Defines variables that C and Fortran read and write.
macro_rules! variables {
    ($($name:ident: $t:ty = $value:expr;)*) => { $(
        #[unsafe(no_mangle)]
        pub(crate) static mut $name: $t = $value;
    )* };
}

/// `MPI_F08_status`: the five integers of a status.
type F08Status = [c_int; 5];

/// What `MPI_UNWEIGHTED` points to; below, the same of `MPI_WEIGHTS_EMPTY`.
static mut UNWEIGHTED: [c_int; 2] = [0; 2];
static mut WEIGHTS_EMPTY: [c_int; 2] = [0; 2];

variables! {
    MPI_F_STATUS_IGNORE: *mut c_int = std::ptr::null_mut();
    MPI_F_STATUSES_IGNORE: *mut c_int = std::ptr::null_mut();
    MPIR_F08_MPI_STATUS_IGNORE_OBJ: F08Status = [0; 5];
    MPIR_F08_MPI_STATUSES_IGNORE_OBJ: [F08Status; 1] = [[0; 5]];
    MPIR_F08_MPI_IN_PLACE: c_int = 0;
    MPIR_F08_MPI_BOTTOM: c_int = 0;
    MPI_F08_STATUS_IGNORE: *mut F08Status = &raw mut MPIR_F08_MPI_STATUS_IGNORE_OBJ;
    MPI_F08_STATUSES_IGNORE: *mut [F08Status; 1] = &raw mut MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
    MPI_UNWEIGHTED: *mut c_int = (&raw mut UNWEIGHTED).cast();
    MPI_WEIGHTS_EMPTY: *mut c_int = (&raw mut WEIGHTS_EMPTY).cast();
    // The same addresses, as the module `mpi_f08` reads them.
    MPIR_C_MPI_UNWEIGHTED: *mut c_int = (&raw mut UNWEIGHTED).cast();
    MPIR_C_MPI_WEIGHTS_EMPTY: *mut c_int = (&raw mut WEIGHTS_EMPTY).cast();
    MPI_T_PVAR_ALL_HANDLES: *mut c_void = std::ptr::null_mut();
}

/// `MPI_Comm_get_attr` as Fortran's library calls it.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPII_Comm_get_attr(
    comm: c_int,
    keyval: c_int,
    value: *mut isize,
    flag: *mut c_int,
    _kind: c_int,
) -> c_int {
    call("MPI_Comm_get_attr", comm, |world| {
        let found = attributes::comm_attribute(world, comm, keyval)?;
        // SAFETY: the pointers of the caller. Fortran reads values, not pointers to them.
        unsafe {
            put(flag, c_int::from(found.is_some()));
            match found {
                Some(Ok(found)) => put(value, found.value()),
                Some(Err(predefined)) => put(value, predefined as isize),
                None => {}
            }
        }
        Ok(())
    })
}

/// `MPI_Comm_set_attr` as Fortran's library calls it.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPII_Comm_set_attr(comm: c_int, keyval: c_int, value: isize, kind: c_int) -> c_int {
    call("MPI_Comm_set_attr", comm, |world| attributes::set(world, Holder::Communicator, comm, keyval, (value, kind)))
}

/// `MPI_Type_get_attr` as Fortran's library calls it.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPII_Type_get_attr(
    handle: c_int,
    keyval: c_int,
    value: *mut isize,
    flag: *mut c_int,
    _kind: c_int,
) -> c_int {
    call("MPI_Type_get_attr", COMM_WORLD, |world| {
        let found = attributes::attribute(world, Holder::Datatype, handle, keyval)?;
        // SAFETY: the pointers of the caller.
        unsafe {
            put(flag, c_int::from(found.is_some()));
            found.iter().for_each(|found| put(value, found.value()));
        }
        Ok(())
    })
}

/// `MPI_Type_set_attr` as Fortran's library calls it.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPII_Type_set_attr(handle: c_int, keyval: c_int, value: isize, kind: c_int) -> c_int {
    call("MPI_Type_set_attr", COMM_WORLD, |world| {
        attributes::set(world, Holder::Datatype, handle, keyval, (value, kind))
    })
}

/// `MPI_Win_get_attr` as Fortran's library calls it.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPII_Win_get_attr(
    win: c_int,
    keyval: c_int,
    value: *mut isize,
    flag: *mut c_int,
    _kind: c_int,
) -> c_int {
    call("MPI_Win_get_attr", win, |world| {
        let found = windows::attribute(world, win, keyval)?;
        // SAFETY: the pointers of the caller. Fortran reads values, not pointers to them.
        unsafe {
            put(flag, c_int::from(found.is_some()));
            match found {
                Some(Value::Base(base)) => put(value, base),
                Some(Value::Number(number)) => put(value, number as isize),
                Some(Value::Set(found)) => put(value, found.value()),
                None => {}
            }
        }
        Ok(())
    })
}

/// `MPI_Win_set_attr` as Fortran's library calls it.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPII_Win_set_attr(win: c_int, keyval: c_int, value: isize, kind: c_int) -> c_int {
    call("MPI_Win_set_attr", win, |world| attributes::set(world, Holder::Window, win, keyval, (value, kind)))
}

/// Sets the functions of Fortran's library that call the copy and the delete function of a key.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPII_Keyval_set_proxy(keyval: c_int, copy: F, delete: F) {
    entry::with("MPI_KEYVAL_CREATE of Fortran", |world| {
        if let Some(found) = world.keyvals.get_mut(keyval) {
            found.proxies = (copy, delete);
        }
    });
}

/// Not supported: the functions of a generalized request have other parameters in Fortran than in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPII_Grequest_set_lang_f77(_request: c_int) {
    entry::unsupported("MPI_GREQUEST_START of Fortran");
}

/// Defines functions that are not supported: calling one ends the program.
macro_rules! absent {
    ($($name:ident: $title:literal;)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() -> c_int {
            entry::unsupported($title)
        }
    )* };
}

absent! {
    MPII_Op_set_cxx: "MPI::Op::Init of C++";
    MPII_Errhandler_set_cxx: "MPI::Comm::Create_errhandler of C++";
}

mpi! {
    |world|
    fn MPI_Status_f2c(from: *const Status, to: *mut Status) {
        put(to, *from);
        Ok(())
    }
    fn MPI_Status_c2f(from: *const Status, to: *mut Status) {
        put(to, *from);
        Ok(())
    }
}
