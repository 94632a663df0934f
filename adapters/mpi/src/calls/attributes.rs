//! Attributes of communicators, datatypes and windows, and their keys.

use std::ffi::c_int;

use crate::abi::*;
use crate::caching::{Attribute, Attributes, Holder, Keyval, POINTER};
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

/// The attributes of an object.
fn attributes(world: &World, holder: Holder, handle: c_int) -> Outcome<&Attributes> {
    Ok(match holder {
        Holder::Communicator => &world.comms.get(handle)?.attributes,
        Holder::Datatype => world.types.attributes(handle)?,
        Holder::Window => &world.windows.get(handle)?.attributes,
    })
}

/// The attributes of an object, which the caller changes.
fn attributes_mut(world: &mut World, holder: Holder, handle: c_int) -> Outcome<&mut Attributes> {
    Ok(match holder {
        Holder::Communicator => &mut world.comms.get_mut(handle)?.attributes,
        Holder::Datatype => &mut world.types.get_mut(handle)?.attributes,
        Holder::Window => &mut world.windows.get_mut(handle)?.attributes,
    })
}

/// Calls the copy function of an attribute. Returns the value for the new object and its kind; `None` if the attribute
/// is not copied.
fn call_copy(world: &mut World, handle: c_int, keyval: c_int, old: &Attribute) -> Outcome<Option<(isize, c_int)>> {
    let Some(&Keyval { copy, extra, proxies, .. }) = world.keyvals.get(keyval) else { return Ok(None) };
    if copy.is_null() {
        return Ok(None);
    }
    let given = if proxies.0.is_null() { old.for_c() } else { old.value() };
    let (mut new, mut flag) = (given, 0);
    // SAFETY: the function that the program has given for this key.
    let code = world.lend(|| unsafe {
        match proxies.0 {
            null if null.is_null() => {
                std::mem::transmute::<F, Copy>(copy)(handle, keyval, extra, given, &raw mut new, &raw mut flag)
            }
            proxy => std::mem::transmute::<F, CopyProxy>(proxy)(
                copy,
                handle,
                keyval,
                extra,
                old.kind(),
                given,
                &raw mut new,
                &raw mut flag,
            ),
        }
    });
    if code != SUCCESS {
        return error(code, "the copy function of an attribute has failed");
    }
    // A function of C that passes on the pointer to an integer of Fortran copies that integer.
    Ok((flag != 0).then_some(match proxies.0.is_null() {
        true if new == given => (old.value(), old.kind()),
        true => (new, POINTER),
        false => (new, old.kind()),
    }))
}

/// Calls the delete function of an attribute.
fn call_delete(world: &mut World, handle: c_int, keyval: c_int, old: &Attribute) -> Outcome {
    let Some(&Keyval { delete, extra, proxies, .. }) = world.keyvals.get(keyval) else { return Ok(()) };
    if delete.is_null() {
        return Ok(());
    }
    // SAFETY: the function that the program has given for this key.
    let code = world.lend(|| unsafe {
        match proxies.1 {
            null if null.is_null() => std::mem::transmute::<F, Delete>(delete)(handle, keyval, old.for_c(), extra),
            proxy => {
                std::mem::transmute::<F, DeleteProxy>(proxy)(delete, handle, keyval, old.kind(), old.value(), extra)
            }
        }
    });
    if code == SUCCESS { Ok(()) } else { error(code, "the delete function of an attribute has failed") }
}

/// Copies the attributes of an object for a new one, by their copy functions.
pub(super) fn copied(world: &mut World, holder: Holder, handle: c_int) -> Outcome<Attributes> {
    let mut copies = Attributes::default();
    for keyval in attributes(world, holder, handle)?.keys() {
        let Some(old) = attributes(world, holder, handle)?.get(keyval).cloned() else { continue };
        if let Some((value, kind)) = call_copy(world, handle, keyval, &old)? {
            copies.set(keyval, value, kind);
        }
    }
    Ok(copies)
}

/// Deletes all attributes of an object, the last one that was set first. With an error the rest remains.
pub(super) fn delete_all(world: &mut World, holder: Holder, handle: c_int) -> Outcome {
    for keyval in attributes(world, holder, handle)?.keys().into_iter().rev() {
        let Some(old) = attributes(world, holder, handle)?.get(keyval).cloned() else { continue };
        call_delete(world, handle, keyval, &old)?;
        attributes_mut(world, holder, handle)?.remove(keyval);
    }
    Ok(())
}

/// Returns an error if the key is not one of the program for these objects.
fn check_key(world: &World, holder: Holder, keyval: c_int) -> Outcome {
    match world.keyvals.get(keyval) {
        Some(found) if found.holder == holder => Ok(()),
        Some(found) => {
            let text =
                format!("{keyval:#x} is a key of attributes of {}, not of {}", found.holder.plural(), holder.plural());
            error(ERR_KEYVAL, text)
        }
        None => error(ERR_KEYVAL, format!("{keyval:#x} is not a key of attributes of the program")),
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
        0x6440_000d | 0x6440_000e => world.settings.part as c_int,
        _ => return None,
    })
}

