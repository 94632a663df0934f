//! The functions of QEMU that the plugin calls, declared by hand and looked up when it is loaded.
//!
//! QEMU exports its functions to plugins, though only those of its plugin interface are documented. The others are part
//! of its sources since version 2.0 with these parameters.
//!
//! # Halts
//! With `-icount`, an idle machine's clock is moved to the earliest timer by QEMU's main thread. A processor counts as
//! idle as soon as it executes `hlt`, but the instructions that it has executed since its clock was last read are added
//! to the clock a moment later, by its own thread. If the main thread looks in between, it measures the distance to the
//! timer from the older time, and the clock ends up a few instructions late. So before each `hlt` the plugin queues
//! work for the processor (which does nothing): a processor with work is not idle, and takes the work up only after it
//! has brought its clock up to date.

use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};
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

/// The instruction `hlt` of x86.
const HLT: u8 = 0xf4;
/// QEMU's `QEMU_PLUGIN_CB_NO_REGS`.
const NO_REGISTERS: c_int = 0;
/// Linux's `PR_SET_PDEATHSIG`, and the signal.
const PARENT_DEATH_SIGNAL: c_int = 1;
const SIGKILL: c_ulong = 9;

/// Identifier of a plugin.
pub(super) type Id = u64;

// Types of the callbacks.
type OnCpu = extern "C" fn(Id, u32);
type OnExit = extern "C" fn(Id, *mut c_void);
type OnTimer = extern "C" fn(*mut c_void);
type OnState = extern "C" fn(*mut c_void, bool, c_int);
type OnTranslation = extern "C" fn(Id, *mut c_void);
type OnInstruction = extern "C" fn(u32, *mut c_void);
type Work = extern "C" fn(*mut c_void, *mut c_void);

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
    qemu_get_cpu: fn(c_int) -> *mut c_void;
    async_run_on_cpu: fn(*mut c_void, Work, *mut c_void);
    qemu_plugin_register_vcpu_tb_trans_cb: fn(Id, OnTranslation);
    qemu_plugin_tb_n_insns: fn(*const c_void) -> usize;
    qemu_plugin_tb_get_insn: fn(*const c_void, usize) -> *mut c_void;
    qemu_plugin_insn_size: fn(*const c_void) -> usize;
    qemu_plugin_insn_data: fn(*const c_void, *mut u8, usize) -> usize;
    qemu_plugin_register_vcpu_insn_exec_cb: fn(*mut c_void, OnInstruction, c_int, *mut c_void);
}

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn _exit(status: c_int) -> !;
    fn prctl(option: c_int, ...) -> c_int;
    fn getppid() -> c_int;
}

/// Has this process end with the process `parent`, which has started it. False if that one has ended already.
pub(super) fn end_with(parent: u32) -> bool {
    // SAFETY: the option takes one number. It is part of Linux since 2.1.57.
    let is_set = unsafe { prctl(PARENT_DEATH_SIGNAL, SIGKILL) } == 0;
    // SAFETY: it may be called at any time.
    is_set && u32::try_from(unsafe { getppid() }) == Ok(parent)
}

/// Work that does nothing.
extern "C" fn nothing(_: *mut c_void, _: *mut c_void) {}

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

    /// Asks QEMU to call `call` when it translates instructions.
    pub(super) fn watch_translations(&self, id: Id, call: OnTranslation) {
        // SAFETY: `call` is a function of this library, which stays loaded until QEMU ends.
        unsafe { (self.qemu_plugin_register_vcpu_tb_trans_cb)(id, call) };
    }

    /// Asks QEMU to call `call` before each `hlt` of a translated block.
    ///
    /// # Safety
    /// `block` must be what QEMU passes to the function of [`watch_translations`](Self::watch_translations).
    pub(super) unsafe fn watch_halts(&self, block: *mut c_void, call: OnInstruction) {
        // SAFETY: the block is QEMU's, and lives during this call, as its instructions do.
        unsafe {
            for index in 0..(self.qemu_plugin_tb_n_insns)(block) {
                let instruction = (self.qemu_plugin_tb_get_insn)(block, index);
                if (self.qemu_plugin_insn_size)(instruction) == 1 && self.first_byte(instruction) == HLT {
                    (self.qemu_plugin_register_vcpu_insn_exec_cb)(instruction, call, NO_REGISTERS, ptr::null_mut());
                }
            }
        }
    }

    /// The first byte of an instruction of at least one byte.
    ///
    /// # Safety
    /// `instruction` must be one of QEMU's.
    unsafe fn first_byte(&self, instruction: *const c_void) -> u8 {
        let mut byte = 0;
        // SAFETY: QEMU before 9.1 ignores all but the first parameter, and returns the address of the bytes. Later ones
        // copy as many bytes as fit, and return their number, which is no address.
        unsafe {
            match (self.qemu_plugin_insn_data)(instruction, &raw mut byte, 1) {
                0 | 1 => byte,
                address => *ptr::with_exposed_provenance::<u8>(address),
            }
        }
    }

    /// Gives the processor work that does nothing. Called in its thread.
    pub(super) fn keep_awake(&self) {
        // SAFETY: the machine has a processor, and `nothing` takes any values.
        unsafe { (self.async_run_on_cpu)((self.qemu_get_cpu)(0), nothing, ptr::null_mut()) };
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
