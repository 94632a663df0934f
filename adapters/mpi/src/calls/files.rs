//! Files: opening and closing, views, pointers, consistency.

use std::ffi::{c_char, c_int};
use std::fs::OpenOptions;
use std::path::PathBuf;
use std::rc::Rc;

use crate::abi::*;
use crate::calls::collectives::barrier;
use crate::calls::communicators::exchange;
use crate::calls::environment;
use crate::calls::information::{self, put_text, text};
use crate::calls::windows;
use crate::engine::collectives::Form;
use crate::engine::completion::wait_own;
use crate::error::{Error, Outcome, error};
use crate::file::view::View;
use crate::file::{Fh, File, class_of, mode};
use crate::world::World;

/// Where a pointer is set to: from the beginning, from the pointer, from the end.
const SEEK_SET: c_int = 600;
const SEEK_CUR: c_int = 602;
const SEEK_END: c_int = 604;
/// `MPI_DISPLACEMENT_CURRENT`: the view of a sequential file begins at the shared pointer.
const CURRENT: i64 = -54_278_278;

/// The error on which ranks agree that have met with `own`: that of the first rank with one.
pub(super) fn agree(world: &mut World, comm: c_int, own: Outcome) -> Outcome {
    let class = own.as_ref().err().map_or(SUCCESS, |failure| failure.class);
    let all = exchange(world, comm, [class])?;
    own?;
    match all.iter().position(|&[class]| class != SUCCESS) {
        Some(rank) => error(all[rank][0], format!("rank {rank} of the file has an error")),
        None => Ok(()),
    }
}

/// Waits until all ranks of a communicator are here.
fn meet(world: &mut World, comm: c_int) -> Outcome {
    let request = barrier(world, comm)?(world, Form::Blocking)?;
    wait_own(world, request)
}

/// An error if a mode of access is none.
fn check_mode(mode: c_int) -> Outcome {
    let ways = mode & (mode::READ_ONLY | mode::WRITE_ONLY | mode::READ_WRITE);
    let reason = if mode & !mode::ALL != 0 || ways.count_ones() != 1 {
        "it is not one of reading, writing, and both"
    } else if ways == mode::READ_ONLY && mode & (mode::CREATE | mode::EXCLUSIVE) != 0 {
        "a file that is only read is not created"
    } else if ways == mode::READ_WRITE && mode & mode::SEQUENTIAL != 0 {
        "a sequential file is not read and written"
    } else {
        return Ok(());
    };
    error(ERR_AMODE, format!("mode {mode}: {reason}"))
}

/// The path of a file name, which may begin with the name of a file system, as MPICH's.
fn path_of(name: &str) -> PathBuf {
    let plain = ["ufs:", "nfs:", "testfs:"].into_iter().find_map(|prefix| name.strip_prefix(prefix));
    plain.unwrap_or(name).into()
}

/// Opens a file. All ranks of the communicator do, the first one before the others.
fn open(world: &mut World, comm: c_int, name: &str, amode: c_int, info: c_int) -> Outcome<Fh> {
    world.comms.intra(comm, "a file")?;
    check_mode(amode)?;
    let info = information::table(world, info)?;
    let own = world.comms.get_mut(comm)?.duplicate();
    let rank = own.rank;
    let own = world.comms.add(own);
    let opened = open_with(world, own, rank, path_of(name), amode);
    let data = match opened {
        Ok(data) => data,
        Err(failure) => {
            world.comms.remove(own)?;
            return Err(failure);
        }
    };
    let window = windows::create_pointer(world, own)?;
    let byte = world.types.get(BYTE)?;
    let view = View::new(0, (Rc::clone(&byte), BYTE), (byte, BYTE))?;
    let file = File {
        data,
        path: path_of(name),
        comm: own,
        mode: amode,
        view,
        position: 0,
        is_atomic: false,
        window,
        split: None,
        errhandler: world.files.errhandler,
        info,
    };
    let end = if amode & mode::APPEND == 0 { 0 } else { file.size()? as i64 };
    let file = world.files.add(file);
    world.files.get_mut(file)?.position = end;
    // Every rank has read the size before one can write.
    if amode & mode::APPEND != 0 {
        set_shared(world, file, end)?;
    }
    Ok(file)
}

