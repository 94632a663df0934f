//! Macros that define and export calls.

/// The communicator, window or file of a call: its argument `comm`, `win`, `file` or `session`, or `MPI_COMM_WORLD`. Each argument is given twice, to be compared and
/// to be used.
macro_rules! comm_of {
    () => { $crate::abi::COMM_WORLD };
    (comm $comm:ident, $($rest:tt)*) => { $crate::arguments::Argument::handle($comm) };
    (win $win:ident, $($rest:tt)*) => { $crate::arguments::Argument::handle($win) };
    (session $session:ident, $($rest:tt)*) => { $crate::arguments::Argument::handle($session) };
    (file $file:ident, $($rest:tt)*) => { $crate::arguments::Argument::handle($file) };
    ($other:ident $same:ident, $($rest:tt)*) => { comm_of!($($rest)*) };
}

/// Defines calls that return an error code, each under its name and under that of the profiling interface. `$world` is
/// the name by which their bodies know the state of this rank. An argument that must not be null is checked first; an
/// error without a communicator of its own is one of the communicator of the call.
macro_rules! mpi {
    (|$world:ident| $( fn $name:ident ( $($a:ident : $t:ty),* $(,)? ) $body:block )*) => { $(
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe, unused_variables, reason = "not every call touches memory of the program, or the state")]
        unsafe extern "C" fn $name($($a: $t),*) -> std::ffi::c_int {
            $crate::entry::call(stringify!($name), comm_of!($($a $a,)*), |$world| {
                $(
                    if const { $crate::arguments::is_required(stringify!($a)) }
                        && $crate::arguments::Argument::is_missing($a)
                    {
                        return $crate::arguments::missing(stringify!($a));
                    }
                )*
                unsafe { $body }
            })
        }
        const _: () = {
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            unsafe extern "C" fn profiling($($a: $t),*) -> std::ffi::c_int {
                unsafe { $name($($a),*) }
            }
        };
    )* };
}

/// Defines calls that exist for counts of type `int` and, with the suffix `_c`, for counts of type `MPI_Count`. In the
/// parameters `N` is the type of counts, and `D` that of displacements.
macro_rules! large {
    (|$world:ident| $( fn $name:ident / $large:ident ( $($a:ident : $t:ty),* $(,)? ) $body:block )*) => { $(
        #[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "other sizes of counts")]
        mod $name {
            #[allow(unused_imports, reason = "a call may use none of them")]
            use super::*;
            #[allow(dead_code, reason = "not every call has counts and displacements")]
            type N = std::ffi::c_int;
            #[allow(dead_code, reason = "as above")]
            type D = std::ffi::c_int;
            mpi! { |$world| fn $name($($a: $t),*) $body }
        }
        #[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "as above")]
        mod $large {
            #[allow(unused_imports, reason = "a call may use none of them")]
            use super::*;
            #[allow(dead_code, reason = "not every call has counts and displacements")]
            type N = i64;
            #[allow(dead_code, reason = "as above")]
            type D = i64;
            mpi! { |$world| fn $large($($a: $t),*) $body }
        }
    )* };
}

/// Defines calls that return a value, under both names.
macro_rules! values {
    ($( fn $name:ident / $profiling:ident($($a:ident : $t:ty),*) -> $r:ty $body:block )*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($a: $t),*) -> $r $body
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $profiling($($a: $t),*) -> $r $body
    )* };
}

/// Defines calls that are not implemented.
macro_rules! unsupported {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() -> std::ffi::c_int {
            $crate::entry::unsupported(stringify!($name))
        }
        const _: () = {
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            unsafe extern "C" fn profiling() -> std::ffi::c_int {
                $crate::entry::unsupported(stringify!($name))
            }
        };
    )* };
}
