//! Collectives on intercommunicators: each group gets what the other sends.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::rc::Rc;

use trgen::trace::collectives::{Algorithm, ExpandError};

use crate::abi::*;
use crate::arguments;
use crate::between::{Root, Script, Sides};
use crate::calls::blocks::{Block, Blocks, Buffer, Kept, Plan, block, write_blocks};
use crate::collective::{Finish, Running};
use crate::data::{Combine, Data, Reduction, Route, Share};
use crate::engine::collectives::{Form, number_of, start};
use crate::engine::completion::wait_own;
use crate::error::{Outcome, error};
use crate::operation::Terms;
use crate::world::World;

/// `MPI_ROOT`: this rank is the root, for the other group.
const ROOT: c_int = -3;

/// The groups of an intercommunicator.
fn sides(world: &World, comm: c_int) -> Outcome<Sides> {
    let found = world.comms.get(comm)?;
    Sides::of(found).map_or_else(|| error(ERR_COMM, format!("{} is not an intercommunicator", found.title())), Ok)
}

/// The root of a collective, as this rank names it.
fn root_of(sides: &Sides, root: c_int) -> Outcome<Root> {
    match root {
        ROOT => Ok(Root::Own),
        PROC_NULL => Ok(Root::Beside),
        _ => match usize::try_from(root) {
            Ok(root) if root < sides.other.len() => Ok(Root::Other(sides.other.start + root)),
            _ => error(
                ERR_ROOT,
                format!(
                    "root {root} is neither MPI_ROOT, MPI_PROC_NULL nor a rank of the other group of {}",
                    sides.other.len()
                ),
            ),
        },
    }
}

/// Begins a collective with the messages that `write` adds to a script.
fn begin(
    world: &mut World,
    form: Form,
    (comm, name): (c_int, &'static str),
    write: impl FnOnce(&mut Script<'_>) -> Result<(), ExpandError>,
    data: Data,
    finish: Finish,
) -> Outcome<c_int> {
    let sides = sides(world, comm)?;
    let number = number_of(world.comms.get(comm)?, form);
    let mut script = Script::new(&sides, &world.settings.choice, number);
    if let Err(failure) = write(&mut script) {
        return error(ERR_ARG, failure.to_string());
    }
    let events = script.events();
    start(world, form, comm, |comm, number, now| {
        Ok(Running::between((comm, number), &sides, name, events, data, finish, now))
    })
}

/// Blocks that all messages carry.
fn carried(own: Vec<(u32, u32, Vec<u8>)>) -> Data {
    Data::blocks(own, Route::All)
}

/// Does nothing at the end.
fn nothing() -> Finish {
    Box::new(|_, _| Ok(()))
}

/// Plans a barrier.
pub(crate) fn barrier(comm: c_int) -> Outcome<Plan> {
    Ok(Box::new(move |world, form| {
        begin(world, form, (comm, "barrier"), |script| script.barrier(), Data::Nothing, nothing())
    }))
}

/// Plans a broadcast.
pub(crate) fn broadcast(world: &World, buffer: Buffer, root: c_int, comm: c_int) -> Outcome<Plan> {
    let sides = sides(world, comm)?;
    let (root, rank) = (root_of(&sides, root)?, sides.rank as u32);
    let block = if root == Root::Beside { None } else { Some(block(world, buffer)?) };
    Ok(Box::new(move |world, form| {
        let own = match (&block, root) {
            (Some(block), Root::Own) => vec![(rank, Data::ALL, block.pack()?)],
            _ => Vec::new(),
        };
        let into: Blocks = if let Root::Other(_) = root { block.iter().cloned().collect() } else { Vec::new() };
        let bytes = block.as_ref().map_or(0, Block::bytes);
        let finish = move |data: &mut Data, _: Combine<'_>| match root {
            Root::Other(root) => write_blocks(data, &into, |_| (root as u32, Data::ALL)),
            _ => Ok(()),
        };
        begin(world, form, (comm, "bcast"), |script| script.broadcast(root, bytes), carried(own), Box::new(finish))
    }))
}

/// Plans a gather. `into` gives the blocks on the root only.
pub(crate) fn gather(
    world: &World,
    from: Buffer,
    into: impl FnOnce() -> Outcome<Blocks>,
    root: c_int,
    comm: c_int,
) -> Outcome<Plan> {
    let sides = sides(world, comm)?;
    let (root, rank, first) = (root_of(&sides, root)?, sides.rank as u32, sides.other.start as u32);
    let into = if root == Root::Own { into()? } else { Vec::new() };
    let own = if let Root::Other(_) = root { Some(block(world, from)?) } else { None };
    Ok(Box::new(move |world, form| {
        let blocks = match (&own, root) {
            (Some(own), Root::Other(root)) => vec![(rank, root as u32, own.pack()?)],
            _ => Vec::new(),
        };
        let sizes: Vec<u64> = own.iter().chain(&into).map(Block::bytes).collect();
        let into = into.clone();
        let finish = move |data: &mut Data, _: Combine<'_>| write_blocks(data, &into, |from| (first + from, rank));
        let write = |script: &mut Script<'_>| {
            script.direct(root, &sizes, true);
            Ok(())
        };
        begin(world, form, (comm, "gather"), write, Data::blocks(blocks, Route::Direct), Box::new(finish))
    }))
}

