//! What each word of the original becomes.

use super::*;

/// The line for these words, without `fsin run`, and the messages before it. Only short runs are simulated.
pub(super) fn becomes(words: &str) -> (String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t.trc"), TRACE).expect("a file");
    fs::write(folder.path().join("hops.txt"), "1 1\n2 1\n").expect("a file");
    let output = fsin(folder.path()).arg("legacy").args(words.split_whitespace()).output().expect("the command starts");
    let said = stderr(&output);
    assert!(output.status.success(), "{words}: {said}");
    let line = said.lines().find_map(|line| line.strip_prefix("fsin run ")).expect("a line").to_owned();
    (line, said.replace('\n', " "))
}

/// The parts of every line unless words change them: the original's defaults, and its only kind of source.
const DEFAULTS: &str = "--topology torus:4x4 --vcs 2 --injection-queue 4 --source throttled --load 0.05 --warmup 5000 --samples 10 \
                        --sample-size 1000";

/// The flags of a line with their values.
fn flags(line: &str) -> Vec<String> {
    let words = shell_words(line);
    words
        .split(|word| word.starts_with("--"))
        .skip(1)
        .zip(words.iter().filter(|word| word.starts_with("--")))
        .map(|(values, flag)| format!("{flag} {}", values.join(" ")))
        .collect()
}

