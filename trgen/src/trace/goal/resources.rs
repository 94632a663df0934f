//! The CPUs and network interfaces of all hosts.

use super::waiting::{Needs, Nic};

/// The times at which the resources of all hosts are free again, host by host: CPUs, then the sending sides, then the
/// receiving sides of network interfaces.
#[derive(Clone, Debug)]
pub(super) struct Resources {
    /// Number of CPUs per host.
    cpus: usize,
    /// Index of the first receiving side within a host; sending sides follow the CPUs.
    receiving: usize,
    /// Number of resources per host.
    per_host: usize,
    /// \[ticks\] The time at which each resource is free, by host and resource.
    free: Vec<u64>,
}

impl Resources {
    pub(super) fn new(hosts: usize, cpus: usize, nics: usize) -> Self {
        let per_host = cpus + 2 * nics;
        Self { cpus, receiving: cpus + nics, per_host, free: vec![0; hosts * per_host] }
    }

    /// Makes all resources free from the beginning on.
    pub(super) fn begin_anew(&mut self) {
        self.free.fill(0);
    }

    /// Index of the first resource of a host.
    const fn first(&self, host: u32) -> usize {
        host as usize * self.per_host
    }

    /// \[ticks\] The time at which all these resources of a host are free.
    pub(super) fn free(&self, host: u32, needs: Needs) -> u64 {
        let first = self.first(host);
        let cpu = self.free[first + needs.cpu as usize];
        match needs.nic {
            Nic::None => cpu,
            Nic::Sending(nic) => cpu.max(self.free[first + self.cpus + nic as usize]),
            Nic::Receiving(nic) => cpu.max(self.free[first + self.receiving + nic as usize]),
        }
    }

    /// Occupies a CPU until a time.
    pub(super) fn take_cpu(&mut self, host: u32, cpu: u8, until: u64) {
        let first = self.first(host);
        self.free[first + cpu as usize] = until;
    }

    /// Occupies the sending side of a network interface until a time.
    pub(super) fn take_sending(&mut self, host: u32, nic: u8, until: u64) {
        let first = self.first(host) + self.cpus;
        self.free[first + nic as usize] = until;
    }

    /// Occupies the receiving side of a network interface until a time.
    pub(super) fn take_receiving(&mut self, host: u32, nic: u8, until: u64) {
        let first = self.first(host) + self.receiving;
        self.free[first + nic as usize] = until;
    }

    /// \[ticks\] The time at which the sending side of a network interface is free.
    pub(super) fn sending_free(&self, host: u32, nic: u8) -> u64 {
        self.free[self.first(host) + self.cpus + nic as usize]
    }

    /// Keeps the CPU and the network interface of the sender of a rendezvous message busy until now.
    pub(super) fn hold_sender(&mut self, host: u32, cpu: u8, nic: u8, now: u64) {
        let first = self.first(host);
        for place in [first + cpu as usize, first + self.cpus + nic as usize] {
            self.free[place] = now.max(self.free[place]);
        }
    }

    /// Number of CPUs of a host.
    pub(super) const fn cpus(&self) -> usize {
        self.cpus
    }

    /// The time at which the last CPU of each host is free.
    pub(super) fn finish(&self) -> Vec<u64> {
        let hosts = self.free.chunks(self.per_host);
        hosts.map(|host| host[..self.cpus].iter().copied().max().unwrap_or_default()).collect()
    }
}