/// Plans a scatter. `from` gives the blocks on the root only.
pub(crate) fn scatter(
    world: &World,
    from: impl FnOnce() -> Outcome<Blocks>,
    into: Buffer,
    root: c_int,
    comm: c_int,
) -> Outcome<Plan> {
    let sides = sides(world, comm)?;
    let (root, rank, first) = (root_of(&sides, root)?, sides.rank as u32, sides.other.start as u32);
    let from = if root == Root::Own { from()? } else { Vec::new() };
    let result = if let Root::Other(_) = root { Some(block(world, into)?) } else { None };
    Ok(Box::new(move |world, form| {
        let mut blocks = Vec::new();
        for (to, block) in from.iter().enumerate() {
            blocks.push((rank, first + to as u32, block.pack()?));
        }
        let sizes: Vec<u64> = from.iter().chain(&result).map(Block::bytes).collect();
        let into: Blocks = result.iter().cloned().collect();
        let finish = move |data: &mut Data, _: Combine<'_>| match root {
            Root::Other(root) => write_blocks(data, &into, |_| (root as u32, rank)),
            _ => Ok(()),
        };
        let write = |script: &mut Script<'_>| {
            script.direct(root, &sizes, false);
            Ok(())
        };
        begin(world, form, (comm, "scatter"), write, Data::blocks(blocks, Route::Direct), Box::new(finish))
    }))
}

/// Plans an allgather: `into` has a block for each rank of the other group.
///
/// A rank knows the sizes of its own block and of those of the other group; those of its group are taken for equal.
pub(crate) fn allgather(world: &World, from: Buffer, into: Blocks, comm: c_int) -> Outcome<Plan> {
    let sides = sides(world, comm)?;
    let (rank, first, size) = (sides.rank as u32, sides.other.start as u32, sides.own.len());
    let own = block(world, from)?;
    Ok(Box::new(move |world, form| {
        let blocks = vec![(rank, Data::ALL, own.pack()?)];
        let (sent, received) = (vec![own.bytes(); size], into.iter().map(Block::bytes).collect::<Vec<u64>>());
        let into = into.clone();
        let finish = move |data: &mut Data, _: Combine<'_>| write_blocks(data, &into, |from| (first + from, Data::ALL));
        let write = |script: &mut Script<'_>| script.allgather(&sent, &received);
        begin(world, form, (comm, "allgather"), write, carried(blocks), Box::new(finish))
    }))
}

/// Plans an all-to-all: a block to and from each rank of the other group.
pub(crate) fn alltoall(from: Blocks, into: Blocks, comm: c_int) -> Plan {
    Box::new(move |world, form| {
        let sides = sides(world, comm)?;
        let (rank, first) = (sides.rank as u32, sides.other.start as u32);
        let mut blocks = Vec::new();
        for (to, block) in from.iter().enumerate() {
            blocks.push((rank, first + to as u32, block.pack()?));
        }
        let sizes = |blocks: &[Block]| blocks.iter().map(Block::bytes).collect::<Vec<u64>>();
        let (sent, received) = (sizes(&from), sizes(&into));
        let into = into.clone();
        let finish = move |data: &mut Data, _: Combine<'_>| write_blocks(data, &into, |from| (first + from, rank));
        let write = |script: &mut Script<'_>| {
            script.alltoall(&sent, &received);
            Ok(())
        };
        begin(world, form, (comm, "alltoall"), write, Data::blocks(blocks, Route::Direct), Box::new(finish))
    })
}

/// The contributions of the ranks from `first` on, combined in the order of ranks.
fn combined(data: &Data, terms: &Terms, first: u32, size: usize, combine: Combine<'_>) -> Option<Vec<u8>> {
    let Data::Blocks { all, .. } = data else { return None };
    let part = |rank: usize| all.get(&(first + rank as u32, Data::ALL)).map(|bytes| bytes.to_vec());
    let own = part(0)?;
    let algorithm = Algorithm::Linear;
    let mut reduction = Reduction::new(terms.clone(), (0, size), own, &Share::Whole, algorithm, Route::All);
    for rank in 1..size {
        reduction.add(rank as u32, rank as u32 + 1, part(rank)?, combine);
    }
    reduction.result(0, &Share::Whole, combine)
}

