//! Valid files of every format, small enough to be read a million times.

use std::io::Write as _;

use crate::chakra;
use trgen::trace::container::{Content, Header, Writer};
use trgen::trace::formats::write;
use trgen::trace::goal::{Graph, binary, patterns, text};
use trgen::trace::kernels;
use trgen::trace::program::Program;

/// A valid file.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Its description, for messages.
    pub name: &'static str,
    /// The format as which it is read.
    pub format: &'static str,
    /// Its contents.
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

const OTF2: &str = r#"
=== OTF2-PRINT ===
Creator                        Score-P 7.1
=== Global Definitions =========================================================
CLOCK_PROPERTIES                          Ticks per Seconds: 2000000000, Global Offset: 0, Length: 590376159, Date: UNDEFINED
STRING                                 1  "P#0"
LOCATION                               0  Name: "T 0" <12>, Type: CPU_THREAD, # Events: 60, Group: "MPI Rank 0" <0>
LOCATION                               9  Name: "T 1" <12>, Type: CPU_THREAD, # Events: 60, Group: "MPI Rank 1" <1>
GROUP                                  0  Name: "" <0>, Type: COMM_LOCATIONS, Paradigm: "MPI" <4>, Flags: NONE, 2 Members: "T 0" <0>, "T 1" <9>
GROUP                                  4  Name: "" <0>, Type: COMM_GROUP, Paradigm: "MPI" <4>, Flags: NONE, 2 Members: 0 ("T 0" <0>), 1 ("T 1" <9>)
GROUP                                  5  Name: "" <0>, Type: COMM_GROUP, Paradigm: "MPI" <4>, Flags: NONE, 2 Members: 0 ("T 1" <9>), 1 ("T 0" <0>)
COMM                                   1  Name: "MPI_COMM_WORLD" <257>, Group: "" <4>, Parent: UNDEFINED, Flags: NONE
COMM                                   2  Name: "half" <258>, Group: "" <5>, Parent: "MPI_COMM_WORLD" <1>, Flags: NONE
=== Events =====================================================================
Event                               Location            Timestamp  Attributes
ENTER                                          0               1000  Region: "MPI_Send" <42>
MPI_SEND                                       0               1010  Receiver: 1 ("T 1" <9>), Communicator: "MPI_COMM_WORLD" <1>, Tag: 7, Length: 16384
LEAVE                                          0               1100  Region: "MPI_Send" <42>
MPI_IRECV_REQUEST                              9               1000  Request: 140721301803892
ENTER                                          9               2000  Region: "mpi_wait_" <43>
MPI_IRECV                                      9               2010  Sender: 0 ("T 0" <0>), Communicator: "MPI_COMM_WORLD" <1>, Tag: 7, Length: 16384, Request: 140721301803892
LEAVE                                          9               2100  Region: "mpi_wait_" <43>
ENTER                                          0               5100  Region: "MPI_Isend" <44>
MPI_ISEND                                      0               5110  Receiver: 0 ("T 1" <9>), Communicator: "half" <2>, Tag: 8, Length: 4, Request: 2
LEAVE                                          0               5120  Region: "MPI_Isend" <44>
MPI_RECV                                       9               5200  Sender: 1 ("T 0" <0>), Communicator: "half" <2>, Tag: 8, Length: 4
MPI_ISEND_COMPLETE                             0               5300  Request: 2
MPI_COLLECTIVE_BEGIN                           0               5400
MPI_COLLECTIVE_END                             0               5500  Operation: ALLREDUCE, Communicator: "half" <2>, Root: NONE, Sent: 16, Received: 16
MPI_COLLECTIVE_END                             9               5500  Operation: ALLREDUCE, Communicator: "half" <2>, Root: NONE, Sent: 16, Received: 16
MPI_COLLECTIVE_END                             0               5600  Operation: BCAST, Communicator: "MPI_COMM_WORLD" <1>, Root: 0 ("T 0" <0>), Sent: 8, Received: 4
MPI_COLLECTIVE_END                             9               5600  Operation: BCAST, Communicator: "MPI_COMM_WORLD" <1>, Root: 0 ("T 0" <0>), Sent: 0, Received: 4
MPI_IRECV_REQUEST                              9               5700  Request: 3
"#;

