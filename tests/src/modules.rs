//! The modules of a crate, which names each takes from which other, and the cycles among them.
//!
//! A module is a file. The module graph follows the paths in its code that begin with `crate::`, `super::` or `self::`,
//! and imports that begin with a child. A path leads to the file that defines the item: a name that a module merely
//! passes on (`pub use child::Name`) leads to where it comes from. Two things are left out: what `lib.rs` or `mod.rs`
//! names below itself, because a folder's own file lists its contents, and modules for tests (`#[cfg(test)]`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// A module's place: the names on the path from the root of the crate, which itself is the empty path.
pub type Place = Vec<String>;

/// A piece of code: a word, or a punctuation mark; `::` is one mark.
type Token = String;

/// One name brought in by a `use`: the path, and the name under which the module knows it.
#[derive(Debug)]
struct Import {
    path: Vec<String>,
    name: String,
    is_public: bool,
}

/// What one file contains, as far as it concerns other files.
#[derive(Debug, Default)]
struct Module {
    imports: Vec<Import>,
    /// Paths in code, outside of imports.
    paths: Vec<Vec<String>>,
    /// Names of the items that it defines.
    items: BTreeSet<String>,
    /// Children whose files hold tests alone.
    for_tests: BTreeSet<String>,
}

/// The modules of a crate and the arrows between them.
#[derive(Debug)]
pub struct Graph {
    modules: BTreeMap<Place, Module>,
}

impl Graph {
    /// Reads the sources below the `src` folder of a crate.
    ///
    /// # Errors
    /// A file or folder cannot be read.
    pub fn of_folder(src: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        collect(src, &mut Vec::new(), &mut files)?;
        Ok(Self::of_files(files))
    }

    /// The graph of these files: the place of each, and its text. A root in two files (`lib.rs` and `main.rs`) is one
    /// module.
    pub fn of_files(files: impl IntoIterator<Item = (Place, String)>) -> Self {
        let mut modules: BTreeMap<Place, Module> = BTreeMap::new();
        for (place, text) in files {
            let read = parse(&tokens(&text));
            let module = modules.entry(place).or_default();
            module.imports.extend(read.imports);
            module.paths.extend(read.paths);
            module.items.extend(read.items);
            module.for_tests.extend(read.for_tests);
        }
        let of_tests = |place: &Place| {
            (0..place.len()).any(|depth| {
                modules.get(&place[..depth]).is_some_and(|parent| parent.for_tests.contains(&place[depth]))
            })
        };
        let tests: Vec<Place> = modules.keys().filter(|place| of_tests(place)).cloned().collect();
        tests.iter().for_each(|place| {
            modules.remove(place);
        });
        Self { modules }
    }

    /// The modules that each module names, without those below itself.
    #[must_use]
    pub fn arrows(&self) -> BTreeMap<Place, BTreeSet<Place>> {
        let arrows = |(from, module): (&Place, &Module)| {
            let paths = module.imports.iter().map(|import| &import.path).chain(&module.paths);
            let ends = paths.filter_map(|path| self.resolve(from, path, 0)).filter(|to| !to.starts_with(from));
            (from.clone(), ends.collect())
        };
        self.modules.iter().map(arrows).collect()
    }

