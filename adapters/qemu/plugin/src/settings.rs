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
}

impl Settings {
    /// Reads `address=ADDRESS`, `node=N`, `peers=N+N+...`, and if given `name=NAME` and `step=TIME`.
    ///
    /// # Errors
    /// What is wrong, with its remedy.
    pub(super) fn parse(words: &[String]) -> Result<Self, String> {
        let (mut address, mut node, mut peers, mut name, mut step) = (None, None, Vec::new(), None, 0);
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
                "name" => name = Some(value.to_owned()),
                "step" => {
                    step =
                        parse_span(value).ok_or_else(|| format!("{word}: not a time with its unit, such as 50us"))?;
                }
                _ => return Err(format!("no argument `{key}`; there are address, node, peers, name and step")),
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
        Ok(Self { address, config, peers })
    }
}