/// Words, the resulting parts of the line in addition to the defaults or replacing them (`!` before a missing default),
/// and the messages.
const WORDS: &[(&str, &str, &str)] = &[
    ("nways=2", "--ways 2", ""),
    ("nways=1 topo=torus_5_5", "--ways 1 --topology torus:5x5", ""),
    ("nchan=3", "--vcs 3", ""),
    ("rmode=smart", "--routing bubble:smart", ""),
    ("rmode=smart3", "--routing bubble:smart --vcs 3", ""),
    ("mode=oblivious", "--routing bubble:oblivious", ""),
    ("mode=dor1", "--routing bubble:oblivious --vcs 1", ""),
    ("rmode=random", "--routing bubble:random", ""),
    ("rmode=shortest", "--routing bubble:shortest", ""),
    ("rmode=bimodal", "--routing bubble:bimodal", ""),
    ("rmode=doubleob", "--routing double:oblivious", ""),
    ("rmode=doubleadap", "--routing double:adaptive", ""),
    ("rmode=trc", "--routing dally:trc", ""),
    ("rmode=basic", "--routing dally:basic", ""),
    ("rmode=improved", "--routing dally:improved", ""),
    ("rmode=adaptive nchan=3", "--routing dally:adaptive --vcs 3", "the original's never does"),
    (
        "rmode=hexaob6 topo=torus_4_4_4",
        "--routing double:hexa-oblivious --vcs 6 --topology torus:4x4x4",
        "bubble on channel 0 only",
    ),
    (
        "rmode=hexaadap6 topo=torus_4_4_4",
        "--routing double:hexa-adaptive --vcs 6 --topology torus:4x4x4",
        "bubble on channel 0 only",
    ),
    ("vc=bubble", "", "not given: rmode, plength"),
    ("vc=bubble rmode=oblivious", "--routing bubble:oblivious", ""),
    ("vc=double rmode=adaptive", "--routing double:adaptive", ""),
    (
        "vc=double rmode=hexa-oblivious nchan=6 topo=torus_4_4_4",
        "--routing double:hexa-oblivious --vcs 6 --topology torus:4x4x4",
        "",
    ),
    ("vc=dally rmode=basic", "--routing dally:basic", ""),
    ("vc=tree rmode=static topo=fattree_4_2", "--routing tree:static --topology fattree:4,2", ""),
    ("vc=icube rmode=static topo=icube_2_1_4_4", "--routing cube:oblivious --topology icube:4x4:2", "crashes"),
    ("routing=dir", "--order dir", ""),
    ("plength=8", "--packet 8", "not given: rmode; what"),
    ("packet_phits=8", "--packet 8", ""),
    ("tql=6", "--queue 6", ""),
    ("transit_queue=6", "--queue 6", ""),
    ("iql=8", "--injection-queue 8", ""),
    ("ninj=2", "--injectors 2", ""),
    ("imode=shortest", "--injection shortest", ""),
    ("imode=dor ninj=4", "--injection dor --injectors 4", "last dimension"),
    ("imode=dsh ninj=4", "--injection dor-shortest --injectors 4", "last dimension"),
    ("imode=shp ninj=4", "--injection shortest-profitable --injectors 4", ""),
    ("imode=lpath ninj=4", "--injection longest-path --injectors 4", ""),
    ("par_inj=0", "--inject serial", ""),
    ("par_inj=1", "--inject parallel", ""),
    ("cmode=single", "--consumption single", ""),
    ("cmode=multiple", "--consumption multiple", ""),
    ("amode=fifo", "--arbitration fifo", ""),
    ("amode=longest", "--arbitration longest", ""),
    ("amode=age", "--arbitration age", ""),
    ("amode=random", "--arbitration random", ""),
    ("amode=highest_vc", "--arbitration highest-vc", ""),
    ("bsize=3", "--bubble 3", ""),
    ("bub=3", "--bubble 3", "bub=3: read as bsize"),
    ("bub_to_adap=1", "--lbr 1", ""),
    ("plength=16_4", "--packet 16", "the 4 bytes of a phit have no part in a run with a steady load"),
    ("imode=dor ninj=1", "--injection dor --injectors 4", "imode=dor with ninj=1: 4 injectors, one for each direction"),
    ("imode=shp", "--injection shortest-profitable --injectors 4", "4 injectors"),
    ("topo=fattree_4_2 vc=bubble", "--topology fattree:4,2 --routing tree:adaptive", "vc=bubble: without effect"),
    ("timeout_upper_limit=-1 timeout_lower_limit=-1", "", ""),
    (
        "timeout_upper_limit=50 timeout_lower_limit=30 lbr=3",
        "--timeout-upper 50 --timeout-lower 30 --lbr 3",
        "congested for ever",
    ),
    ("topo=torus_4_4 sk_yx=2", "", "sk_yx=2: without effect with topo=torus_4_4"),
    (
        "serv_addr=8082 fsin_cycle_relation=200 simics_cycle_relation=1000 num_periodos_espera=0",
        "",
        "num_periodos_espera=0: they coupled the original with a full-system simulator",
    ),
    (
        "vc=dally rmode=trc bsize=2 bub_to_adap=0",
        "--routing dally:trc",
        "bsize=2: without effect here: this routing needs no bubble",
    ),
    (
        "topo=icube_2_1_4_4 vc=icube rmode=static imode=dor routing=dim nways=2 ninj=1",
        "--topology icube:4x4:2 --routing cube:oblivious --ways 2 --injectors 1",
        "imode=dor: without effect here",
    ),
    ("topo=hypercube_4 nways=2", "--topology hypercube:4", "links of one way"),
    ("monitored=1 output=example", "", "only change what the original printed"),
    ("longmessages=1 lng_msg_ratio=0.0", "", ""),
    ("longmessages=1", "", ""),
    ("lbr=3", "--lbr 3", ""),
    ("intransit_pr=0.5", "--in-transit-priority 0.5", ""),
    ("ipr=0.5", "--in-transit-priority 0.5", "read as intransit_pr"),
    ("drop=1", "", "drop=1: no counterpart here"),
    ("drop_packets=1", "", "drop_packets=1: no counterpart here"),
    ("extract=0 drop_packets=0", "", ""),
    ("faults=1", "--faults 1", ""),
    ("global_cc=30", "--global-cc 60", "counts capacity 2 times"),
    ("global_cc=30 nways=1", "--global-cc 30 --ways 1", ""),
    ("global_cc=60", "", "global_cc=60: the original's limit, 120 %"),
    ("global_cc=20 update_period=2", "--global-cc 40 --global-cc-period 8", "4 hops"),
    ("timeout_upper=50 timeout_lower=30 lbr=3", "--timeout-upper 50 --timeout-lower 30 --lbr 3", "congested for ever"),
    ("tpattern=transpose", "--traffic transpose", ""),
    ("pattern=inverse", "--traffic reversal", ""),
    ("tpattern=tornado", "--traffic tornado-fsin", "does not wrap"),
    ("tpattern=hotspot", "--traffic hotspot(0.02,0)", ""),
    ("tpattern=hotspot_0.1_0", "--traffic hotspot(0.1,0)", ""),
    ("tpattern=complement", "--traffic complement", ""),
    ("tpattern=rsdist", "--traffic rsdist", ""),
    ("load=0.3", "--load 0.3", ""),
    ("longmessages=4 lng_msg_ratio=0.2 plength=8", "--size bimodal(8,32,0.2) --packet 8", "not documented"),
    ("longmessages=0 lng_msg_ratio=0.2", "", "left out, without a part in a run with a steady load: lng_msg_ratio=0.2"),
    ("trigger_rate=0.5 triggered=1 load=0.1", "--temporal reactive(0.5,1) --load 0.2", "comes on top"),
    ("trigger_rate=0.2 triggered=2 load=0.1", "--temporal reactive(0.2,2) --load 0.166666667", "exactly so many"),
    ("trigger_rate=0 triggered=1", "", ""),
    ("shotmode=1 shotsize=5 numshots=3", "!--load !--warmup !--sample-size --shot 5 --samples 3", ""),
    (
        "shotmode=1 shotsize=0 nsamples=4 load=0.3",
        "!--load !--warmup !--sample-size --shot 15 --samples 4",
        "without a part in shots: load=0.3",
    ),
    ("shotmode=0 shotsize=5 numshots=3", "", "steady load: shotsize=5, numshots=3"),
    ("rseed=7", "--seed 7", ""),
    ("warm_up_period=100", "--warmup 100", ""),
    ("conv_period=500", "--conv-period 500", ""),
    ("conv_thres=0.1", "--conv-threshold 0.1", ""),
    ("max_conv_time=0", "--max-conv-time 0", ""),
    ("nsamples=3", "--samples 3", ""),
    ("sample_size=300", "--sample-size 300", ""),
    ("min_batch_pkt=10", "--min-batch-packets 10", ""),
    (
        "tracefile=t.trc trace_cpu_units=us link_bandwidth=1Gb/s placement=row_2_1 load=0.3",
        "!--load !--warmup !--samples !--sample-size --trace t.trc --trace-unit us --bandwidth 1Gb/s --placement row",
        "the run of an application: load=0.3",
    ),
    (
        "tracefile=t.trc tpattern=trace placement=shift_3",
        "!--load !--warmup !--samples !--sample-size --trace t.trc --placement shift:3",
        "",
    ),
    ("tracefile=t.trc tpattern=uniform", "--traffic uniform", "a run with a steady load: tracefile=t.trc"),
    (
        "tracefile=t.trc link_bandwidth=1000",
        "!--load !--warmup !--samples !--sample-size --trace t.trc --bandwidth 1000Mb/s",
        "",
    ),
    (
        "tracefile=t.trc bg_load=0.1 tpattern=uniform",
        "!--load !--warmup !--samples !--sample-size --trace t.trc --temporal background(0.1) --traffic uniform",
        "",
    ),
    (
        "bg_load=0.1 placement=row_64_1 trace_cpu_units=9 link_bandwidth=9",
        "",
        "trace_cpu_units=9, link_bandwidth=9, bg_load=0.1",
    ),
    (
        "plevel=1 pheaders=1 bheaders=0 pinterval=100",
        "",
        "plevel=1, pheaders=1, bheaders=0, pinterval=100: they only change what the original printed",
    ),
    ("topology=mesh_3_4", "--topology mesh:3x4", ""),
    ("topo=ttorus_8_4 sk_yx=4", "--topology twisted:8x4:yx=4", ""),
    ("topo=ttorus_4_8 sk_xy=4", "--topology twisted:4x8:xy=4", ""),
    ("topo=ttorus_4_4_8 sk_xz=4", "--topology twisted:4x4x8:xz=4", ""),
    ("topo=ttorus_4_4_8 sk_yz=4 sk_zx=0 sk_zy=0", "--topology twisted:4x4x8:yz=4", ""),
    ("topo=torus_4_4 sk_yx=0", "", ""),
    ("topo=circulant_64_8", "--topology circulant:64:1,8", ""),
    ("topo=circpk_4_1", "--topology circulant:32:1,7", "not shortest"),
    ("topo=circpk_4_3", "--topology circulant:32:1,9", "not shortest"),
    (
        "topo=icube_2_1_4_4 rmode=smart3",
        "--topology icube:4x4:2 --routing cube:adaptive --vcs 3",
        "one adaptive routing",
    ),
    ("topo=spinnaker_8_8_1", "--topology spinnaker:8x8", ""),
    ("topo=midimew_17", "--topology midimew:17", ""),
    ("topo=fattree_4_2", "--topology fattree:4,2 --routing tree:adaptive", ""),
    ("topo=thintree_4_2_2", "--topology thintree:4,2,2 --routing tree:adaptive", ""),
    ("topo=slimtree_4_2_2 rmode=static1", "--topology slimtree:4,2,2 --routing tree:static --vcs 1", ""),
    ("topo=thintree_5_2_2 routing=static", "--topology thintree:5,2,2 --routing tree:static", ""),
    (
        "topo=fattree_4_2 routing=adaptive rmode=smart",
        "--topology fattree:4,2 --routing tree:adaptive",
        "rmode=smart: without effect",
    ),
    ("topo=slimtree_9_3_2 routing=static nchan=3", "--topology slimtree:9,3,2 --routing tree:static --vcs 3", ""),
    ("topo=icube_2_1_4_4 vc=icube routing=static", "--topology icube:4x4:2 --routing cube:oblivious", "crashes"),
    ("trigger_rate=0.2 triggered=1_2 load=0.1", "--temporal reactive(0.2,1,2) --load 0.142857143", "comes on top"),
    ("tpattern=population tracefile=hops.txt", "--traffic population(hops.txt)", ""),
    ("tpattern=histogram tracefile=hops.txt load=0.2", "--traffic histogram(hops.txt) --load 0.2", ""),
    ("topo=dragonfly_1_2_1", "--topology dragonfly:p=1,a=2,h=1 --routing dragonfly:minimal", ""),
    // Abbreviated.
    ("plen=8 tpat=transpose warm=100", "--packet 8 --traffic transpose --warmup 100", ""),
    (
        "conv_t=0.1 max_c=0 nsam=3 sample=300 min=10",
        "--max-conv-time 0 --samples 3 --sample-size 300 --min-batch-packets 10",
        "left out, without a part in a run with a steady load: conv_t=0.1",
    ),
    ("topol=mesh_4_4 nc=3 rs=7 int=1", "--topology mesh:4x4 --vcs 3 --seed 7 --in-transit-priority 1", ""),
    (
        "tracef=t.trc trace_c=us link=1Gb/s",
        "!--load !--warmup !--samples !--sample-size --trace t.trc --trace-unit us --bandwidth 1Gb/s",
        "",
    ),
    // Ours, and a speed of ours.
    ("cycles=300", "!--warmup !--samples !--sample-size --cycles 300", ""),
    ("cycles=300 source=open", "!--warmup !--samples !--sample-size --cycles 300 --source open", ""),
];

