//! Allocators, written as they are defined: they compute a matching from a set of requests.

use std::cmp::Reverse;

use crate::params::Allocator as Kind;

/// Matches requesters with resources; its pointers persist from step to step.
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    /// The algorithm.
    kind: Kind,
    /// By requester: the resource with which its next search begins.
    accept: Vec<usize>,
    /// By resource: the requester with which its next search begins.
    grant: Vec<usize>,
    /// The diagonal with which the next wavefront allocation begins.
    diagonal: usize,
}

/// A request of a requester for a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    /// Number of the requester: an input VC or input port.
    pub(crate) requester: usize,
    /// Number of the resource: an output VC or output port.
    pub(crate) resource: usize,
    /// \[cycle\] Creation of the packet that makes the request.
    pub(crate) created: u64,
    /// Priority among the requests of one requester.
    pub(crate) own: i64,
    /// Priority among the requests for one resource.
    pub(crate) rank: i64,
}

impl Allocator {
    pub(crate) fn new(kind: Kind, requesters: usize, resources: usize) -> Self {
        Self { kind, accept: vec![0; requesters], grant: vec![0; resources], diagonal: 0 }
    }

    /// Returns by requester the resource that it is given. `requests` may contain at most one request for each pair.
    pub(crate) fn allocate(&mut self, requests: &[Request]) -> Vec<Option<usize>> {
        let mut given = vec![None; self.accept.len()];
        let mut taken = vec![false; self.grant.len()];
        match self.kind {
            Kind::Islip { iterations } => {
                for iteration in 0..iterations {
                    self.islip(requests, iteration == 0, &mut given, &mut taken);
                }
            }
            Kind::Separable => self.separable(requests, &mut given),
            Kind::Wavefront => self.wavefront(requests, &mut given, &mut taken),
            Kind::OldestFirst => {
                let mut sorted = requests.to_vec();
                sorted.sort_by_key(|request| (request.created, request.requester, request.resource));
                for Request { requester, resource, .. } in sorted {
                    if given[requester].is_none() && !taken[resource] {
                        (given[requester], taken[resource]) = (Some(resource), true);
                    }
                }
            }
        }
        given
    }

    /// One iteration of iSLIP. Adds matches to `given` (by requester) and `taken` (by resource).
    fn islip(&mut self, requests: &[Request], is_first: bool, given: &mut [Option<usize>], taken: &mut [bool]) {
        let (requesters, resources) = (self.accept.len(), self.grant.len());
        let open = |request: &&Request| given[request.requester].is_none() && !taken[request.resource];
        let mut granted = vec![Vec::new(); requesters];
        for resource in 0..resources {
            let asks = requests.iter().filter(open).filter(|request| request.resource == resource);
            if let Some(first) = first_from(asks.map(|request| request.requester), self.grant[resource], requesters) {
                granted[first].push(resource);
            }
        }
        for (requester, offers) in granted.into_iter().enumerate() {
            let Some(resource) = first_from(offers.into_iter(), self.accept[requester], resources) else { continue };
            (given[requester], taken[resource]) = (Some(resource), true);
            if is_first {
                self.grant[resource] = (requester + 1) % requesters;
                self.accept[requester] = (resource + 1) % resources;
            }
        }
    }

    /// Input-first separable allocation: each stage takes the request of the largest priority, and among equals the
    /// first from its pointer on. Adds matches to `given` (by requester).
    fn separable(&mut self, requests: &[Request], given: &mut [Option<usize>]) {
        let (requesters, resources) = (self.accept.len(), self.grant.len());
        let mut picked = vec![Vec::new(); resources];
        for requester in 0..requesters {
            let asked = requests.iter().filter(|request| request.requester == requester);
            let distance = |request: &&Request| (request.resource + resources - self.accept[requester]) % resources;
            if let Some(pick) = asked.min_by_key(|request| (Reverse(request.own), distance(request))) {
                picked[pick.resource].push(*pick);
            }
        }
        for (resource, asking) in picked.into_iter().enumerate() {
            let distance = |request: &Request| (request.requester + requesters - self.grant[resource]) % requesters;
            let won = asking.iter().min_by_key(|request| (Reverse(request.rank), distance(request)));
            let Some(&Request { requester, .. }) = won else { continue };
            given[requester] = Some(resource);
            self.grant[resource] = (requester + 1) % requesters;
            self.accept[requester] = (resource + 1) % resources;
        }
    }

    /// Wavefront allocation. Adds matches to `given` (by requester) and `taken` (by resource).
    fn wavefront(&mut self, requests: &[Request], given: &mut [Option<usize>], taken: &mut [bool]) {
        let size = self.accept.len().max(self.grant.len());
        let mut sorted = requests.to_vec();
        sorted.sort_by_key(|request| {
            ((request.requester + request.resource + size - self.diagonal) % size, request.requester)
        });
        for Request { requester, resource, .. } in sorted {
            if given[requester].is_none() && !taken[resource] {
                (given[requester], taken[resource]) = (Some(resource), true);
            }
        }
        // Without requests, the diagonal stays where it is.
        if !requests.is_empty() {
            self.diagonal = (self.diagonal + 1) % size;
        }
    }
}

/// The first of the numbers `among` in the cyclic order of the numbers below `count` that begins with `start`.
fn first_from(among: impl Iterator<Item = usize>, start: usize, count: usize) -> Option<usize> {
    among.min_by_key(|&number| (number + count - start) % count)
}
