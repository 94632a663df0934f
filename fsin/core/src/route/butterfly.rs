//! Butterflies: at each stage to the switch that the next digit of the destination names. Links lead from stage to
//! stage, so that no channels wait for each other in a cycle.

use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::table::{Build, Choice, Function, Row, Serves, fabric, planned};
use super::{ChannelPolicy, Draw, Hop, RoutingFunction, Visit};
use crate::topology::switched::Butterfly as Plan;

/// By the digits of the destination.
pub static ROW: Row = Row {
    component: Component {
        name: "destination-tag",
        about: "fly: at stage i the port that digit i of the destination names, the first digit first; any channel",
        parameters: &[],
        source: "Lawrie, Access and alignment of data in an array processor, TC 24(12), 1975; Dally and Towles, Principles and \
                 Practices of Interconnection Networks, 2004, section 8.4.1",
    },
    aliases: &["dest_tag", "dest-tag"],
    serves: Serves::Only(&["fly"]),
    policy: ChannelPolicy::Free,
    why: "",
    choice: Choice::One,
    build: |build| Butterfly::build(build),
};

/// Routes of a butterfly.
#[derive(Debug)]
pub struct Butterfly {
    plan: Plan,
    /// By switch and digit: the port.
    ports: Vec<u32>,
}

impl Butterfly {
    fn build(build: &Build<'_>) -> Result<Function, SpecError> {
        let (plan, fabric) = (*planned::<Plan>(build.topology)?, fabric(build.topology)?);
        let switches = (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let ports = switches.flat_map(|switch| (0..plan.radix as usize).map(move |digit| fabric.port(switch, digit).0));
        Ok(Function::Butterfly(Self { plan, ports: ports.collect() }))
    }
}

impl RoutingFunction for Butterfly {
    fn classes(&self) -> usize {
        1
    }

    fn has_phases(&self) -> bool {
        false
    }

    #[inline]
    fn hops(&self, at: &Visit, _: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let digit = self.plan.digit(at.here as u32, at.destination);
        add(Hop::free(self.ports[at.here * self.plan.radix as usize + digit as usize]));
    }

    /// Fewer stages and smaller switches: the order of channels by stage is the same.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        Some(vec![(format!("fly:{},{}", self.plan.radix.min(2), self.plan.stages.min(3)), 2)])
    }
}
