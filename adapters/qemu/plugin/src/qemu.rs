//! The functions of QEMU that the plugin calls, declared by hand and looked up when it is loaded.
//!
//! QEMU exports its functions to plugins, though only those of its plugin interface are documented. The others are part
//! of its sources since version 2.0 with these parameters.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr;

/// QEMU's `QEMU_CLOCK_VIRTUAL`: the clock of the machine.
const VIRTUAL: c_int = 1;
/// QEMU's `NET_CLIENT_DRIVER_SOCKET`: a network client that reaches another process.
const SOCKET: c_int = 5;
/// A mask of timer attributes that selects all timers.
const ALL: c_int = !0;
/// \[bytes\] Room for QEMU's `NetClientState` (376 bytes in 7.2).
const CLIENT: usize = 4096;

/// A network client of QEMU.
#[derive(Clone, Copy)]
pub(super) struct Client(*mut c_void);

/// A timer of QEMU.
#[derive(Clone, Copy)]
pub(super) struct Timer(*mut c_void);

// SAFETY: both are only handed back to QEMU, in callbacks, which QEMU calls under its global lock.
unsafe impl Send for Client {}
// SAFETY: as above.
unsafe impl Send for Timer {}

/// QEMU's `NetClientInfo`: the fields that the plugin sets, followed by zeros for all other fields.
#[repr(C)]
struct ClientInfo {
    /// Kind of client: [`SOCKET`].
    kind: c_int,
    /// \[bytes\] Memory that QEMU allocates for the client: [`CLIENT`].
    size: usize,
    /// Called with each frame from the machine.
    receive: extern "C" fn(*mut c_void, *const u8, usize) -> isize,
    /// All other fields, which are null.
    rest: [usize; 61],
}

/// Identifier of a plugin.
pub(super) type Id = u64;

// Types of the callbacks.
type OnCpu = extern "C" fn(Id, u32);
type OnExit = extern "C" fn(Id, *mut c_void);
type OnTimer = extern "C" fn(*mut c_void);
type OnState = extern "C" fn(*mut c_void, bool, c_int);

/// Defines a table of functions of QEMU, which are looked up by name.
macro_rules! functions {
    ($($name:ident: fn($($parameter:ty),*) $(-> $result:ty)?;)*) => {
        /// The addresses of QEMU's functions.
        #[derive(Clone, Copy)]
        pub(super) struct Qemu {
            $($name: unsafe extern "C" fn($($parameter),*) $(-> $result)?,)*
        }

        impl Qemu {
            /// Looks all functions up.
            ///
            /// # Errors
            /// The names of those that this QEMU lacks.
            pub(super) fn find() -> Result<Self, Vec<&'static str>> {
                let mut missing = Vec::new();
                $(let $name = find(concat!(stringify!($name), "\0"));
                if $name.is_null() {
                    missing.push(stringify!($name));
                })*
                if !missing.is_empty() {
                    return Err(missing);
                }
                // SAFETY: none is null, and QEMU declares them with these parameters.
                Ok(unsafe { Self { $($name: mem::transmute::<*mut c_void,
                    unsafe extern "C" fn($($parameter),*) $(-> $result)?>($name),)* } })
            }
        }
    };
}

functions! {
    qemu_plugin_register_vcpu_init_cb: fn(Id, OnCpu);
    qemu_plugin_register_atexit_cb: fn(Id, OnExit, *mut c_void);
    net_hub_add_port: fn(c_int, *const c_char, *mut c_void) -> *mut c_void;
    qemu_new_net_client: fn(*const ClientInfo, *mut c_void, *const c_char, *const c_char) -> *mut c_void;
    qemu_send_packet: fn(*mut c_void, *const u8, c_int) -> isize;
    timer_init_full: fn(*mut c_void, *mut c_void, c_int, c_int, c_int, OnTimer, *mut c_void);
    timer_mod_ns: fn(*mut c_void, i64);
    qemu_add_vm_change_state_handler: fn(OnState, *mut c_void) -> *mut c_void;
    qemu_clock_get_ns: fn(c_int) -> i64;
    qemu_clock_deadline_ns_all: fn(c_int, c_int) -> i64;
    all_cpu_threads_idle: fn() -> bool;
}

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn _exit(status: c_int) -> !;
}

/// True if this QEMU has the second version of its plugin interface.
pub(super) fn is_of_second_version() -> bool {
    !find("qemu_plugin_scoreboard_new\0").is_null()
}

/// The address of a function of this process, whose name ends with a zero; null if there is none.
fn find(name: &str) -> *mut c_void {
    // SAFETY: every name ends with a zero; null stands for the symbols of the whole process.
    unsafe { dlsym(ptr::null_mut(), name.as_ptr().cast()) }
}

