//! A plugin of QEMU that makes its machine a stepped guest of a simulated network.
//!
//! `qemu-system-x86_64 -plugin libfsin_qemu_plugin.so,address=unix:/run/network,node=0,peers=0+1 ...` joins QEMU's hub
//! 0, to which the machine's network interface is connected (`-netdev hubport,hubid=0`). One timer of the machine's
//! clock ends its steps: its callback waits, under QEMU's global lock, until the network lets the machine go on, so
//! that the machine's clock stands still. `fsin machines up` writes the whole command line.
//!
//! Two rules keep a machine deterministic. Its clock must count instructions (`-icount`). And the timer is armed once
//! in a callback, as its last act: with `-icount sleep=off`, arming a timer while the processor idles moves the clock
//! on to the earliest timer. A third one is kept at each `hlt` of the machine (see `qemu`).
//!
//! Decisions: docs/decisions/0134-machines-in-lockstep.md, docs/decisions/0153-halts-of-machines.md.
//!
//! - `qemu`: QEMU's functions; `settings`: the plugin's arguments; here: its callbacks. What they do is in
//!   `adapters::machine`, which knows no QEMU.

mod qemu;
mod settings;

use std::ffi::{c_char, c_int, c_void};
use std::io::{self, Write};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use adapters::guest::GuestError;
use adapters::machine::{Machine, Taken};

use qemu::{Client, Id, Qemu, Timer};
use settings::Settings;

/// The version of the plugin interface, which QEMU reads before it calls anything. Every version contains all that the
/// plugin uses, but QEMU 7.2 accepts only the first one, and QEMU 9 and later only the second and later ones.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "QEMU's name")]
pub static qemu_plugin_version: AtomicI32 = AtomicI32::new(1);

/// The dynamic linker calls this function when it has loaded the plugin.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = choose_version;

/// Sets the version of the plugin interface that the running QEMU accepts.
extern "C" fn choose_version() {
    if qemu::is_of_second_version() {
        qemu_plugin_version.store(2, Ordering::Relaxed);
    }
}

/// The state shared by the callbacks. QEMU calls them under its global lock, one at a time.
struct Shared {
    qemu: Qemu,
    settings: Settings,
    /// `None` before the machine has a processor.
    card: Option<Card>,
}

/// The network interface of the machine.
struct Card {
    machine: Machine,
    /// The client of QEMU's hub that sends frames to the machine.
    client: Client,
    /// The timer that ends the steps of the machine.
    timer: Timer,
}

/// The state, from the call of `qemu_plugin_install` to the end of QEMU.
static SHARED: Mutex<Option<Shared>> = Mutex::new(None);

/// QEMU's functions for the callbacks of instructions, which are called without QEMU's global lock and must not wait.
static QEMU: OnceLock<Qemu> = OnceLock::new();

/// Locks the shared state.
fn shared() -> MutexGuard<'static, Option<Shared>> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a message to stderr.
fn print(text: &str) {
    // The message is lost if stderr is closed.
    let _ = writeln!(io::stderr(), "fsin plugin: {text}");
}

/// Ends QEMU, because its machine has lost the network.
fn give_up(error: &GuestError) -> ! {
    print(&format!("{error}; {}", error.remedy()));
    qemu::exit(1)
}

/// Called when QEMU loads the plugin.
///
/// # Safety
/// QEMU's contract: `arguments` are `count` strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: Id,
    _: *const c_void,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    // SAFETY: by this function's contract.
    let words = unsafe { qemu::words(count, arguments) };
    let settings = match Settings::parse(&words) {
        Ok(settings) => settings,
        Err(what) => {
            print(&what);
            return 1;
        }
    };
    if settings.parent.is_some_and(|parent| !qemu::end_with(parent)) {
        print("the command that has started this machine has ended");
        return 1;
    }
    match Qemu::find() {
        Ok(qemu) => {
            qemu.register(id, on_cpu, on_exit);
            qemu.watch_translations(id, on_translation);
            let _ = QEMU.set(qemu);
            *shared() = Some(Shared { qemu, settings, card: None });
            0
        }
        Err(missing) => {
            print(&format!(
                "this QEMU lacks {}; use QEMU 7.2 or 10.0, with which the plugin was tried",
                missing.join(", ")
            ));
            1
        }
    }
}

