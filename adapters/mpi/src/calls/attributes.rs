//! Attributes of communicators and datatypes, and their keys.

use std::ffi::c_int;

use crate::abi::*;
use crate::communicator::Keyval;
use crate::error::{Outcome, error};
use crate::world::World;

/// A copy function of C: handle, key, extra state, value, new value, flag (whether the attribute is copied).
type Copy = unsafe extern "C" fn(c_int, c_int, isize, isize, *mut isize, *mut c_int) -> c_int;
/// A delete function of C: handle, key, value, extra state.
type Delete = unsafe extern "C" fn(c_int, c_int, isize, isize) -> c_int;
/// A function of Fortran's library that calls a copy function of Fortran: function, handle, key, extra state, kind of
/// value, value, new value, flag.
type CopyProxy = unsafe extern "C" fn(F, c_int, c_int, isize, c_int, isize, *mut isize, *mut c_int) -> c_int;
/// A function of Fortran's library that calls a delete function of Fortran: function, handle, key, kind of value,
/// value, extra state.
type DeleteProxy = unsafe extern "C" fn(F, c_int, c_int, c_int, isize, isize) -> c_int;
/// Kind of an attribute's value that is an integer of the size of an address.
const ADDRESS: c_int = 1;

/// The predefined copy function `MPI_COMM_DUP_FN`, which duplicates every attribute.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPIR_Dup_fn(
    _handle: c_int,
    _keyval: c_int,
    _extra: isize,
    value: isize,
    new: *mut isize,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the pointers of the caller.
    unsafe {
        put(new, value);
        put(flag, 1);
    }
    SUCCESS
}

/// Calls the copy function of an attribute. Returns the value for the new object; `None` if the attribute is not
/// copied.
pub(crate) fn call_copy(world: &mut World, handle: c_int, keyval: c_int, value: isize) -> Outcome<Option<isize>> {
    let Some(&Keyval { copy, extra, proxies, .. }) = world.keyvals.get(keyval) else { return Ok(None) };
    if copy.is_null() {
        return Ok(None);
    }
    let (mut new, mut flag) = (value, 0);
    // SAFETY: the function that the program has given for this key.
    let code = world.lend(|| unsafe {
        match proxies.0 {
            null if null.is_null() => {
                std::mem::transmute::<F, Copy>(copy)(handle, keyval, extra, value, &raw mut new, &raw mut flag)
            }
            proxy => std::mem::transmute::<F, CopyProxy>(proxy)(
                copy,
                handle,
                keyval,
                extra,
                ADDRESS,
                value,
                &raw mut new,
                &raw mut flag,
            ),
        }
    });
    if code != SUCCESS {
        return error(code, "the copy function of an attribute has failed");
    }
    Ok((flag != 0).then_some(new))
}

/// Calls the delete function of an attribute.
pub(crate) fn call_delete(world: &mut World, handle: c_int, keyval: c_int, value: isize) -> Outcome {
    let Some(&Keyval { delete, extra, proxies, .. }) = world.keyvals.get(keyval) else { return Ok(()) };
    if delete.is_null() {
        return Ok(());
    }
    // SAFETY: the function that the program has given for this key.
    let code = world.lend(|| unsafe {
        match proxies.1 {
            null if null.is_null() => std::mem::transmute::<F, Delete>(delete)(handle, keyval, value, extra),
            proxy => std::mem::transmute::<F, DeleteProxy>(proxy)(delete, handle, keyval, ADDRESS, value, extra),
        }
    });
    if code == SUCCESS { Ok(()) } else { error(code, "the delete function of an attribute has failed") }
}

/// Returns an error if the key does not exist.
pub(super) fn check_key(world: &World, keyval: c_int) -> Outcome {
    match world.keyvals.get(keyval) {
        Some(_) => Ok(()),
        None => error(ERR_KEYVAL, format!("{keyval:#x} is not a key of attributes")),
    }
}

/// The value of a predefined attribute of `MPI_COMM_WORLD`; `None` for a key of the program. A call of C gets a pointer
/// to the value, a call of Fortran the value itself.
fn predefined(world: &World, keyval: c_int) -> Option<c_int> {
    // Each attribute has a key for C, which is odd, and one for Fortran.
    Some(match keyval {
        // MPI_TAG_UB, MPI_HOST and MPI_IO.
        0x6440_0001 | 0x6440_0002 => TAG_UB,
        0x6440_0003 | 0x6440_0004 => PROC_NULL,
        0x6440_0005 | 0x6440_0006 => PROC_NULL,
        // MPI_WTIME_IS_GLOBAL: all ranks read the same virtual time.
        0x6440_0007 | 0x6440_0008 => 1,
        // MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE and MPI_APPNUM.
        0x6440_0009 | 0x6440_000a => world.settings.size as c_int,
        0x6440_000b | 0x6440_000c => ERR_LASTCODE + world.errors.len() as c_int,
        0x6440_000d | 0x6440_000e => 0,
        _ => return None,
    })
}

/// Reads an attribute of a communicator: `Ok` with a value that the program has set, `Err` with the value of a
/// predefined attribute, or `None`.
pub(crate) fn comm_attribute(world: &World, comm: c_int, keyval: c_int) -> Outcome<Option<Result<isize, c_int>>> {
    let found = world.comms.get(comm)?;
    if let Some(value) = predefined(world, keyval) {
        return Ok(Some(Err(value)));
    }
    check_key(world, keyval)?;
    Ok(found.attributes.get(&keyval).map(|&value| Ok(value)))
}

