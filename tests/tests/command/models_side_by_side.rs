//! One experiment under several network models: as a list of one flag, and side by side on the page.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use tests::command::run;

#[test]
fn models_are_a_list_and_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let done = |line: &str| {
        let output = run(folder.path(), line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let kernel = "--kernel all-reduce-ring:tasks=8,bytes=800000";
    let models = "flow:link-rate=100Gb/s,ethernet:link-rate=100Gb/s,propagation=0ns,flow:link-rate=50Gb/s";
    done(&format!("sweep --topology star:8 {kernel} --network {models} -q -o s"));
    done("report s -q");
    let page = fs::read_to_string(folder.path().join("s/report.html")).unwrap();
    assert!(page.contains("<h2>Models side by side</h2>"), "{page}");
    for model in ["flow:link-rate=100Gb/s", "ethernet:link-rate=100Gb/s,propagation=0ns", "flow:link-rate=50Gb/s"] {
        assert!(page.contains(&format!("<td>{model}</td>")), "{model}");
    }
    // Half of the rate is twice the time, and the bounds say so before any congestion.
    assert!(page.contains("flow:link-rate=50Gb/s takes 100.0 % longer than flow:link-rate=100Gb/s."), "{page}");
    assert!(page.contains("Their bounds differ"), "{page}");

    // Where a collective says the same in both, what decides is named.
    done(&format!("sweep --topology star:8 {kernel} --network flow,flow:paths=adaptive -q -o t"));
    done("report t -q");
    let page = fs::read_to_string(folder.path().join("t/report.html")).unwrap();
    assert!(page.contains("They agree to 0.0 %"), "{page}");

    // Nothing is compared where nothing of that kind varies.
    done("sweep --topology star:8 --kernel all-reduce-ring:tasks=8,bytes=8000 --network flow --seed 1,2 -q -o u");
    done("report u -q");
    assert!(!fs::read_to_string(folder.path().join("u/report.html")).unwrap().contains("side by side"));
}
