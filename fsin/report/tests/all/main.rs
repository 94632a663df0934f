//! Pictures and pages of stored results, each beside what it was when it was last looked at.
//!
//! A change of any of them fails here. Look at the new ones, below `target/tmp`, and accept the list with
//! `INSTA_UPDATE=always cargo test -p fsin-report`. The results are those of the commands in their `manifest.json`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use fsin_experiment::sweep::{Collected, Curves, Plan, Saturations, open};
use fsin_report::{
    Baseline, Format, Picture, Scale, Style, Subject, by_part, by_size, joint_page, link_pictures, page, pictures,
    port_pictures, searches, transients, write,
};
use trgen::phrase::Plain;

/// The stored folders of runs and sweeps.
const STORED: [&str; 5] = ["energy", "loads", "ports", "programs", "shots"];

fn stored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/results").join(name)
}

fn read(name: &str) -> (Plan, Collected) {
    open(&stored(name)).unwrap()
}

/// A list of what was made, a line each with its checksum. All of it is written below `target/tmp`, to look at.
struct Made {
    folder: PathBuf,
    list: String,
}

impl Made {
    fn new(what: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(what);
        fs::create_dir_all(&folder).unwrap();
        Self { folder, list: String::new() }
    }

    fn add(&mut self, name: &str, text: &str) {
        fs::write(self.folder.join(name.replace('/', "-")), text).unwrap();
        writeln!(self.list, "{name} {:08x}", crc32fast::hash(text.as_bytes())).unwrap();
    }

    fn add_pictures(&mut self, of: &str, pictures: &[Picture]) {
        for picture in pictures {
            let Picture { kind, name, caption, hidden, svg, pgf, data, hints } = picture;
            writeln!(self.list, "{of} {kind}: {caption} {hidden}").unwrap();
            self.add(&format!("{of}/{name}.svg"), svg);
            self.add(&format!("{of}/{name}.tex"), pgf.as_deref().unwrap_or_default());
            self.add(&format!("{of}/{name}.csv"), data);
            self.add(&format!("{of}/{name}.hints"), &format!("{hints:#?}"));
        }
    }

    #[track_caller]
    fn check(self, name: &str) {
        let Self { list, .. } = self;
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name, list);
        });
    }
}

#[test]
fn pictures_are_those_that_were_looked_at() {
    let mut made = Made::new("pictures");
    for name in STORED {
        let (plan, collected) = read(name);
        let curves = Curves::of(&plan, &collected);
        for (kind, style) in [
            ("plain", Style::default()),
            ("log", Style { scale: Scale::Log, is_whole: true, saturated: true, ..Style::default() }),
            ("panels", Style { panels: true, ..Style::default() }),
        ] {
            let of = format!("{name}-{kind}");
            made.add_pictures(&of, &pictures(&curves, &collected, &style));
            made.add_pictures(&of, &by_part(&curves, &collected, &style));
            made.add_pictures(&of, &by_size(&curves, &collected, &style));
            made.add_pictures(&of, &transients(&curves, &collected, &style));
        }
        made.add_pictures(name, &link_pictures(&plan, &curves, &collected).0);
        made.add_pictures(name, &port_pictures(&plan, &collected).0);
    }
    let found = Saturations::load(&stored("searches")).unwrap().unwrap();
    made.add_pictures("searches", &searches(&found, &Style::default()));
    made.check("pictures");
}

#[test]
fn pages_are_those_that_were_looked_at() {
    let mut made = Made::new("pages");
    let found = Saturations::load(&stored("searches")).unwrap();
    let all: Vec<_> = STORED.iter().map(|&name| (name, read(name))).collect();
    let subjects: Vec<_> = all
        .iter()
        .map(|(name, (plan, collected))| Subject { name, title: None, plan, collected, saturations: found.as_ref() })
        .collect();
    add_page(&mut made, "joint", &joint_page("all", &subjects, Scale::Auto, &Plain));
    for (name, (plan, collected)) in &all {
        let subject = Subject { name, title: None, plan, collected, saturations: None };
        add_page(&mut made, name, &page(subject, None, Scale::Linear, &Plain));
        let baseline = Baseline { name: "before", plan, collected, margin: 0.01 };
        add_page(&mut made, &format!("{name}-beside"), &page(subject, Some(baseline), Scale::Log, &Plain));
    }
    made.check("pages");
}

/// The sections of a page, a line each.
fn add_page(made: &mut Made, name: &str, html: &str) {
    let body = html.split_once("<body").map_or(html, |(_, body)| body);
    for (at, section) in body.split("<section").enumerate() {
        made.add(&format!("{name}/{at}.html"), section);
    }
}

#[test]
fn tables_are_those_that_were_looked_at() {
    let mut made = Made::new("tables");
    for name in STORED {
        for (at, row) in read(name).1.rows.iter().enumerate() {
            for (kind, format) in [("txt", Format::Table), ("csv", Format::Csv), ("json", Format::Json)] {
                let mut text = Vec::new();
                write(format, &row.result, &mut text).unwrap();
                made.add(&format!("{name}/{at}.{kind}"), &String::from_utf8(text).unwrap());
            }
        }
    }
    made.check("tables");
}