/// Body of `MPI_Comm_get_attr` in C.
unsafe fn get_comm(world: &mut World, comm: c_int, keyval: c_int, value: *mut isize, flag: Ip) -> Outcome {
    let found = comm_attribute(world, comm, keyval)?;
    // SAFETY: the pointers of the program; a predefined value lives as long as the program.
    unsafe {
        put(flag, c_int::from(found.is_some()));
        match found {
            Some(Ok(found)) => put(value, found),
            Some(Err(predefined)) => {
                let kept = world.predefined.entry(keyval).or_default();
                **kept = predefined;
                put(value, std::ptr::from_mut::<c_int>(kept) as isize);
            }
            None => {}
        }
    }
    Ok(())
}

/// Sets an attribute of a communicator, after the delete function has been called with its old value.
pub(crate) fn set_comm(world: &mut World, comm: c_int, keyval: c_int, value: isize) -> Outcome {
    check_key(world, keyval)?;
    if let Some(&old) = world.comms.get(comm)?.attributes.get(&keyval) {
        call_delete(world, comm, keyval, old)?;
    }
    world.comms.get_mut(comm)?.attributes.insert(keyval, value);
    Ok(())
}

/// Sets an attribute of a datatype, after the delete function has been called with its old value.
pub(crate) fn set_type(world: &mut World, handle: c_int, keyval: c_int, value: isize) -> Outcome {
    check_key(world, keyval)?;
    if let Some(&old) = world.types.get(handle)?.attributes.get(&keyval) {
        call_delete(world, handle, keyval, old)?;
    }
    world.types.get_mut(handle)?.attributes.insert(keyval, value);
    Ok(())
}

/// Removes an attribute of a communicator, if it has a value.
fn delete_comm(world: &mut World, comm: c_int, keyval: c_int) -> Outcome {
    check_key(world, keyval)?;
    if let Some(&old) = world.comms.get(comm)?.attributes.get(&keyval) {
        call_delete(world, comm, keyval, old)?;
        world.comms.get_mut(comm)?.attributes.remove(&keyval);
    }
    Ok(())
}

/// Adds a key of attributes with the addresses of its copy and delete functions.
pub(super) fn new_keyval(world: &mut World, copy: F, delete: F, extra: isize) -> c_int {
    world.keyvals.add(Keyval { copy, delete, extra, proxies: (std::ptr::null(), std::ptr::null()) })
}

/// Body of the calls that free a key.
pub(super) unsafe fn free_keyval(world: &World, keyval: Ip) -> Outcome {
    // SAFETY: the pointer of the program. The key stays usable for attributes that still have it.
    unsafe {
        check_key(world, *keyval)?;
        put(keyval, KEYVAL_INVALID);
    }
    Ok(())
}

mpi! {
    |world|
    fn MPI_Comm_create_keyval(copy: F, delete: F, keyval: Ip, extra: isize) {
        put(keyval, new_keyval(world, copy, delete, extra));
        Ok(())
    }
    fn MPI_Keyval_create(copy: F, delete: F, keyval: Ip, extra: isize) {
        put(keyval, new_keyval(world, copy, delete, extra));
        Ok(())
    }
    fn MPI_Type_create_keyval(copy: F, delete: F, keyval: Ip, extra: isize) {
        put(keyval, new_keyval(world, copy, delete, extra));
        Ok(())
    }
    fn MPI_Comm_free_keyval(keyval: Ip) { free_keyval(world, keyval) }
    fn MPI_Keyval_free(keyval: Ip) { free_keyval(world, keyval) }
    fn MPI_Type_free_keyval(keyval: Ip) { free_keyval(world, keyval) }
    fn MPI_Comm_set_attr(comm: I, keyval: I, value: isize) { set_comm(world, comm, keyval, value) }
    fn MPI_Attr_put(comm: I, keyval: I, value: isize) { set_comm(world, comm, keyval, value) }
    fn MPI_Comm_get_attr(comm: I, keyval: I, value: *mut isize, flag: Ip) {
        get_comm(world, comm, keyval, value, flag)
    }
    fn MPI_Attr_get(comm: I, keyval: I, value: *mut isize, flag: Ip) {
        get_comm(world, comm, keyval, value, flag)
    }
    fn MPI_Comm_delete_attr(comm: I, keyval: I) { delete_comm(world, comm, keyval) }
    fn MPI_Attr_delete(comm: I, keyval: I) { delete_comm(world, comm, keyval) }
    fn MPI_Type_set_attr(handle: I, keyval: I, value: isize) { set_type(world, handle, keyval, value) }
    fn MPI_Type_get_attr(handle: I, keyval: I, value: *mut isize, flag: Ip) {
        check_key(world, keyval)?;
        let found = world.types.get(handle)?.attributes.get(&keyval).copied();
        put(flag, c_int::from(found.is_some()));
        found.iter().for_each(|&found| put(value, found));
        Ok(())
    }
    fn MPI_Type_delete_attr(handle: I, keyval: I) {
        check_key(world, keyval)?;
        if let Some(&old) = world.types.get(handle)?.attributes.get(&keyval) {
            call_delete(world, handle, keyval, old)?;
            world.types.get_mut(handle)?.attributes.remove(&keyval);
        }
        Ok(())
    }
}
