//! The header is what the sources say: written of them, with their comments, and compared.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const HEAD: &str = "\
/* The C library of fsin: messages of a program through a simulated network.
 *
 * Written of the sources: UPDATE_HEADER=1 cargo test -p fsin-c header
 *
 * A network is a number. Times are picoseconds from its creation. Every call may come from any thread; calls of one
 * network wait for each other. A call that fails returns what its comment says, and fsin_error() tells why.
 */
#ifndef FSIN_H
#define FSIN_H

#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {
#endif
";

const FOOT: &str = "
#ifdef __cplusplus
}
#endif

#endif
";

/// A type of Rust as C writes it, with a blank before what follows.
fn in_c(of_rust: &str) -> &'static str {
    match of_rust {
        "u32" => "uint32_t ",
        "u64" => "uint64_t ",
        "c_int" => "int ",
        "*const c_char" => "const char *",
        "*mut fsin_event" => "fsin_event *",
        other => panic!("no type of C for {other}"),
    }
}

/// `name: type` as C declares it.
fn declared(of_rust: &str) -> String {
    let (name, kind) = of_rust.split_once(": ").unwrap();
    format!("{}{name}", in_c(kind))
}

/// Declarations of C for what the sources export.
fn header(source: &str) -> String {
    let mut text = HEAD.to_owned();
    let mut comment = String::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if let Some(words) = line.strip_prefix("///") {
            // What Rust alone must know.
            if words.starts_with(" # Safety") {
                comment.truncate(comment.trim_end_matches("//\n").len());
                lines.by_ref().take_while(|line| line.starts_with("///")).for_each(drop);
                continue;
            }
            let _ = writeln!(comment, "//{}", words.replace('`', ""));
            continue;
        } else if let Some(constant) = line.strip_prefix("pub const ") {
            let (name, value) = constant.split_once(": ").unwrap();
            let value = value.trim_end_matches(';').split_once(" = ").unwrap().1;
            let value = if value == "u64::MAX" { "UINT64_MAX" } else { value };
            let _ = write!(text, "\n{comment}#define {name} {value}\n");
        } else if let Some(name) = line.strip_prefix("pub struct ") {
            let name = name.trim_end_matches(" {");
            let _ = write!(text, "\n{comment}typedef struct {name} {{\n");
            for field in lines.by_ref().take_while(|line| *line != "}") {
                match field.trim().strip_prefix("///") {
                    Some(words) => writeln!(text, "  //{words}").unwrap(),
                    None => {
                        writeln!(text, "  {};", declared(field.trim().trim_start_matches("pub ").trim_end_matches(',')))
                            .unwrap()
                    }
                }
            }
            let _ = writeln!(text, "}} {name};");
        } else if let Some((_, function)) = line.split_once("extern \"C\" fn ") {
            let (name, rest) = function.split_once('(').unwrap();
            let (arguments, result) = rest.split_once(") -> ").unwrap();
            let arguments: Vec<String> = arguments.split(", ").filter(|word| !word.is_empty()).map(declared).collect();
            let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
            let _ = write!(text, "\n{comment}{}{name}({arguments});\n", in_c(result.trim_end_matches(" {")));
        } else if line.starts_with("#[") {
            continue;
        }
        comment.clear();
    }
    text + FOOT
}

#[test]
fn the_header_is_that_of_the_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = header(&fs::read_to_string(folder.join("src/lib.rs")).unwrap());
    let exported = header.matches("fsin_event;").count() + header.matches("(").count();
    assert!(exported > 8, "{header}");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        fs::write(folder.join("fsin.h"), &header).unwrap();
    }
    assert_eq!(fs::read_to_string(folder.join("fsin.h")).unwrap(), header, "write it again: UPDATE_HEADER=1");
}
