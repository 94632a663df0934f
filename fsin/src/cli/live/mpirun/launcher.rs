//! Ranks that another command starts: Slurm's `srun`, `mpiexec`, `ssh`. The network listens on TCP, and ranks find it by
//! a file in the folder of the run, which all hosts must share.
//!
//! Decision: docs/decisions/0273-launchers.md.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use adapters::address::{Address, NotAnAddress};
use adapters::token::{self, Token};
use clap::ArgMatches;

use crate::cli::{Complaint, Exit};

/// The word of a launcher that stands for the number of a rank.
const RANK: &str = "{rank}";
/// The file in the folder of the run with the settings of the ranks.
const SETTINGS: &str = "settings";
/// The variable that says how long a rank computes.
pub(super) const COMPUTE: &str = "FSIN_MPI_COMPUTE";

/// The command that starts the ranks.
#[derive(Clone, Debug)]
pub(super) struct Launcher {
    /// Its words.
    words: Vec<String>,
    /// The address at which the network listens.
    listen: Address,
    /// The secret that ranks prove to know.
    secret: String,
}

impl Launcher {
    /// The launcher that the command line names, if it names one.
    pub(super) fn of(matches: &ArgMatches) -> Result<Option<Self>, Complaint> {
        let listen = matches.get_one::<String>("listen");
        let Some(words) = matches.get_one::<String>("launcher") else {
            if listen.is_some() {
                let remedy = "leave --listen out, or name the command that starts ranks elsewhere: --launcher";
                return Err(Complaint::new(Exit::Usage, "--listen: ranks of this machine need no address", remedy));
            }
            return Ok(None);
        };
        let refused =
            |what: &str, remedy: &'static str| Complaint::new(Exit::Usage, format!("--launcher: {what}"), remedy);
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(refused("there is no command", "write --launcher 'srun -n 64', or leave it out"));
        }
        if words.iter().any(|word| word.contains(['\'', '"', '\\'])) {
            let remedy = "put the command into a script, and name that";
            return Err(refused("quotes are not read, words end at blanks", remedy));
        }
        if matches.get_flag("label") && !words.iter().any(|word| word.contains(RANK)) {
            let remedy = "leave out --label, and use the launcher's own: srun --label, mpiexec -prepend-rank";
            return Err(refused("its output is that of all ranks together", remedy));
        }
        let listen = match listen {
            Some(word) => word.parse().map_err(|refused: NotAnAddress| {
                Complaint::new(
                    Exit::Usage,
                    format!("--listen: {refused}"),
                    "write an address of this host, as 10.0.0.1:0",
                )
            })?,
            None => Address::Tcp(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))),
        };
        if let Address::Unix(_) = listen {
            let remedy = "write an address of this host with its port, 0 for a free one: --listen 10.0.0.1:0";
            return Err(Complaint::new(
                Exit::Usage,
                "--listen: a socket of this machine is no address for others",
                remedy,
            ));
        }
        let Some(nonce) = token::nonce() else {
            return Err(Complaint::new(Exit::Failed, "the system has no random bytes for a token", "see /dev/urandom"));
        };
        let secret = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(Self { words, listen, secret }))
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        self.words.join(" ")
    }

    /// True if it starts one rank, and is called for each.
    pub(super) fn is_per_rank(&self) -> bool {
        self.words.iter().any(|word| word.contains(RANK))
    }

    /// The address on which the network is to listen.
    pub(super) const fn listen(&self) -> &Address {
        &self.listen
    }

    /// The token of the run.
    pub(super) fn token(&self) -> Option<Token> {
        Token::new(self.secret.as_bytes()).ok()
    }

    /// The address by which ranks reach the network that listens on `bound`: with the name of this host, if it listens
    /// on all of its addresses.
    pub(super) fn address(bound: &Address) -> String {
        match bound {
            Address::Tcp(address) if address.ip().is_unspecified() => {
                format!("{}:{}", gethostname::gethostname().to_string_lossy(), address.port())
            }
            other => other.to_string(),
        }
    }

    /// The words that precede those of the program, for a rank or all: the launcher, and variables of the environment.
    pub(super) fn command(&self, rank: usize, variables: &[(&str, OsString)]) -> Vec<OsString> {
        let mut words: Vec<OsString> =
            self.words.iter().map(|word| word.replace(RANK, &rank.to_string()).into()).collect();
        words.push("env".into());
        for (name, value) in variables {
            let mut word = OsString::from(format!("{name}="));
            word.push(value);
            words.push(word);
        }
        if self.is_per_rank() {
            words.push(format!("FSIN_MPI_RANK={rank}").into());
        }
        words
    }

    /// Writes the settings of the ranks, with the token, to a file that only the user can read.
    /// `compute` says by rank how long it computes.
    pub(super) fn write_settings(
        &self,
        folder: &Path,
        settings: &[(&str, String)],
        compute: &[String],
    ) -> Result<(), Complaint> {
        let path = folder.join(SETTINGS);
        let mut text = format!("FSIN_MPI_TOKEN={}\n", self.secret);
        settings.iter().for_each(|(name, value)| text.push_str(&format!("{name}={value}\n")));
        for (rank, word) in compute.iter().enumerate() {
            text.push_str(&format!("{COMPUTE}@{rank}={word}\n"));
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
            let what = format!("cannot write the settings of the ranks to {}: {error}", path.display());
            Complaint::new(Exit::Failed, what, "free some space, or set TMPDIR to a folder that can be written to")
        })
    }
}
