//! Begins collectives.

use std::ffi::c_int;

use trgen::trace::collectives::{Algorithm, Collective};

use super::delivery::start;
use super::waiting::catch_up;
use crate::abi::ERR_ARG;
use crate::collective::{Finish, Running};
use crate::data::{Data, Route};
use crate::error::{Outcome, error};
use crate::world::World;

/// Whether the call that begins a collective waits for its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Blocking,
    /// The non-blocking calls, and the starts of persistent requests.
    NonBlocking,
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
    world.comms.intra(handle)?;
    world.charge();
    // A non-blocking collective goes on whenever its messages are processed: earlier messages must be processed first.
    if form == Form::NonBlocking {
        catch_up(world);
    }
    let now = world.now();
    let comm = world.comms.get_mut(handle)?;
    let algorithm = world.settings.choice.algorithm(&operation, comm.size());
    let data = data(algorithm, Route::of(&operation, algorithm));
    let running = Running::new(comm, operation, algorithm, data, finish, now);
    comm.collectives += 1;
    match running {
        Ok(running) => Ok(start(world, running)),
        Err(failure) => error(ERR_ARG, failure.to_string()),
    }
}