/// Calls of one rank in the form of `dumpi2ascii`, one per line with its arguments; `R` stands for the rank, `P` for
/// the other one.
const DUMP: &str = "Init;int argc=1;string argv[1]=[\"./a\"]
Comm_rank;W;int rank=R
Comm_size;W;int size=2
Type_struct;int count=2;int lengths[2]=[1, 4];MPI_Datatype oldtypes[2]=[14 (MPI_DOUBLE), 9 (MPI_INT)];MPI_Datatype newtype=28
Comm_split;W;int color=0;int key=P;MPI_Comm newcomm=4 (user-defined-comm)
Comm_group;W;MPI_Group group=3
Group_incl;MPI_Group group=3;int count=2;int ranks[2]=[1, 0];MPI_Group newgroup=4
Comm_create;W;MPI_Group group=4;MPI_Comm newcomm=5
Cart_create;MPI_Comm oldcomm=2 (MPI_COMM_WORLD);int ndims=2;int dims[2]=[2, 1];MPI_Comm newcomm=6
Cart_sub;MPI_Comm oldcomm=6;int remain_dims[2]=[1, 0];MPI_Comm newcomm=7
Irecv;int count=2;MPI_Datatype datatype=28;int source=-1 (MPI_ANY_SOURCE);int tag=7;W;MPI_Request request=[2]
Isend;int count=2;MPI_Datatype datatype=28;int dest=P;int tag=7;W;MPI_Request request=[3]
Waitall;int count=2;MPI_Request requests[2]=[2, 3];MPI_Status statuses=<IGNORED>
Recv_init;int count=1;D;int source=P;int tag=8;W;MPI_Request request=[5]
Send_init;int count=1;D;int dest=P;int tag=8;W;MPI_Request request=[6]
Startall;int count=2;MPI_Request requests[2]=[5, 6]
Waitany;int count=2;MPI_Request requests[2]=[5, 6];int index=1
Waitsome;int count=2;MPI_Request requests[2]=[5, 6];int outcount=1;int indices[1]=[0]
Request_free;MPI_Request request=[6]
Allreduce;int count=5;D;MPI_Op op=3 (MPI_SUM);MPI_Comm comm=4 (user-defined-comm)
Alltoallv;int sendcounts[2]=[1, 2];MPI_Datatype sendtype=9 (MPI_INT);int recvcounts[2]=[1, 2];MPI_Datatype recvtype=9 (MPI_INT);W
Gather;int sendcount=1;MPI_Datatype sendtype=9 (MPI_INT);int recvcount=1;MPI_Datatype recvtype=9 (MPI_INT);int root=1;MPI_Comm comm=5
Bcast;int count=1000;D;int root=0;MPI_Comm comm=7
Finalize";

const DIMEMAS: &str = "#DIMEMAS:seed:1,100:3(1,1,1)\nd:1:0:3:0:1:2\nd:1:5:2:2:0\no:0:0\ns:0:0:100\n1:0:0:0.000001\n\
2:0:0:1:100:7:0:0\n3:1:0:0:100:7:0:1\n20:1:0:40:1\n3:1:0:0:100:7:0:2\n2:1:0:2:50:8:0:2\n3:2:0:1:50:8:0:0\n\
2:0:0:2:9:-5:5:1\n3:2:0:-1:9:-1:5:0\n10:0:0:11:5:0:0:64:64\n10:2:0:11:5:0:0:64:64\n10:0:0:0:0:0:0:0\n\
10:1:0:0:0:0:0:0\n10:2:0:0:0:0:0:0\n10:0:0:9:0:0:0:300:300\n10:1:0:9:0:0:0:300:300\n10:2:0:9:0:0:0:300:300\n\
1:2:0:1.5e-3\n";