/// Opens a file on each rank. A mode that differs between ranks, or an error of one, is an error of all.
fn open_with(world: &mut World, comm: c_int, rank: usize, path: PathBuf, amode: c_int) -> Outcome<std::fs::File> {
    let open = |is_new: bool| {
        let mut options = OpenOptions::new();
        options.read(amode & mode::WRITE_ONLY == 0).write(amode & mode::READ_ONLY == 0);
        if is_new && amode & mode::CREATE != 0 {
            options.create(true).create_new(amode & mode::EXCLUSIVE != 0);
        }
        let opened = options.open(&path);
        let opened = opened.and_then(|file| match file.metadata()?.is_dir() {
            true => Err(std::io::ErrorKind::IsADirectory.into()),
            false => Ok(file),
        });
        opened.map_err(|failure| Error {
            class: class_of(&failure),
            text: format!("{} cannot be opened: {failure}", path.display()),
            comm: None,
        })
    };
    let mut first = (rank == 0).then(|| open(true));
    let class = first.as_ref().and_then(|first| first.as_ref().err()).map_or(SUCCESS, |failure| failure.class);
    let all = exchange(world, comm, [class, amode])?;
    if let Some(other) = all.iter().position(|&[_, other]| other != all[0][1]) {
        return error(ERR_NOT_SAME, format!("rank {other} opens the file in another mode than rank 0"));
    }
    if all[0][0] != SUCCESS && rank != 0 {
        first = Some(error(all[0][0], format!("rank 0 cannot open {}", path.display())));
    }
    let opened = first.unwrap_or_else(|| open(false));
    // After an error of the first rank all know.
    if all[0][0] == SUCCESS {
        let (own, data) = match opened {
            Ok(data) => (Ok(()), Some(data)),
            Err(failure) => (Err(failure), None),
        };
        agree(world, comm, own)?;
        return data.map_or_else(|| error(ERR_IO, "the file is not open"), Ok);
    }
    opened
}

/// Closes a file on all ranks, and deletes it if it was opened with that wish.
fn close(world: &mut World, file: Fh) -> Outcome {
    let found = world.files.get(file)?;
    if found.split.is_some() {
        return error(ERR_OTHER, "a split collective on the file has not ended");
    }
    let (comm, window) = (found.comm, found.window);
    windows::free_pointer(world, window)?;
    let Some(gone) = world.files.remove(file) else { return Ok(()) };
    let is_first = world.comms.get(comm)?.rank == 0;
    world.comms.remove(comm)?;
    drop(gone.data);
    if is_first && gone.mode & mode::DELETE_ON_CLOSE != 0 {
        delete(&gone.path)?;
    }
    Ok(())
}

/// Deletes a file.
fn delete(path: &std::path::Path) -> Outcome {
    std::fs::remove_file(path).map_err(|failure| Error {
        class: class_of(&failure),
        text: format!("{} cannot be deleted: {failure}", path.display()),
        comm: None,
    })
}

/// Changes a file on its first rank, for all.
fn change(world: &mut World, file: Fh, what: &str, work: impl FnOnce(&File) -> std::io::Result<()>) -> Outcome {
    let found = world.files.get(file)?;
    found.check(crate::file::Direction::Write, false)?;
    let comm = found.comm;
    let is_first = world.comms.get(comm)?.rank == 0;
    let own = if is_first { work(found).map_err(|failure| found.failed(what, &failure)) } else { Ok(()) };
    agree(world, comm, own)
}

/// \[etypes\] Sets the shared pointer, on the first rank, and waits for all.
fn set_shared(world: &mut World, file: Fh, place: i64) -> Outcome {
    let found = world.files.get(file)?;
    let (comm, window) = (found.comm, found.window);
    meet(world, comm)?;
    windows::set_pointer(world, window, place)?;
    meet(world, comm)
}

/// \[etypes\] The place that an offset of a seek means.
fn target(file: &File, offset: i64, whence: c_int, pointer: i64) -> Outcome<i64> {
    let base = match whence {
        SEEK_SET => 0,
        SEEK_CUR => pointer,
        SEEK_END => file.view.length(file.size()? as i64),
        _ => return error(ERR_ARG, format!("{whence} is none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END")),
    };
    match base.checked_add(offset) {
        Some(place) if place >= 0 => Ok(place),
        _ => error(ERR_ARG, format!("the pointer would be {offset} etypes from {base}, before the file")),
    }
}

