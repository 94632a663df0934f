//! The networks of the process, by number.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, RwLock};

use fsin_experiment::Session;

/// The networks, and how many have been opened.
#[derive(Default)]
struct Table {
    networks: HashMap<u64, Arc<Mutex<Session>>>,
    opened: u64,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

/// The error of a number that no network has.
fn unknown(number: u64) -> String {
    match number {
        0 => "network 0 is none: fsin_open has failed, and fsin_error said why".to_owned(),
        _ => format!("there is no network {number}: it has been closed, or was never opened"),
    }
}

/// The error of a lock whose holder panicked.
const BROKEN: &str = "this network has failed by a defect of fsin: please report it";

/// Adds a network. Returns its number, which no other one has had.
pub(crate) fn add(session: Session) -> Result<u64, String> {
    let mut table = TABLE.write().map_err(|_| BROKEN)?;
    table.opened += 1;
    let number = table.opened;
    table.networks.insert(number, Arc::new(Mutex::new(session)));
    Ok(number)
}

/// Removes a network. A call of another thread that is under way ends first.
pub(crate) fn remove(number: u64) -> Result<(), String> {
    let removed = TABLE.write().map_err(|_| BROKEN)?.networks.remove(&number);
    removed.map(drop).ok_or_else(|| unknown(number))
}

/// Calls this with the network of a number.
pub(crate) fn with<T>(number: u64, body: impl FnOnce(&mut Session) -> T) -> Result<T, String> {
    // Without the lock of the table: a simulation holds up no other network.
    let session = TABLE.read().map_err(|_| BROKEN)?.networks.get(&number).map(Arc::clone);
    let session = session.ok_or_else(|| unknown(number))?;
    let mut session = session.lock().map_err(|_| BROKEN)?;
    Ok(body(&mut session))
}