/// Called when the machine gets its processor: joins the hub and the simulated network, and waits until time begins.
extern "C" fn on_cpu(_: Id, cpu: u32) {
    let mut shared = shared();
    let Some(Shared { qemu, settings, card }) = &mut *shared else { return };
    if cpu > 0 || card.is_some() {
        print("a machine has one processor (-smp 1): several do not run in a fixed order");
        qemu::exit(1);
    }
    let mut machine = Machine::connect(&settings.address, &settings.config, settings.peers.clone())
        .unwrap_or_else(|error| give_up(&error));
    let has_steps = machine.next_turn().unwrap_or_else(|error| give_up(&error)).is_some();
    let (client, timer) = (qemu.join(on_frame), qemu.timer(on_timer));
    *card = Some(Card { machine, client, timer });
    if has_steps {
        qemu.watch(on_state);
    }
}

/// Called when QEMU translates a block of instructions.
extern "C" fn on_translation(_: Id, block: *mut c_void) {
    if let Some(qemu) = QEMU.get() {
        // SAFETY: QEMU hands a block.
        unsafe { qemu.watch_halts(block, on_halt) };
    }
}

/// Called by the thread of the processor before it halts.
extern "C" fn on_halt(_: u32, _: *mut c_void) {
    if let Some(qemu) = QEMU.get() {
        qemu.keep_awake();
    }
}

/// Called when the machine starts or stops running. At the start the timer is armed for the current time: the processor
/// still idles, and a later timer would move the clock on.
extern "C" fn on_state(_: *mut c_void, runs: bool, _: c_int) {
    if let (true, Some(Shared { qemu, card: Some(card), .. })) = (runs, &*shared()) {
        qemu.arm(card.timer, qemu.now());
    }
}

/// Called when the machine sends a frame.
extern "C" fn on_frame(_: *mut c_void, bytes: *const u8, size: usize) -> isize {
    // SAFETY: QEMU hands a frame of this size.
    let frame = unsafe { qemu::frame(bytes, size) };
    let mut shared = shared();
    if let Some(Shared { qemu, card: Some(card), .. }) = &mut *shared {
        let now = qemu.now();
        match card.machine.send(now, frame) {
            Ok(Taken::Frame) => {}
            Ok(Taken::Mark) => qemu.arm(card.timer, now),
            Err(error) => give_up(&error),
        }
    }
    isize::try_from(size).unwrap_or(0)
}

/// Called when a step is over, a frame arrives, or the machine has set a mark.
extern "C" fn on_timer(_: *mut c_void) {
    let (qemu, client, timer, frames) = {
        let mut shared = shared();
        let Some(Shared { qemu, card: Some(card), .. }) = &mut *shared else { return };
        let frames = card.machine.turn(qemu.now(), qemu.idle_until()).unwrap_or_else(|error| give_up(&error));
        (*qemu, card.client, card.timer, frames)
    };
    // The lock is free here: the machine may answer a frame at once, which calls `on_frame`.
    for frame in &frames {
        qemu.send(client, frame);
    }
    let next = match &mut *shared() {
        Some(Shared { card: Some(card), .. }) if !card.machine.is_off() => {
            card.machine.next_turn().unwrap_or_else(|error| give_up(&error))
        }
        // What it does from now on is its own affair.
        Some(shared) => {
            if let Some(card) = shared.card.take() {
                finish(card, shared.qemu.now());
            }
            None
        }
        None => None,
    };
    if let Some(next) = next {
        qemu.arm(timer, next);
    }
}

/// Says goodbye at `now` \[ns\].
fn finish(card: Card, now: u64) {
    if let Err(error) = card.machine.finish(now) {
        print(&format!("{error}; {}", error.remedy()));
    }
}

/// Called when QEMU ends.
extern "C" fn on_exit(_: Id, _: *mut c_void) {
    let Some(Shared { qemu, card: Some(card), .. }) = shared().take() else { return };
    finish(card, qemu.now());
}
