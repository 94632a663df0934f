//! Pages on small screens and on paper: whatever their tables hold, a page is never wider than what shows it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::command::browser;
use tests::shared::skipped;

use super::{done, first_sweep};

/// Makes a page of each kind.
fn pages(folder: &Path) -> Vec<PathBuf> {
    first_sweep(folder);
    done(folder, "sweep e.toml --load 0.1,0.4,0.7 --warmup 500 --samples 3 --sample-size 500 --seed 7,8 -q -o s");
    let step = "run --kernel moe:ranks=16,experts=64,tokens=1024,bytes=4096,topk=2,skew=0.6,compute=100 --topology \
                torus:4x4 --network flow --slow rank:3x3 --fail link:0-1@0 --link-loads -q -o step";
    done(folder, step);
    done(
        folder,
        "saturation --topology torus:4x4 --routing bubble:smart,bubble:oblivious --tolerance 0.1 -q -o limits",
    );
    let models = "sweep --topology torus:4x4 --topology fattree:4,2 --kernel all-reduce:bytes=65536 --network \
                  vct,flow,constant-delay:delay=1us -q -o models";
    done(folder, models);
    let flows: String = (1..8).map(|node| format!("{node},0,100000,0\n")).collect();
    fs::write(folder.join("incast.csv"), format!("src,dst,bytes,start\n{flows}")).unwrap();
    let incast = "run --network ethernet --topology star:9 --flows incast.csv --frames roce --transport roce --cc dcqcn --ecn step:100kB --port-stats histogram -q -o \
                  incast";
    done(folder, incast);
    for results in ["r", "step", "limits", "models", "incast"] {
        done(folder, &format!("report {results} -q"));
    }
    done(folder, "report s --baseline r --output against.html -q");
    done(folder, "report r step models --output all.html -q");
    let reports = ["r", "step", "limits", "models", "incast"].map(|name| format!("{name}/report.html"));
    reports
        .into_iter()
        .chain(["against.html".to_owned(), "all.html".to_owned()])
        .map(|name| folder.join(name))
        .collect()
}

/// What a browser says of a page in a frame of this many pixels, by an expression over the document `d`.
fn framed(page: &Path, width: u32, expression: &str) -> Option<String> {
    let text = serde_json::to_string(&fs::read_to_string(page).unwrap()).unwrap().replace("</", "<\\/");
    // Windows of a headless browser have at least 500 pixels; frames have those that they are given.
    let frame = format!(
        "<!DOCTYPE html><body><iframe width={width} height=900 style=\"border:0\"></iframe><script>\
         const frame = document.querySelector('iframe'); frame.onload = () => {{ const d = frame.contentDocument; \
         document.body.dataset.seen = {expression}; }}; frame.srcdoc = {text};</script></body>"
    );
    let file = page.with_extension(format!("{width}.html"));
    fs::write(&file, frame).unwrap();
    let (dom, _) = browser(&file, &["--dump-dom", "--virtual-time-budget=5000"])?;
    let seen = dom.split("data-seen=\"").nth(1).unwrap_or_else(|| panic!("{page:?}: nothing was seen"));
    Some(seen.split('"').next().unwrap().to_owned())
}

#[test]
fn l9_no_page_is_wider_than_the_screen_and_tables_scroll_in_their_own_boxes() {
    let folder = tempfile::tempdir().unwrap();
    // Parts that reach beyond the frame and are in no box that scrolls; how many tables there are; how many are wider
    // than their box.
    let expression = "[d.documentElement.scrollWidth, [...d.querySelectorAll('body *')].filter((part) => {\
        if (part.getBoundingClientRect().right <= frame.clientWidth + 1 || !part.getClientRects().length) return false;\
        for (let box = part.parentElement; box; box = box.parentElement)\
          if (frame.contentWindow.getComputedStyle(box).overflowX === 'auto') return false;\
        return true; }).length, d.querySelectorAll('table').length,\
        [...d.querySelectorAll('.wide')].filter((box) => box.scrollWidth > box.clientWidth).length].join(' ')";
    let mut scrolled = 0;
    for page in pages(folder.path()) {
        for width in [320, 400, 1600] {
            let Some(seen) = framed(&page, width, expression) else { return skipped("no chromium") };
            let numbers: Vec<u32> = seen.split(' ').map(|number| number.parse().unwrap()).collect();
            let [whole, beyond, tables, wider] = numbers[..] else { panic!("{seen}") };
            assert!(whole <= width && beyond == 0, "{page:?} at {width} pixels: {whole} wide, {beyond} parts beyond");
            assert!(tables > 0, "{page:?}");
            scrolled += if width == 400 { wider } else { 0 };
        }
    }
    assert!(scrolled > 3, "tables that are wider than 400 pixels are among those of the test: {scrolled}");
}

/// On paper nothing is cut: the file for the printer has every word of every cell of the page, in light colours.
#[test]
fn l9_a_printed_page_has_every_word_of_its_tables() {
    let folder = tempfile::tempdir().unwrap();
    if Command::new("pdftotext").arg("-v").output().is_err() {
        return skipped("no pdftotext");
    }
    for page in pages(folder.path()) {
        let words = "[...new Set([...d.querySelectorAll('table')].filter((table) => !table.closest('details:not([open])'))\
            .flatMap((table) => [...table.querySelectorAll('th, td')]).filter((cell) => cell.getClientRects().length)\
            .flatMap((cell) => cell.textContent.split(/\\s+/)))].join(' ')";
        let Some(words) = framed(&page, 1600, words) else { return skipped("no chromium") };
        let pdf = page.with_extension("pdf");
        let print = [format!("--print-to-pdf={}", pdf.display()), "--no-pdf-header-footer".to_owned()];
        browser(&page, &["--blink-settings=preferredColorScheme=0", &print[0], &print[1]]).unwrap();
        let output = Command::new("pdftotext").arg(&pdf).arg("-").output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        // Lines may break within words.
        let printed: String = printed.split_whitespace().collect();
        let words = words.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}");
        // A narrow space divides the digits of a number.
        let whole = |word: &str| word.split_whitespace().collect::<String>();
        let words: HashSet<String> = words.split(' ').map(whole).collect();
        let cut: Vec<&String> = words.iter().filter(|word| !printed.contains(word.as_str())).collect();
        assert!(cut.is_empty(), "{page:?}: not on paper: {cut:?}");
    }
}