/// Reads an attribute of a communicator: `Ok` with a value that the program has set, `Err` with the value of a
/// predefined attribute, or `None`.
pub(crate) fn comm_attribute(world: &World, comm: c_int, keyval: c_int) -> Outcome<Option<Result<&Attribute, c_int>>> {
    world.comms.get(comm)?;
    match predefined(world, keyval) {
        Some(value) => Ok(Some(Err(value))),
        None => Ok(attribute(world, Holder::Communicator, comm, keyval)?.map(Ok)),
    }
}

/// An attribute that the program has set.
pub(super) fn attribute(world: &World, holder: Holder, handle: c_int, keyval: c_int) -> Outcome<Option<&Attribute>> {
    let all = attributes(world, holder, handle)?;
    check_key(world, holder, keyval)?;
    Ok(all.get(keyval))
}

/// Body of `MPI_Comm_get_attr` in C.
unsafe fn get_comm(world: &mut World, comm: c_int, keyval: c_int, value: *mut isize, flag: Ip) -> Outcome {
    let found = comm_attribute(world, comm, keyval)?;
    let found = found.map(|found| found.map(Attribute::for_c));
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

/// Sets an attribute of an object, after the delete function has been called with its old value.
pub(super) fn set(
    world: &mut World,
    holder: Holder,
    handle: c_int,
    keyval: c_int,
    (value, kind): (isize, c_int),
) -> Outcome {
    if let Some(old) = attribute(world, holder, handle, keyval)?.cloned() {
        call_delete(world, handle, keyval, &old)?;
    }
    attributes_mut(world, holder, handle)?.set(keyval, value, kind);
    Ok(())
}

/// Removes an attribute of an object, if it has a value.
pub(super) fn delete(world: &mut World, holder: Holder, handle: c_int, keyval: c_int) -> Outcome {
    if let Some(old) = attribute(world, holder, handle, keyval)?.cloned() {
        call_delete(world, handle, keyval, &old)?;
        attributes_mut(world, holder, handle)?.remove(keyval);
    }
    Ok(())
}

/// Adds a key of attributes with the addresses of its copy and delete functions.
pub(super) fn new_keyval(world: &mut World, holder: Holder, copy: F, delete: F, extra: isize) -> c_int {
    let proxies = (std::ptr::null(), std::ptr::null());
    world.keyvals.add(Keyval { holder, copy, delete, extra, proxies, is_freed: false })
}

/// Body of the calls that free a key.
pub(super) unsafe fn free_keyval(world: &mut World, holder: Holder, keyval: Ip) -> Outcome {
    // SAFETY: the pointer of the program.
    unsafe {
        check_key(world, holder, *keyval)?;
        // Attributes that have the key keep it.
        if let Some(found) = world.keyvals.get_mut(*keyval)
            && std::mem::replace(&mut found.is_freed, true)
        {
            return error(ERR_KEYVAL, format!("the key {:#x} of attributes is freed already", *keyval));
        }
        put(keyval, KEYVAL_INVALID);
    }
    Ok(())
}

mpi! {
    |world|
    fn MPI_Comm_create_keyval(copy: F, delete: F, keyval: Ip, extra: isize) {
        put(keyval, new_keyval(world, Holder::Communicator, copy, delete, extra));
        Ok(())
    }
    fn MPI_Keyval_create(copy: F, delete: F, keyval: Ip, extra: isize) {
        put(keyval, new_keyval(world, Holder::Communicator, copy, delete, extra));
        Ok(())
    }
    fn MPI_Type_create_keyval(copy: F, delete: F, keyval: Ip, extra: isize) {
        put(keyval, new_keyval(world, Holder::Datatype, copy, delete, extra));
        Ok(())
    }
    fn MPI_Comm_free_keyval(keyval: Ip) { free_keyval(world, Holder::Communicator, keyval) }
    fn MPI_Keyval_free(keyval: Ip) { free_keyval(world, Holder::Communicator, keyval) }
    fn MPI_Type_free_keyval(keyval: Ip) { free_keyval(world, Holder::Datatype, keyval) }
    fn MPI_Comm_set_attr(comm: I, keyval: I, value: isize) {
        set(world, Holder::Communicator, comm, keyval, (value, POINTER))
    }
    fn MPI_Attr_put(comm: I, keyval: I, value: isize) {
        set(world, Holder::Communicator, comm, keyval, (value, POINTER))
    }
    fn MPI_Comm_get_attr(comm: I, keyval: I, value: *mut isize, flag: Ip) {
        get_comm(world, comm, keyval, value, flag)
    }
    fn MPI_Attr_get(comm: I, keyval: I, value: *mut isize, flag: Ip) {
        get_comm(world, comm, keyval, value, flag)
    }
    fn MPI_Comm_delete_attr(comm: I, keyval: I) { delete(world, Holder::Communicator, comm, keyval) }
    fn MPI_Attr_delete(comm: I, keyval: I) { delete(world, Holder::Communicator, comm, keyval) }
    fn MPI_Type_set_attr(handle: I, keyval: I, value: isize) {
        set(world, Holder::Datatype, handle, keyval, (value, POINTER))
    }
    fn MPI_Type_get_attr(handle: I, keyval: I, value: *mut isize, flag: Ip) {
        let found = attribute(world, Holder::Datatype, handle, keyval)?;
        put(flag, c_int::from(found.is_some()));
        found.iter().for_each(|found| put(value, found.for_c()));
        Ok(())
    }
    fn MPI_Type_delete_attr(handle: I, keyval: I) { delete(world, Holder::Datatype, handle, keyval) }
}