const ALOG: &str = "-1 0 0 0 0 0 start\n-101 0 0 1 0 100 7 64\n-102 1 0 0 0 120 7 64\n-5 0 0 0 0 0 a state\n\
-101 1 0 2 0 130 8 32\n-102 2 0 1 0 150 8 32\n-101 2 0 0 0 151 9 0\n-102 0 0 2 0 152 9 0\n";

fn folder<T: AsRef<[u8]>>(files: &[(&str, T)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.as_ref().len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, content.as_ref()).expect("memory takes everything");
    }
    builder.into_inner().expect("memory takes everything")
}

fn calls(rank: usize) -> String {
    CALLS
        .replace('R', &rank.to_string())
        .replace("MPI_", "\0")
        .replace('P', &(1 - rank).to_string())
        .replace('\0', "MPI_")
        // Restore the letters of names that are not placeholders.
        .replace(&format!("MPI_{rank}ecv"), "MPI_Recv")
        .replace(&format!("MPI_{rank}educe"), "MPI_Reduce")
}

/// The dump of a rank.
fn dump(rank: usize) -> String {
    let mut text = "version=1.1.0\nstarttime=Sat Nov 21 12:00:00 2026\n".to_owned();
    for (number, line) in DUMP.lines().enumerate() {
        let mut lines = line.split(';');
        let name = lines.next().unwrap_or_default();
        let mut edge = |what: &str, time: usize, arguments: &mut dyn Iterator<Item = &str>| {
            let clocks = format!("walltime 1296777956.{time:09}, cputime 0.{time:09} seconds in thread 0.");
            text += &format!("MPI_{name} {what} at {clocks}\n");
            for argument in arguments {
                let argument = match argument {
                    "W" => "MPI_Comm comm=2 (MPI_COMM_WORLD)".to_owned(),
                    "D" => "MPI_Datatype datatype=14 (MPI_DOUBLE)".to_owned(),
                    other => other.replace("=R", &format!("={rank}")).replace("=P", &format!("={}", 1 - rank)),
                };
                text += &format!("{argument}\n");
            }
        };
        edge("entering", 1000 * number, &mut lines);
        edge("returning", 1000 * number + 300, &mut std::iter::empty());
    }
    text + "MPI_ALL_FUNCTIONS called 24 times and ignored 0 times\nDatatype 9 (MPI_INT) has size 4\n"
}

