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
    /// Of separable allocation, by requester and by resource: the place in the list of the best request so far. Empty
    /// between calls.
    picked: Vec<Option<usize>>,
    won: Vec<Option<usize>>,
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
        Self {
            kind,
            accept: vec![0; requesters],
            grant: vec![0; resources],
            diagonal: 0,
            picked: vec![None; requesters],
            won: vec![None; resources],
        }
    }

    /// Returns by requester the resource that it is given. `requests` may contain at most one request for each pair.
    pub(crate) fn allocate(&mut self, requests: &[Request]) -> Vec<Option<usize>> {
        let mut given = vec![None; self.accept.len()];
        let mut taken = vec![false; if self.kind == Kind::Separable { 0 } else { self.grant.len() }];
        match self.kind {
            Kind::Separable => self.separable(requests, &mut given),
            Kind::Islip { iterations } => {
                for iteration in 0..iterations {
                    self.islip(requests, iteration == 0, &mut given, &mut taken);
                }
            }
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
        let Self { accept, grant, picked, won, .. } = self;
        let (requesters, resources) = (accept.len(), grant.len());
        for (at, request) in requests.iter().enumerate() {
            let start = accept[request.requester];
            let key = |of: &Request| (Reverse(of.own), distance(of.resource, start, resources));
            let pick = &mut picked[request.requester];
            if pick.is_none_or(|other| key(request) < key(&requests[other])) {
                *pick = Some(at);
            }
        }
        for (at, request) in requests.iter().enumerate().filter(|(at, of)| picked[of.requester] == Some(*at)) {
            let start = grant[request.resource];
            let key = |of: &Request| (Reverse(of.rank), distance(of.requester, start, requesters));
            let best = &mut won[request.resource];
            if best.is_none_or(|other| key(request) < key(&requests[other])) {
                *best = Some(at);
            }
        }
        for (at, &Request { requester, resource, .. }) in requests.iter().enumerate() {
            if won[resource] == Some(at) {
                given[requester] = Some(resource);
                grant[resource] = (requester + 1) % requesters;
                accept[requester] = (resource + 1) % resources;
            }
        }
        for request in requests {
            (picked[request.requester], won[request.resource]) = (None, None);
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

/// Distance from `start` to `number` in the cyclic order of the numbers below `count`.
const fn distance(number: usize, start: usize, count: usize) -> usize {
    if number >= start { number - start } else { number + count - start }
}

/// The first of the numbers `among` in the cyclic order of the numbers below `count` that begins with `start`.
fn first_from(among: impl Iterator<Item = usize>, start: usize, count: usize) -> Option<usize> {
    among.min_by_key(|&number| distance(number, start, count))
}
