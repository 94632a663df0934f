//! The plugin's arguments.

use std::time::Duration;

use adapters::address::Address;
use adapters::clock::parse_span;
use adapters::guest::Config;
use adapters::machine::NODES;

/// How long the plugin waits until an endpoint listens.
const PATIENCE: Duration = Duration::from_secs(3600);

/// The settings of the plugin.
#[derive(Debug)]
pub(super) struct Settings {
    /// The address at which the endpoint listens.
    pub(super) address: Address,
    pub(super) config: Config,
    /// The nodes of all machines of the network.
    pub(super) peers: Vec<u32>,
    /// The process with which the machine ends.
    pub(super) parent: Option<u32>,
}

impl Settings {
    /// Reads `address=ADDRESS`, `node=N`, `peers=N+N+...`, and if given `name=NAME`, `step=TIME` and
    /// `parent=PROCESS`.
    ///
    /// # Errors
    /// What is wrong, with its remedy.
    pub(super) fn parse(words: &[String]) -> Result<Self, String> {
        let (mut address, mut node, mut peers, mut name, mut step, mut parent) =
            (None, None, Vec::new(), None, 0, None);
        let number = |key: &str, word: &str| {
            let number = word.parse::<u32>().ok().filter(|&node| node < NODES);
            number.ok_or_else(|| format!("{key}={word}: a node is a number from 0 to {}", NODES - 1))
        };
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            match key {
                "address" => {
                    address = Some(value.parse::<Address>().map_err(|error| format!("{word}: {error}"))?);
                }
                "node" => node = Some(number(key, value)?),
                "peers" => peers = value.split('+').map(|word| number(key, word)).collect::<Result<_, _>>()?,
                "parent" => {
                    let number = value.parse::<u32>().ok().filter(|&number| number > 0);
                    parent = Some(number.ok_or_else(|| format!("{word}: not the number of a process"))?);
                }
                "name" => name = Some(value.to_owned()),
                "step" => {
                    step =
                        parse_span(value).ok_or_else(|| format!("{word}: not a time with its unit, such as 50us"))?;
                }
                _ => return Err(format!("no argument `{key}`; there are address, node, peers, name, step and parent")),
            }
        }
        let address = address.ok_or("its argument address=ADDRESS is missing: where `fsin serve` listens")?;
        let node = node.ok_or("its argument node=N is missing: the node of this machine")?;
        if peers.is_empty() {
            return Err("its argument peers=N+N+... is missing: the nodes of all machines".to_owned());
        }
        let config = Config {
            step,
            patience: PATIENCE,
            ..Config::new(name.unwrap_or_else(|| format!("machine at node {node}")), node)
        };
        Ok(Self { address, config, peers, parent })
    }
}