/// Sets the view of a file, and both pointers to its beginning.
fn set_view(
    world: &mut World,
    file: Fh,
    start: i64,
    (etype, filetype): (c_int, c_int),
    representation: &str,
    info: c_int,
) -> Outcome {
    let found = world.files.get(file)?;
    let (comm, is_sequential) = (found.comm, found.mode & mode::SEQUENTIAL != 0);
    let start = match (start, is_sequential) {
        (CURRENT, true) => {
            let (window, view) = (found.window, found.view.clone());
            Ok(view.offset_of(windows::move_pointer(world, window, 0)?)?)
        }
        (_, true) => error(ERR_UNSUPPORTED_OPERATION, "the view of a sequential file begins at the current place"),
        (start, false) => Ok(start),
    };
    let view = (|| {
        let representation = match representation {
            "native" => "native",
            "internal" => "internal",
            other => {
                return error(
                    ERR_UNSUPPORTED_DATAREP,
                    format!("the representation `{other}` is neither native nor internal"),
                );
            }
        };
        let types = ((world.types.get(etype)?, etype), (world.types.get(filetype)?, filetype));
        Ok(View { representation, ..View::new(start?, types.0, types.1)? })
    })();
    let info = information::table(world, info)?;
    let (own, view) = match view {
        Ok(view) => (Ok(()), Some(view)),
        Err(failure) => (Err(failure), None),
    };
    agree(world, comm, own)?;
    let found = world.files.get_mut(file)?;
    if let Some(view) = view {
        (found.view, found.position) = (view, 0);
    }
    found.info.extend(info);
    set_shared(world, file, 0)
}