/// Plans a reduction of each group for the other, or of the other group for the root.
pub(crate) fn reduce(
    world: &World,
    (from, to): (usize, usize),
    terms: Terms,
    kept: Kept,
    comm: c_int,
) -> Outcome<Plan> {
    let sides = sides(world, comm)?;
    if is_in_place(from as P) {
        return error(ERR_BUFFER, "MPI_IN_PLACE between two groups");
    }
    let root = match &kept {
        Kept::Root(root) => Some(root_of(&sides, *root)?),
        Kept::Share(Share::Prefix { .. }) => {
            world.comms.intra(comm, "a scan")?;
            None
        }
        _ => None,
    };
    let (sends, gets) = match root {
        None => (true, true),
        Some(root) => (matches!(root, Root::Other(_)), root == Root::Own),
    };
    let buffer = |address: usize| Block { address, count: terms.count, ty: Rc::clone(&terms.ty) };
    for (is_used, address) in [(sends, from), (gets, to)] {
        if is_used {
            arguments::buffer(address, terms.count, &terms.ty)?;
        }
    }
    let (own, into) = (buffer(from), buffer(to));
    Ok(Box::new(move |world, form| {
        let (rank, bytes) = (sides.rank, own.bytes());
        let blocks = if sends { vec![(rank as u32, Data::ALL, own.pack()?)] } else { Vec::new() };
        let (first, size, place) = (sides.other.start as u32, sides.other.len(), rank - sides.own.start);
        let counts = if let Kept::Share(Share::Blocks(counts)) = &kept { counts.clone() } else { Vec::new() };
        let sizes: Vec<u64> = counts.iter().map(|&count| own.ty.bytes(count)).collect();
        let (terms, into) = (terms.clone(), into.clone());
        let finish = move |data: &mut Data, combine: Combine<'_>| {
            let Some(result) = combined(data, &terms, first, size, combine).filter(|_| gets) else { return Ok(()) };
            let Some(&count) = counts.get(place) else { return into.unpack(&result, " of a reduction") };
            let start = into.ty.bytes(counts[..place].iter().sum()) as usize;
            let end = (start + into.ty.bytes(count) as usize).min(result.len());
            Block { count, ..into }.unpack(&result[start.min(end)..end], " of a reduction")
        };
        let name = match (&kept, root) {
            (_, Some(_)) => "reduce",
            (Kept::Share(_), _) => "reduce_scatter",
            _ => "allreduce",
        };
        let write = |script: &mut Script<'_>| match (name, root) {
            (_, Some(root)) => script.reduce(root, bytes),
            ("allreduce", _) => script.allreduce(bytes, bytes),
            _ => script.reduce_scatter(bytes, &sizes),
        };
        begin(world, form, (comm, name), write, carried(blocks), Box::new(finish))
    }))
}

/// The numbers of the ranks of this group, and of the other.
pub(crate) type Numbers = (Vec<[c_int; 2]>, Vec<[c_int; 2]>);

/// Exchanges two numbers of each rank of both groups.
pub(crate) fn exchange(world: &mut World, comm: c_int, own: [c_int; 2]) -> Outcome<Numbers> {
    let sides = sides(world, comm)?;
    let bytes: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
    let found: Rc<RefCell<BTreeMap<u32, [c_int; 2]>>> = Rc::default();
    let result = Rc::clone(&found);
    let finish = move |data: &mut Data, _: Combine<'_>| {
        let Data::Blocks { all, .. } = data else { return Ok(()) };
        let number = |bytes: &[u8], at: usize| {
            bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, c_int::from_le_bytes)
        };
        *result.borrow_mut() = all.iter().map(|(key, bytes)| (key.0, [number(bytes, 0), number(bytes, 4)])).collect();
        Ok(())
    };
    let data = carried(vec![(sides.rank as u32, Data::ALL, bytes)]);
    let write = |script: &mut Script<'_>| script.agree(8);
    let request = begin(world, Form::Blocking, (comm, "allgather"), write, data, Box::new(finish))?;
    wait_own(world, request)?;
    let found = found.take();
    let of = |ranks: std::ops::Range<usize>| ranks.filter_map(|rank| found.get(&(rank as u32)).copied()).collect();
    let numbers: Numbers = (of(sides.own.clone()), of(sides.other.clone()));
    if numbers.0.len() == sides.own.len() && numbers.1.len() == sides.other.len() {
        Ok(numbers)
    } else {
        error(ERR_OTHER, "not all ranks have taken part")
    }
}
