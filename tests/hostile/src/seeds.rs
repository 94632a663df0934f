//! Sound files of every format, small enough to be read a million times.

use std::io::Write as _;

use trgen::trace::container::{Content, Header, Writer};
use trgen::trace::formats::write;
use trgen::trace::goal::{Graph, binary, patterns, text};
use trgen::trace::kernels;
use trgen::trace::program::Program;

/// A file that can be read.
#[derive(Clone, Debug)]
pub struct Seed {
    /// What it is, for messages.
    pub name: &'static str,
    /// Format that it is read as.
    pub format: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

const TI: &str = "0 init\n1 init 1\n0 compute 1e6\n0 send 1 4 100 0\n1 recv 0 4 100 0\n0 irecv 1 5 20 1\n1 isend 0 5 20 1\n\
0 wait 1 0 5\n1 waitall 1\n0 alltoallv 9 1 2 9 3 4 1 1\n1 alltoallv 9 3 4 9 1 2 1 1\n0 barrier\n1 barrier\n\
0 bcast 3 1 0\n1 bcast 3 1 0\n0 gatherv 1 1 2 0 1 1\n1 gatherv 2 1 2 0 1 1\n0 sendRecv 1 1 1 1 0 0\n\
1 sendRecv 1 0 1 0 0 0\n0 allreduce 100 5 0\n1 allreduce 100 5 0\n0 scan 1 5 0\n1 scan 1 5 0\n\
0 reducescatter 1 2 5 1\n1 reducescatter 1 2 5 1\n0 allgatherv 1 1 2 1 1\n1 allgatherv 2 1 2 1 1\n0 finalize\n1 finalize\n";

/// One rank of a log of MPI calls; `R` stands for the rank, `P` for the other one.
const CALLS: &str = "# a log\nMPI_Init:-:0:0:1\nMPI_Comm_split:1:0,R,2:0:R:3:2\nMPI_Comm_dup:2:3,R,2:4:2.5\n\
MPI_Irecv:3:8:1:1,4,4:-1:-1:0,R,2:64:4\nMPI_Send:4:8:1:1,4,4:P:7:0,R,2:5\nMPI_Waitany:5:1:64:0:0:6\n\
MPI_Isend:6:8:3:17,8,8:P:1:3,R,2:72:7\nMPI_Irecv:7:8:3:17,8,8:P:1:3,R,2:80:8\nMPI_Waitall:8:2:72:0:9\n\
MPI_Sendrecv:9:0:2:1,4,4:P:3:0:2:1,4,4:P:3:4,R,2:0:10\nMPI_Alltoallv:10:8:1;2:1,4,4:3,R,2:11\n\
MPI_Allreduce:11:8:8:5:17,8,8:3:4,R,2:12\nMPI_Bcast:12:8:1000:1,4,4:1:0,R,2:13.25\n\
MPI_Reduce_scatter:14:8:1;1:1,4,4:0,R,2:15\nMPI_Finalize:16:-\n";

fn folder(files: &[(&str, String)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, text.as_bytes()).expect("memory takes everything");
    }
    builder.into_inner().expect("memory takes everything")
}

fn calls(rank: usize) -> String {
    CALLS
        .replace('R', &rank.to_string())
        .replace("MPI_", "\0")
        .replace('P', &(1 - rank).to_string())
        .replace('\0', "MPI_")
        // The letters of names that stand for nothing.
        .replace(&format!("MPI_{rank}ecv"), "MPI_Recv")
        .replace(&format!("MPI_{rank}educe"), "MPI_Reduce")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes everything")
}

fn kernel(spec: &str) -> Program {
    kernels::parse(spec, 4, None).expect("a kernel of the table")
}

fn pattern(spec: &str) -> Graph {
    patterns::parse(spec).expect("a pattern of the table")
}

fn header(content: Content, tasks: usize) -> Header {
    Header { content, tasks: tasks as u32, origin: "seed".to_owned(), collectives: Vec::new(), notes: Vec::new() }
}

fn container(program: &Program) -> Vec<u8> {
    let header = header(Content::Programs, program.tasks.len());
    let mut writer = Writer::new(Vec::new(), &header).expect("memory takes everything");
    writer.program(program).and_then(|()| writer.finish()).expect("memory takes everything")
}

fn graph_container(graph: &Graph) -> Vec<u8> {
    let header = header(Content::Graphs, graph.ranks().len());
    let mut writer = Writer::new(Vec::new(), &header).expect("memory takes everything");
    writer.graph(graph).and_then(|()| writer.finish()).expect("memory takes everything")
}

fn trc(program: &Program) -> Vec<u8> {
    let mut out = Vec::new();
    write::trc(program, &mut out).expect("a kernel whose operations block");
    out
}

/// Seeds of all formats.
#[must_use]
pub fn all() -> Vec<Seed> {
    let seed = |name, format, bytes| Seed { name, format, bytes };
    let graph = pattern("pipelinedringdep:ranks=4,bytes=3000");
    let (mut goal, mut packed) = (Vec::new(), Vec::new());
    text::write(&graph, &mut goal).expect("memory takes everything");
    binary::write(&graph, &mut packed).expect("memory takes everything");
    let ranks = |rank: char| TI.lines().filter(|line| line.starts_with(rank)).map(|line| format!("{line}\n")).collect();
    let ti = folder(&[("t/0", ranks('0')), ("t/1", ranks('1')), ("t/index", "0\n1\n".to_owned())]);
    let log = folder(&[("p/rank-0.log", calls(0)), ("p/rank-1.log", calls(1))]);
    vec![
        seed("trc", "fsin-trc", trc(&kernel("all-to-all:tasks=4,bytes=100"))),
        seed("ti", "simgrid-ti", TI.as_bytes().to_vec()),
        seed("ti folder", "simgrid-ti", ti.clone()),
        seed("ti folder, xz", "simgrid-ti", xz(&ti)),
        seed("pmpi folder", "liballprof", log),
        seed("goal text", "goal", goal),
        seed("goal binary", "goal-bin", packed),
        seed("trg", "trg", container(&kernel("butterfly:tasks=8,bytes=5000"))),
        seed("trg of a graph", "trg", graph_container(&graph)),
    ]
}
