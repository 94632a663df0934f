//! Info objects, and strings of the program.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};

use crate::abi::*;
use crate::error::{Outcome, error};
use crate::world::World;

/// A copy of a string of the program; empty if the pointer is null.
pub(crate) unsafe fn text(from: *const c_char) -> String {
    // SAFETY: a string of C.
    if from.is_null() { String::new() } else { unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned() }
}

/// Writes a string, cut to `room` bytes, and its terminating zero. Returns its length without the zero \[bytes\].
pub(crate) unsafe fn put_text(to: *mut c_char, text: &str, room: usize) -> c_int {
    let bytes = &text.as_bytes()[..text.len().min(room)];
    if !to.is_null() {
        // SAFETY: the buffer of the program has room for this and the end.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), to, bytes.len());
            *to.add(bytes.len()) = 0;
        }
    }
    bytes.len() as c_int
}

/// A copy of the keys and values of an info object.
pub(crate) fn table(world: &World, info: c_int) -> Outcome<BTreeMap<String, String>> {
    if info == INFO_NULL || info == INFO_ENV {
        return Ok(BTreeMap::new());
    }
    world.infos.get(info).cloned().map_or_else(|| error(ERR_INFO, format!("{info:#x} is not an info object")), Ok)
}

/// The same of an object that the program asks for its contents.
fn object(world: &World, info: c_int) -> Outcome<BTreeMap<String, String>> {
    if info == INFO_NULL { error(ERR_INFO, "the info object is MPI_INFO_NULL") } else { table(world, info) }
}

mpi! {
    |world|
    fn MPI_Info_create(info: Ip) {
        put(info, world.infos.add(BTreeMap::new()));
        Ok(())
    }
    // The library passes on nothing of the start of the program.
    fn MPI_Info_create_env(_count: I, _words: *mut *mut c_char, info: Ip) {
        put(info, world.infos.add(BTreeMap::new()));
        Ok(())
    }
    fn MPI_Info_free(info: Ip) {
        if world.infos.remove(*info).is_none() {
            return error(ERR_INFO, format!("{:#x} is not an info object of the program", *info));
        }
        put(info, INFO_NULL);
        Ok(())
    }
    fn MPI_Info_dup(info: I, new: Ip) {
        let table = object(world, info)?;
        put(new, world.infos.add(table));
        Ok(())
    }
    fn MPI_Info_set(info: I, key: *const c_char, value: *const c_char) {
        let (name, value) = (text(key), text(value));
        // The longest key and value, MPI_MAX_INFO_KEY and MPI_MAX_INFO_VAL of `mpi.h`, with the terminating zero.
        if name.is_empty() || name.len() >= 255 {
            return error(ERR_INFO_KEY, format!("a key of {} characters is not from 1 to 254", name.len()));
        }
        if value.is_empty() || value.len() >= 1024 {
            return error(ERR_INFO_VALUE, format!("a value of {} characters is not from 1 to 1023", value.len()));
        }
        match world.infos.get_mut(info) {
            Some(table) => table.insert(name, value),
            None => return error(ERR_INFO, format!("{info:#x} is not an info object")),
        };
        Ok(())
    }
    fn MPI_Info_delete(info: I, key: *const c_char) {
        let name = text(key);
        object(world, info)?;
        match world.infos.get_mut(info).and_then(|table| table.remove(&name)) {
            Some(_) => Ok(()),
            None => error(ERR_INFO_NOKEY, format!("the info object has no key `{name}`")),
        }
    }
    fn MPI_Info_get(info: I, key: *const c_char, room: I, value: *mut c_char, flag: Ip) {
        let found = object(world, info)?.get(&text(key)).cloned();
        put(flag, c_int::from(found.is_some()));
        found.iter().for_each(|found| { put_text(value, found, room.max(0) as usize); });
        Ok(())
    }
    fn MPI_Info_get_string(info: I, key: *const c_char, length: Ip, value: *mut c_char, flag: Ip) {
        let found = object(world, info)?.get(&text(key)).cloned();
        put(flag, c_int::from(found.is_some()));
        if let Some(found) = found {
            if *length > 0 {
                put_text(value, &found, *length as usize - 1);
            }
            *length = found.len() as c_int + 1;
        }
        Ok(())
    }
    fn MPI_Info_get_valuelen(info: I, key: *const c_char, length: Ip, flag: Ip) {
        let found = object(world, info)?.get(&text(key)).map(String::len);
        put(flag, c_int::from(found.is_some()));
        found.iter().for_each(|&found| put(length, found as c_int));
        Ok(())
    }
    fn MPI_Info_get_nkeys(info: I, count: Ip) {
        put(count, object(world, info)?.len() as c_int);
        Ok(())
    }
    fn MPI_Info_get_nthkey(info: I, index: I, key: *mut c_char) {
        let table = object(world, info)?;
        match usize::try_from(index).ok().and_then(|index| table.keys().nth(index)) {
            Some(found) => put_text(key, found, 255),
            None => return error(ERR_ARG, format!("the info object has no key number {index}")),
        };
        Ok(())
    }
}