/// Ends the process at once: the handlers of a normal end would wait for the caller.
pub(super) fn exit(status: c_int) -> ! {
    // SAFETY: it takes any status.
    unsafe { _exit(status) }
}

/// Copies of the arguments that QEMU passes to a plugin.
///
/// # Safety
/// `words` must point to `count` strings.
pub(super) unsafe fn words(count: c_int, words: *const *const c_char) -> Vec<String> {
    // SAFETY: the caller says so.
    let word = |index| unsafe { CStr::from_ptr(*words.add(index)) }.to_string_lossy().into_owned();
    (0..usize::try_from(count).unwrap_or(0)).map(word).collect()
}

/// The bytes of a frame.
///
/// # Safety
/// `bytes` must point to `size` bytes that live as long as the result is used.
pub(super) unsafe fn frame<'a>(bytes: *const u8, size: usize) -> &'a [u8] {
    if bytes.is_null() || size == 0 {
        return &[];
    }
    // SAFETY: the caller says so.
    unsafe { std::slice::from_raw_parts(bytes, size) }
}

impl Qemu {
    /// Asks QEMU to call `begin` when the machine gets its processor (its networks exist by then), and `end` when QEMU
    /// ends.
    pub(super) fn register(&self, id: Id, begin: OnCpu, end: OnExit) {
        // SAFETY: `begin` and `end` are functions of this library, which stays loaded until QEMU ends.
        unsafe {
            (self.qemu_plugin_register_vcpu_init_cb)(id, begin);
            (self.qemu_plugin_register_atexit_cb)(id, end, ptr::null_mut());
        }
    }

    /// Asks QEMU to call `call` when the machine begins to run, and when it is stopped.
    pub(super) fn watch(&self, call: OnState) {
        // SAFETY: `call` is a function of this library, which stays loaded until QEMU ends.
        unsafe { (self.qemu_add_vm_change_state_handler)(call, ptr::null_mut()) };
    }

    /// Joins hub 0 as a network client that receives frames by `receive`.
    pub(super) fn join(&self, receive: extern "C" fn(*mut c_void, *const u8, usize) -> isize) -> Client {
        let info = Box::leak(Box::new(ClientInfo { kind: SOCKET, size: CLIENT, receive, rest: [0; 61] }));
        // SAFETY: the texts end with a zero and are copied; `info` is never freed, and larger than QEMU's.
        unsafe {
            let port = (self.net_hub_add_port)(0, c"fsin-port".as_ptr(), ptr::null_mut());
            Client((self.qemu_new_net_client)(info, port, c"fsin".as_ptr(), c"fsin".as_ptr()))
        }
    }

    /// Sends the machine a frame.
    pub(super) fn send(&self, client: Client, frame: &[u8]) {
        let Ok(length) = c_int::try_from(frame.len()) else { return };
        // SAFETY: the client is QEMU's; it copies frames that it queues.
        unsafe { (self.qemu_send_packet)(client.0, frame.as_ptr(), length) };
    }

    /// A timer of the machine's clock, which is not armed.
    pub(super) fn timer(&self, call: OnTimer) -> Timer {
        // QEMU's timer has 48 bytes.
        let timer = Timer(ptr::from_mut(Box::leak(Box::new([0u64; 64]))).cast());
        // SAFETY: the memory is never freed, and null stands for the timers of the main loop.
        unsafe { (self.timer_init_full)(timer.0, ptr::null_mut(), VIRTUAL, 1, 0, call, ptr::null_mut()) };
        timer
    }

    /// Arms a timer, for a time in nanoseconds.
    pub(super) fn arm(&self, timer: Timer, time: u64) {
        // SAFETY: the timer has been initialised.
        unsafe { (self.timer_mod_ns)(timer.0, i64::try_from(time).unwrap_or(i64::MAX)) };
    }

    /// \[ns\] The machine's clock.
    pub(super) fn now(&self) -> u64 {
        // SAFETY: it may be called at any time.
        u64::try_from(unsafe { (self.qemu_clock_get_ns)(VIRTUAL) }).unwrap_or(0)
    }

    /// \[ns\] The time at which the first timer of an idle machine expires; `None` if the machine is not idle. Call it
    /// only while the timer of the plugin is not armed.
    pub(super) fn idle_until(&self) -> Option<u64> {
        // SAFETY: QEMU calls the plugin under its global lock, which is all that these need.
        let (idle, deadline) =
            unsafe { ((self.all_cpu_threads_idle)(), (self.qemu_clock_deadline_ns_all)(VIRTUAL, ALL)) };
        let later = u64::try_from(deadline).unwrap_or(u64::MAX / 4);
        idle.then(|| self.now().saturating_add(later))
    }
}