    /// The groups of modules each of which leads to every other of its group: the strongly connected components of more
    /// than one module. `within` limits the graph to the modules at and below a place.
    #[must_use]
    pub fn cycles(&self, within: &[String]) -> Vec<Vec<Place>> {
        let arrows: BTreeMap<Place, BTreeSet<Place>> =
            self.arrows().into_iter().filter(|(place, _)| place.starts_with(within)).collect();
        let reached = |from: &Place| {
            let (mut found, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(place) = open.pop() {
                for next in arrows.get(place).into_iter().flatten().filter(|next| arrows.contains_key(*next)) {
                    if found.insert(next) {
                        open.push(next);
                    }
                }
            }
            found
        };
        let closure: BTreeMap<&Place, BTreeSet<&Place>> = arrows.keys().map(|place| (place, reached(place))).collect();
        let mut groups: BTreeSet<Vec<Place>> = BTreeSet::new();
        for (&place, reached) in &closure {
            if reached.contains(place) {
                groups.insert(
                    reached.iter().filter(|&&other| closure[other].contains(place)).map(|&p| p.clone()).collect(),
                );
            }
        }
        groups.into_iter().collect()
    }

    /// The module that defines what a path in `from` names; `None` for a path that leaves the crate. `depth` bounds
    /// chains of names that are passed on.
    fn resolve(&self, from: &Place, path: &[String], depth: usize) -> Option<Place> {
        let mut names = path.iter().peekable();
        let mut at = match path.first()?.as_str() {
            "crate" => {
                names.next();
                Vec::new()
            }
            "self" | "super" => from.clone(),
            first => {
                let mut child = from.clone();
                child.push(first.to_owned());
                return self.modules.contains_key(&child).then(|| self.follow(from.clone(), path, depth)).flatten();
            }
        };
        while let Some(word) = names.peek().filter(|word| ["self", "super"].contains(&word.as_str())) {
            if *word == "super" {
                at.pop()?;
            }
            names.next();
        }
        let rest: Vec<String> = names.cloned().collect();
        self.follow(at, &rest, depth)
    }

    /// Follows names from the module `at`, as far as they are modules or names that a module passes on.
    fn follow(&self, mut at: Place, names: &[String], depth: usize) -> Option<Place> {
        for (index, name) in names.iter().enumerate() {
            at.push(name.clone());
            if self.modules.contains_key(&at) {
                continue;
            }
            at.pop();
            let module = self.modules.get(&at)?;
            let Some(origin) = self.passed_on(&at, module, name, depth) else { break };
            return if names.len() > index + 1 && depth < 8 {
                self.follow(origin, &names[index + 1..], depth + 1)
            } else {
                Some(origin)
            };
        }
        Some(at)
    }

    /// Where a name comes from that a module passes on.
    fn passed_on(&self, at: &Place, module: &Module, name: &str, depth: usize) -> Option<Place> {
        if module.items.contains(name) || depth >= 8 {
            return None;
        }
        let public = || module.imports.iter().filter(|import| import.is_public);
        if let Some(import) = public().find(|import| import.name == name) {
            return self.resolve(at, &import.path, depth + 1);
        }
        public().filter(|import| import.name == "*").find_map(|import| {
            let origin = self.resolve(at, &import.path, depth + 1)?;
            self.modules.get(&origin).is_some_and(|module| module.items.contains(name)).then_some(origin)
        })
    }
}

/// The place as a path of Rust.
#[must_use]
pub fn told(place: &[String]) -> String {
    if place.is_empty() { "crate".to_owned() } else { place.join("::") }
}

/// Adds the modules in a folder, whose place is `at`.
fn collect(folder: &Path, at: &mut Place, files: &mut Vec<(Place, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        let is_root = at.is_empty() && ["lib", "main"].contains(&name);
        if path.is_dir() {
            // Programs of their own, and crates within the crate.
            if path.join("Cargo.toml").exists() || (at.is_empty() && name == "bin") {
                continue;
            }
            at.push(name.to_owned());
            collect(&path, at, files)?;
            at.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let mut place = at.clone();
            if !is_root && name != "mod" {
                place.push(name.to_owned());
            }
            files.push((place, fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// The tokens of Rust code. Comments are left out, and a literal is one token that is no word.
fn tokens(text: &str) -> Vec<Token> {
    let letters: Vec<char> = text.chars().collect();
    let (mut all, mut at) = (Vec::new(), 0);
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let starts =
        |at: usize, word: &str| word.chars().enumerate().all(|(by, letter)| letters.get(at + by) == Some(&letter));
    while at < letters.len() {
        let letter = letters[at];
        if starts(at, "//") {
            at = (at..letters.len()).find(|&at| letters[at] == '\n').unwrap_or(letters.len());
        } else if starts(at, "/*") {
            let mut depth = 0;
            loop {
                (depth, at) = match () {
                    () if starts(at, "/*") => (depth + 1, at + 2),
                    () if starts(at, "*/") => (depth - 1, at + 2),
                    () => (depth, at + 1),
                };
                if depth == 0 || at >= letters.len() {
                    break;
                }
            }
        } else if let Some(end) = raw_string(&letters, at) {
            all.push("\"".to_owned());
            at = end;
        } else if letter == '"' {
            at += 1;
            while at < letters.len() && letters[at] != '"' {
                at += if letters[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
            all.push("\"".to_owned());
        } else if letter == '\'' && (letters.get(at + 1) == Some(&'\\') || letters.get(at + 2) == Some(&'\'')) {
            // A letter in quotes; anything else that begins with a quote is a lifetime.
            at += if letters[at + 1] == '\\' { 3 } else { 2 };
            while at < letters.len() && letters[at] != '\'' {
                at += 1;
            }
            at += 1;
            all.push("'".to_owned());
        } else if is_word(letter) {
            let end = (at..letters.len()).find(|&at| !is_word(letters[at])).unwrap_or(letters.len());
            all.push(letters[at..end].iter().collect());
            at = end;
        } else if starts(at, "::") {
            all.push("::".to_owned());
            at += 2;
        } else {
            if !letter.is_whitespace() {
                all.push(letter.to_string());
            }
            at += 1;
        }
    }
    all
}

/// The end of the raw string that begins at `at`, if one does.
fn raw_string(letters: &[char], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).map(|at| letters[at]);
    if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
        return None;
    }
    let mut open = at + usize::from(letters.get(at) == Some(&'b'));
    if letters.get(open) != Some(&'r') {
        return None;
    }
    open += 1;
    let hashes = letters[open..].iter().take_while(|&&letter| letter == '#').count();
    if letters.get(open + hashes) != Some(&'"') {
        return None;
    }
    let mut end = open + hashes + 1;
    while end < letters.len() {
        if letters[end] == '"'
            && letters[end + 1..].iter().take(hashes).filter(|&&letter| letter == '#').count() == hashes
        {
            return Some(end + 1 + hashes);
        }
        end += 1;
    }
    Some(end)
}

/// Reads a file's tokens.
fn parse(tokens: &[Token]) -> Module {
    const ITEMS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];
    let mut module = Module::default();
    // Modules within the file: the depth of braces at which each ends.
    let (mut inline, mut depth, mut at): (Vec<usize>, usize, usize) = (Vec::new(), 0, 0);
    let word = |at: usize| tokens.get(at).map_or("", String::as_str);
    let mut is_test = false;
    while at < tokens.len() {
        match word(at) {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if inline.last() == Some(&depth) {
                    inline.pop();
                }
            }
            "#" if ["[", "cfg", "(", "test", ")", "]"]
                .iter()
                .enumerate()
                .all(|(by, token)| word(at + 1 + by) == *token) =>
            {
                is_test = true;
                at += 7;
                continue;
            }
            "mod" => {
                // `mod $name {` in the definition of a macro, too.
                let name = at + 1 + usize::from(word(at + 1) == "$");
                match word(name + 1) {
                    ";" if is_test => {
                        module.for_tests.insert(word(name).to_owned());
                    }
                    "{" if is_test => {
                        at = closing(tokens, name + 1) + 1;
                        is_test = false;
                        continue;
                    }
                    "{" => {
                        inline.push(depth);
                        depth += 1;
                        at = name + 2;
                        continue;
                    }
                    _ => {}
                }
                is_test = false;
            }
            "use" if at == 0 || [";", "}", "{", "]", ")", "pub"].contains(&word(at - 1)) => {
                let is_public = word(at - 1.min(at)) == "pub" || word(at - 1.min(at)) == ")";
                let mut next = at + 1;
                let mut found = Vec::new();
                tree(tokens, &mut next, &[], &mut found);
                for (path, name) in found {
                    if let Some(path) = outward(path, inline.len()) {
                        // Imports of a module within the file are not names of the file.
                        module.imports.push(Import { path, name, is_public: is_public && inline.is_empty() });
                    }
                }
                (at, is_test) = (next, false);
                continue;
            }
            "crate" | "super" | "self" if word(at + 1) == "::" && word(at.wrapping_sub(1)) != "::" => {
                let mut path = vec![word(at).to_owned()];
                while word(at + 1) == "::"
                    && word(at + 2).starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
                {
                    path.push(word(at + 2).to_owned());
                    at += 2;
                }
                module.paths.extend(outward(path, inline.len()));
            }
            item if ITEMS.contains(&item) => {
                let name = at + 1 + usize::from(word(at + 1) == "!");
                if inline.is_empty() {
                    module.items.insert(word(name).to_owned());
                }
                is_test = false;
            }
            _ => {}
        }
        at += 1;
    }
    module
}

/// Index of the brace that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// A path in a module that lies `levels` deep within its file, as the file would write it; `None` if it stays within the
/// file.
fn outward(mut path: Vec<String>, levels: usize) -> Option<Vec<String>> {
    if levels == 0 || path[0] == "crate" {
        return Some(path);
    }
    let up = path.iter().take_while(|word| *word == "super").count();
    if up < levels {
        return None;
    }
    path.drain(..levels);
    if path.first().is_none_or(|word| word != "super") {
        path.insert(0, "self".to_owned());
    }
    Some(path)
}

/// Reads a tree of imports from `at` on: the paths, and the names by which they are known.
fn tree(tokens: &[Token], at: &mut usize, before: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let mut path = before.to_vec();
    while let Some(token) = tokens.get(*at) {
        *at += 1;
        match token.as_str() {
            "::" | "r" | "#" | "$" => {}
            "{" => {
                while tokens.get(*at).is_some_and(|token| token != "}") {
                    tree(tokens, at, &path, found);
                    if tokens.get(*at).is_some_and(|token| token == ",") {
                        *at += 1;
                    }
                }
                *at += 1;
                return;
            }
            "*" => {
                found.push((path, "*".to_owned()));
                return;
            }
            "as" => {
                let name = tokens.get(*at).cloned().unwrap_or_default();
                *at += 1;
                found.push((path, name));
                return;
            }
            "," | "}" | ";" => {
                *at -= 1;
                break;
            }
            // `{self}` names what precedes the brace.
            "self" if !before.is_empty() => {}
            word => path.push(word.to_owned()),
        }
    }
    if let Some(name) = path.last().cloned() {
        found.push((path, name));
    }
}

#[cfg(test)]
mod tests {
    use super::{Graph, Place, told};

    fn place(path: &str) -> Place {
        path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    fn cycles(files: &[(&str, &str)]) -> Vec<String> {
        let graph = Graph::of_files(files.iter().map(|&(path, text)| (place(path), text.to_owned())));
        graph
            .cycles(&[])
            .iter()
            .map(|group| group.iter().map(|place| told(place)).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn modules_that_name_each_other_form_a_cycle() {
        let two = [("", "mod a; mod b;"), ("a", "use crate::b::Two;"), ("b", "fn f() { crate::a::one() }")];
        assert_eq!(cycles(&two), ["a b"]);
        let three = [("a", "use super::{b, x::Y};"), ("b", "use crate::{c::{self, D}};"), ("c", "use super::a::*;")];
        assert_eq!(cycles(&three), ["a b c"]);
        assert_eq!(cycles(&[("a", "use crate::b;"), ("b", "use crate::c;"), ("c", "use std::a;")]), [""; 0]);
    }

    #[test]
    fn a_name_leads_to_the_module_that_defines_it() {
        // `m` passes on what `m::b` defines: `m::a` and `m::b` name each other.
        let passed_on = [
            ("m", "mod a; mod b; pub(crate) use b::{Thing as Other, more};"),
            ("m::a", "use super::Other;"),
            ("m::b", "use super::a::first; pub struct Thing;"),
        ];
        assert_eq!(cycles(&passed_on), ["m::a m::b"]);
        // What `m` defines itself is `m`'s own, and what `m` names below itself does not count.
        let own = [("m", "mod a; use a::first; pub struct Thing;"), ("m::a", "use super::Thing;")];
        assert_eq!(cycles(&own), [""; 0]);
        let all = [
            ("m", "mod a; mod b; pub use b::*;"),
            ("m::a", "use crate::m::Thing;"),
            ("m::b", "enum Thing {} use super::a;"),
        ];
        assert_eq!(cycles(&all), ["m::a m::b"]);
    }

    #[test]
    fn comments_literals_and_tests_name_nothing() {
        let files = [
            (
                "a",
                "// use crate::b;\n/* crate::b::x() /* nested */ */ const T: &str = \"crate::b::x\"; const R: &str = r#\"\" crate::b \"#;",
            ),
            ("b", "use crate::a; const Q: [char; 3] = ['\"', '\\'', '/']; fn f<'a>(x: &'a u8) {} "),
            ("c", "use crate::d; #[cfg(test)] mod tests { use crate::e; }"),
            ("e", "use crate::c; #[cfg(test)] mod more;"),
            ("e::more", "use crate::e; use crate::f;"),
            ("f", "use crate::e::more;"),
        ];
        assert_eq!(cycles(&files), [""; 0]);
    }

    #[test]
    fn a_module_within_a_file_is_part_of_the_file() {
        let files = [
            ("a", "mod inner { use super::*; use super::super::b::X; }"),
            ("b", "mod a { mod c { use super::super::super::a::Y; } }"),
        ];
        assert_eq!(cycles(&files), ["a b"]);
        let inside = [
            ("a", "mod b { use super::one; mod c { use super::super::one; } } fn one() {}"),
            ("b", "use crate::a::one;"),
        ];
        assert_eq!(cycles(&inside), [""; 0]);
    }
}
