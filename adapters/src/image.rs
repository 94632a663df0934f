//! What the image of virtual machines is made of: a script, and the programs that run in a machine.

/// The script that makes the image, and its input files: path and text.
pub const SOURCES: &[(&str, &str)] = &[
    ("prepare", include_str!("../qemu/prepare")),
    ("guest/init", include_str!("../qemu/guest/init")),
    ("guest/tool.c", include_str!("../qemu/guest/tool.c")),
    ("guest/cpi.c", include_str!("../qemu/guest/cpi.c")),
    ("guest/pingpong.c", include_str!("../qemu/guest/pingpong.c")),
    ("guest/progress.c", include_str!("../qemu/guest/progress.c")),
];