#[test]
fn every_word_becomes_what_it_means() {
    for &(words, expected, said) in WORDS {
        let (line, notes) = becomes(words);
        let mut wanted: Vec<String> = flags(&format!("fsin run {DEFAULTS}"));
        // Quoted as in the line.
        for flag in expected
            .replace('!', "--! !")
            .split(" --")
            .map(|flag| flag.trim_start_matches("--").trim())
            .filter(|flag| !flag.is_empty())
        {
            let (absent, flag) = flag.strip_prefix("! !--").map_or((false, flag), |flag| (true, flag));
            let name = format!("--{} ", flag.split(' ').next().unwrap_or(""));
            wanted.retain(|known| !known.starts_with(&name));
            if !absent {
                wanted.push(format!("--{flag}"));
            }
        }
        let mut found = flags(&format!("fsin run {line}"));
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{words}");
        assert!(notes.contains(said), "{words}: {notes}");
    }
}

/// The words that the original is known to have; each occurs in the table above.
#[test]
fn no_word_is_left_out() {
    let known = "rmode nchan vc plength iql rseed tpattern nways warm_up_period conv_period conv_thres max_conv_time nsamples numshots \
                 sample_size min_batch_pkt shotmode shotsize trigger_rate triggered tracefile trace_cpu_units link_bandwidth \
                 longmessages lng_msg_ratio bub bub_to_adap ipr drop extract bg_load placement plevel pheaders bheaders pinterval \
                 topo mode load ninj imode cmode amode tql bsize sk_yx sk_xz par_inj routing intransit_pr lbr global_cc \
                 update_period timeout_upper timeout_lower timeout_upper_limit timeout_lower_limit serv_addr fsin_cycle_relation \
                 simics_cycle_relation num_periodos_espera monitored output";
    for name in known.split_whitespace() {
        let is_used = |words: &str| words.split_whitespace().any(|word| word.split('=').next() == Some(name));
        assert!(WORDS.iter().any(|(words, ..)| is_used(words)), "{name}");
    }
    // All at once, except those of other kinds of runs: ignored words are reported, and nothing is rejected.
    let all = "topo=torus_8_8 rmode=smart nchan=3 vc=bubble plength=8 iql=6 rseed=7 tpattern=uniform nways=2 warm_up_period=100 \
               conv_period=100 conv_thres=0.1 max_conv_time=300 nsamples=3 numshots=2 sample_size=100 min_batch_pkt=5 shotmode=0 \
               shotsize=5 trigger_rate=0.5 triggered=1 trace_cpu_units=1 link_bandwidth=1000 longmessages=0 lng_msg_ratio=0 bub=2 \
               bub_to_adap=1 ipr=0.5 drop=0 extract=0 bg_load=0 placement=row_64_1 plevel=1 pheaders=1 bheaders=1 pinterval=10 \
               sk_yx=0 load=0.1";
    let (line, said) = becomes(all);
    assert_eq!(
        line,
        "--topology torus:8x8 --ways 2 --vcs 3 --routing bubble:smart --packet 8 --injection-queue 6 --bubble 2 \
         --lbr 1 --in-transit-priority 0.5 --source throttled --traffic uniform --temporal 'reactive(0.5,1)' --load 0.2 --warmup 100 \
         --conv-period 100 --conv-threshold 0.1 --max-conv-time 300 --samples 3 --sample-size 100 --min-batch-packets 5 --seed 7"
    );
    for name in ["numshots", "shotsize", "trace_cpu_units", "link_bandwidth", "lng_msg_ratio", "placement"] {
        assert!(said.contains(&format!("{name}=")), "{name}: {said}");
    }
}
