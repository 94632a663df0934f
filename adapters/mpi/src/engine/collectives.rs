//! Begins collectives.

use std::ffi::c_int;

use trgen::trace::collectives::{Algorithm, Collective, ExpandError};

use super::delivery;
use super::waiting::catch_up;
use crate::abi::ERR_ARG;
use crate::collective::{Finish, PERSISTENT, Running};
use crate::communicator::Comm;
use crate::data::{Data, Route};
use crate::error::{Outcome, error};
use crate::world::World;

/// Whether the call that begins a collective waits for its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Blocking,
    NonBlocking,
    /// The start of a persistent request, which is the collective of this number among those initialized on its
    /// communicator: it matches starts of the same number, whatever else the ranks begin before it (MPI-4.0, 6.13).
    Started(u64),
}

/// Begins a collective and returns the handle of its request. `data` makes the initial data for the chosen algorithm and
/// its route.
pub(crate) fn begin(
    world: &mut World,
    form: Form,
    handle: c_int,
    operation: Collective,
    data: impl FnOnce(Algorithm, Route) -> Data,
    finish: Finish,
) -> Outcome<c_int> {
    world.comms.intra(handle, operation.name())?;
    let choice = world.settings.choice.clone();
    start(world, form, handle, |comm, number, now| {
        let algorithm = choice.algorithm(&operation, comm.size());
        let data = data(algorithm, Route::of(&operation, algorithm));
        Running::new(comm, number, operation, algorithm, data, finish, now)
    })
}

/// The number of the next collective of a communicator, as its messages have it.
pub(crate) fn number_of(comm: &Comm, form: Form) -> u64 {
    match form {
        Form::Blocking | Form::NonBlocking => comm.collectives,
        Form::Started(number) => PERSISTENT + number,
    }
}

/// Begins the collective that `make` makes of its communicator, its number and the time \[ps\]. Returns the handle of its request.
pub(crate) fn start(
    world: &mut World,
    form: Form,
    handle: c_int,
    make: impl FnOnce(&Comm, u64, u64) -> Result<Running, ExpandError>,
) -> Outcome<c_int> {
    world.charge();
    // A non-blocking collective goes on whenever its messages are processed: earlier messages must be processed first.
    if form != Form::Blocking {
        catch_up(world);
    }
    let now = world.now();
    let comm = world.comms.get_mut(handle)?;
    let running = make(comm, number_of(comm, form), now);
    comm.collectives += u64::from(!matches!(form, Form::Started(_)));
    match running {
        Ok(running) => Ok(delivery::start(world, running, handle)),
        Err(failure) => error(ERR_ARG, failure.to_string()),
    }
}