mpi! {
    |world|
    fn MPI_File_open(comm: I, name: *const c_char, amode: I, info: I, made: *mut Fh) {
        // An error of opening is one of no file.
        let opened = open(world, comm, &text(name), amode, info);
        put(made, opened.map_err(|failure| Error { comm: Some(Fh::NULL.handle()), ..failure })?);
        Ok(())
    }
    fn MPI_File_close(file: *mut Fh) {
        close(world, *file)?;
        put(file, Fh::NULL);
        Ok(())
    }
    fn MPI_File_delete(name: *const c_char, _info: I) {
        delete(&path_of(&text(name))).map_err(|failure| Error { comm: Some(Fh::NULL.handle()), ..failure })
    }
    fn MPI_File_set_size(file: Fh, size: i64) {
        if size < 0 {
            return error(ERR_ARG, format!("a file of {size} bytes"));
        }
        change(world, file, "cannot get another size", |file| file.data.set_len(size as u64))
    }
    fn MPI_File_preallocate(file: Fh, size: i64) {
        if size < 0 {
            return error(ERR_ARG, format!("a file of {size} bytes"));
        }
        change(world, file, "cannot grow", |file| {
            if file.data.metadata()?.len() < size as u64 { file.data.set_len(size as u64) } else { Ok(()) }
        })
    }
    fn MPI_File_get_size(file: Fh, size: *mut i64) {
        put(size, world.files.get(file)?.size()? as i64);
        Ok(())
    }
    fn MPI_File_get_group(file: Fh, group: Ip) {
        let all = world.comms.get(world.files.get(file)?.comm)?.group.to_vec();
        put(group, world.groups.add(all));
        Ok(())
    }
    fn MPI_File_get_amode(file: Fh, amode: Ip) {
        put(amode, world.files.get(file)?.mode);
        Ok(())
    }
    fn MPI_File_set_info(file: Fh, info: I) {
        let info = information::table(world, info)?;
        world.files.get_mut(file)?.info.extend(info);
        Ok(())
    }
    fn MPI_File_get_info(file: Fh, info: Ip) {
        let found = world.files.get(file)?.info.clone();
        put(info, world.infos.add(found));
        Ok(())
    }
    fn MPI_File_set_view(file: Fh, start: i64, etype: I, filetype: I, representation: *const c_char, info: I) {
        set_view(world, file, start, (etype, filetype), &text(representation), info)
    }
    fn MPI_File_get_view(file: Fh, start: *mut i64, etype: Ip, filetype: Ip, representation: *mut c_char) {
        let view = world.files.get(file)?.view.clone();
        put(start, view.start);
        put(etype, world.types.share(&view.etype));
        put(filetype, world.types.share(&view.filetype));
        put_text(representation, view.representation, 127);
        Ok(())
    }
    fn MPI_File_seek(file: Fh, offset: i64, whence: I) {
        let found = world.files.get_mut(file)?;
        found.check_pointer()?;
        found.position = target(found, offset, whence, found.position)?;
        Ok(())
    }
    fn MPI_File_get_position(file: Fh, offset: *mut i64) {
        let found = world.files.get(file)?;
        found.check_pointer()?;
        put(offset, found.position);
        Ok(())
    }
    fn MPI_File_seek_shared(file: Fh, offset: i64, whence: I) {
        let (window, comm) = (world.files.get(file)?.window, world.files.get(file)?.comm);
        if whence == SEEK_END {
            // Files pass no network: the size is known once every rank has made its earlier accesses.
            meet(world, comm)?;
        }
        let pointer = if whence == SEEK_CUR { windows::move_pointer(world, window, 0)? } else { 0 };
        let place = target(world.files.get(file)?, offset, whence, pointer)?;
        set_shared(world, file, place)
    }
    fn MPI_File_get_position_shared(file: Fh, offset: *mut i64) {
        let window = world.files.get(file)?.window;
        put(offset, windows::move_pointer(world, window, 0)?);
        Ok(())
    }
    fn MPI_File_get_byte_offset(file: Fh, offset: i64, at: *mut i64) {
        let found = world.files.get(file)?;
        found.check_pointer()?;
        put(at, found.view.offset_of(offset)?);
        Ok(())
    }
    fn MPI_File_set_atomicity(file: Fh, flag: I) {
        let comm = world.files.get(file)?.comm;
        let all = exchange(world, comm, [c_int::from(flag != 0)])?;
        if all.iter().any(|other| other != &all[0]) {
            return error(ERR_NOT_SAME, "ranks set the atomicity differently");
        }
        world.files.get_mut(file)?.is_atomic = flag != 0;
        Ok(())
    }
    fn MPI_File_get_atomicity(file: Fh, flag: Ip) {
        put(flag, c_int::from(world.files.get(file)?.is_atomic));
        Ok(())
    }
    fn MPI_File_sync(file: Fh) {
        let found = world.files.get(file)?;
        found.check(crate::file::Direction::Write, false)?;
        let (comm, synced) = (found.comm, found.data.sync_data());
        let own = synced.map_err(|failure| found.failed("cannot be written to the disk", &failure));
        agree(world, comm, own)
    }
    fn MPI_File_create_errhandler(function: F, handler: Ip) {
        put(handler, environment::new_handler(world, function)?);
        Ok(())
    }
    fn MPI_File_set_errhandler(file: Fh, handler: I) {
        environment::check_any_handler(world, handler)?;
        if file == Fh::NULL {
            world.files.errhandler = handler;
        } else {
            world.files.get_mut(file)?.errhandler = handler;
        }
        Ok(())
    }
    fn MPI_File_get_errhandler(file: Fh, handler: Ip) {
        let own = if file == Fh::NULL { world.files.errhandler } else { world.files.get(file)?.errhandler };
        put(handler, own);
        Ok(())
    }
    fn MPI_File_call_errhandler(file: Fh, code: I) {
        if file != Fh::NULL {
            world.files.get(file)?;
        }
        if code == SUCCESS {
            return Ok(());
        }
        environment::call_handler(world, "MPI_File_call_errhandler", file.handle(), code)
    }
}

large! {
    |world|
    fn MPI_File_get_type_extent / MPI_File_get_type_extent_c(file: Fh, ty: I, extent: *mut isize) {
        world.files.get(file)?;
        put(extent, world.types.get(ty)?.extent() as isize);
        Ok(())
    }
    // Views of such a representation are refused, as in MPICH.
    fn MPI_Register_datarep / MPI_Register_datarep_c(name: *const c_char, _read: F, _write: F, _extent: F, _state: usize) {
        if world.files.representations.insert(text(name)) {
            return Ok(());
        }
        Err(Error {
            class: ERR_DUP_DATAREP,
            text: format!("the representation `{}` is registered already", text(name)),
            comm: Some(Fh::NULL.handle()),
        })
    }
}

values! {
    fn MPI_File_c2f / PMPI_File_c2f(file: Fh) -> c_int {
        if file == Fh::NULL { 0 } else { file.handle() & 0x03ff_ffff }
    }
    fn MPI_File_f2c / PMPI_File_f2c(file: c_int) -> Fh {
        if file <= 0 { Fh::NULL } else { Fh::of(Fh(file as usize).handle()) }
    }
}