/// The dump of a program of one rank: without an archive around it, more mutations reach the contents.
fn dump_of_one() -> String {
    dump(0)
        .replace("dest=1", "dest=0")
        .replace("source=1", "source=0")
        .replace("root=1", "root=0")
        .replace("size=2", "size=1")
        .replace("int count=2\nint ranks[2]=[1, 0]", "int count=1\nint ranks[1]=[0]")
        .replace("dims[2]=[2, 1]", "dims[2]=[1, 1]")
        .replace("counts[2]=[1, 2]", "counts[1]=[1]")
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

/// A Chakra trace of one rank, with `steps` computations, messages and collectives.
fn chakra_rank(rank: i32, steps: u64, packed: bool) -> Vec<u8> {
    let groups = chakra::Node {
        name: "## process_group:init ##",
        kind: 1,
        input: Some("[\"[{\\\"pg_name\\\": \\\"7\\\", \\\"ranks\\\": [0, 1]}]\"]"),
        ..chakra::Node::default()
    };
    let mut nodes = vec![groups];
    for step in 0..steps {
        let id = 1 + 5 * step;
        nodes.push(chakra::compute(id, 3 + step, &[id - 1]));
        nodes.push(chakra::send(id + 1, 1 - rank, 5, 100, &[id]));
        nodes.push(chakra::receive(id + 2, 1 - rank, 5, 100, &[id]));
        nodes.push(chakra::collective(id + 3, (step % 10) as i64, 4096, "7", &[id + 1, id + 2]));
        nodes.push(chakra::collective(id + 4, 0, 64, "", &[id + 3]));
    }
    chakra::file(&nodes, packed.then_some("0.0.4"), packed)
}

/// Valid files of some hundred kilobytes, to measure the cost of reading.
#[must_use]
pub fn large() -> Vec<Seed> {
    let seed = |name, format, bytes| Seed { name, format, bytes };
    let (graph, program) = (pattern("dissemination:ranks=1024"), kernel("all-to-all:tasks=96,bytes=1000"));
    let (mut goal, mut packed, mut ti) = (Vec::new(), Vec::new(), Vec::new());
    text::write(&graph, &mut goal).expect("memory takes everything");
    binary::write(&graph, &mut packed).expect("memory takes everything");
    let labels = write::labels(&program);
    let mut rank = |task| write::ti(&program, &labels, task, 5e9, &mut ti).expect("a kernel that blocks");
    (0..program.tasks.len()).for_each(&mut rank);
    let log: Vec<(String, String)> = (0..2)
        .map(|rank: usize| {
            let line = calls(rank)
                .lines()
                .filter(|line| line.contains("Send:"))
                .fold(String::new(), |all, line| all + line + "\n");
            (format!("p/rank-{rank}.log"), line.repeat(5000))
        })
        .collect();
    let sends: String = (1..4000_u32)
        .map(|time| {
            let clocks =
                |step| format!("walltime 9.{:06}000, cputime 0.{0:06}000 seconds in thread 0.", 2 * time + step);
            format!(
                "MPI_Send entering at {}\nint count=8\nMPI_Datatype datatype=9 (MPI_INT)\nint dest=0\nint tag=7\n\
                 MPI_Comm comm=2 (MPI_COMM_WORLD)\nMPI_Send returning at {}\n",
                clocks(0),
                clocks(1)
            )
        })
        .collect();
    let dumps = folder(&[("d/t-0000.txt", sends.clone()), ("d/t-0001.txt", sends)]);
    let log: Vec<(&str, String)> = log.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    vec![
        seed("trc", "fsin-trc", trc(&program)),
        seed("ti", "simgrid-ti", ti),
        seed("pmpi folder", "liballprof", folder(&log)),
        seed("dumpi folder", "dumpi-ascii", dumps),
        seed("goal text", "goal", goal),
        seed("goal binary", "goal-bin", packed),
        seed(
            "chakra",
            "chakra",
            folder(&[("c/x.0.et", chakra_rank(0, 2000, true)), ("c/x.1.et", chakra_rank(1, 2000, false))]),
        ),
        seed("trg", "trg", container(&program)),
        seed("trg of a graph", "trg", graph_container(&graph)),
    ]
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
        seed("dumpi folder", "dumpi-ascii", folder(&[("d/t-0000.txt", dump(0)), ("d/t-0001.txt", dump(1))])),
        seed("dumpi of one rank", "dumpi-ascii", dump_of_one().into_bytes()),
        seed("otf2-print", "otf2-print", OTF2.as_bytes().to_vec()),
        seed("dimemas", "dimemas", DIMEMAS.as_bytes().to_vec()),
        seed("alog", "alog", ALOG.as_bytes().to_vec()),
        seed("goal text", "goal", goal),
        seed("goal binary", "goal-bin", packed),
        seed(
            "chakra",
            "chakra",
            folder(&[("c/x.0.et", chakra_rank(0, 2, true)), ("c/x.1.et", chakra_rank(1, 2, false))]),
        ),
        seed("trg", "trg", container(&kernel("butterfly:tasks=8,bytes=5000"))),
        seed("trg of a graph", "trg", graph_container(&graph)),
    ]
}
