//! A matrix product shared out by a master: the one kernel that computes.

use super::{Entry, ITERATIONS, Kernel, Shape, TASKS, any_number};
use crate::catalog::{Component, Parameter};

/// Largest number of rows: a matrix of elements of 64 GiB still has fewer than 2^64 bytes.
pub(super) const LARGEST_MATRIX: i64 = 4_096;

/// \[ns\] Longest time of a multiply-add.
pub(super) const LONGEST: f64 = 1e6;

/// Number of rows of C that a task computes. Rows are shared out equally; the first tasks get one more if need be.
fn rows(shape: &Shape, task: u32) -> u64 {
    u64::from(shape.matrix / shape.tasks) + u64::from(task < shape.matrix % shape.tasks)
}

pub(super) static MATMUL: Entry = Entry {
    component: Component {
        name: "matmul",
        about: "C = A B of n x n: task 0 sends 1, 2, ... their rows of A and all of B transposed; every task computes its \
                rows of C, and task 0 receives them",
        parameters: &[
            Parameter { name: "n", about: "rows and columns of the matrices", range: "1..=4096", default: "128" },
            Parameter { name: "madd", about: "time of a multiply-add [ns]", range: "0..=10^6", default: "250" },
            TASKS,
            Parameter { name: "bytes", about: "size of an element [bytes]", range: "0..=2^36", default: "4" },
            ITERATIONS,
        ],
        source: "George, VanLoon: parallel matrix multiplication on Myrinet",
    },
    aliases: &[],
    build: Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: |shape| 3 * (u64::from(shape.tasks) - 1),
        collective: None,
        labels: |_| 3,
        task: |shape, task, steps| {
            let (n, element) = (u64::from(shape.matrix), shape.bytes);
            // At most 4096 rows of 4096 elements of 2^36 bytes.
            let strip = |task| rows(shape, task) * n * element;
            let time = (rows(shape, task) * n * n).saturating_mul(shape.madd);
            if task > 0 {
                for (label, bytes) in [(0, strip(task)), (1, n * n * element)] {
                    steps.bytes = bytes;
                    steps.receive(0, label);
                }
                steps.compute(time);
                steps.bytes = strip(task);
                return steps.send(0, 2);
            }
            for to in 1..shape.tasks {
                for (label, bytes) in [(0, strip(to)), (1, n * n * element)] {
                    steps.bytes = bytes;
                    steps.send(to, label);
                }
            }
            steps.compute(time);
            for from in 1..shape.tasks {
                steps.bytes = strip(from);
                steps.receive(from, 2);
            }
        },
    },
};

#[cfg(test)]
mod tests {
    use crate::trace::kernels::parse;
    use crate::units::Picoseconds;

    #[test]
    fn the_master_shares_out_and_gathers() {
        let program = parse("matmul:n=10,tasks=4,madd=2", 4, None).unwrap();
        let totals = program.totals();
        // Rows 3, 3, 2, 2; three strips of A and of C, and B three times.
        assert_eq!(totals.point_to_point_messages, 9);
        assert_eq!(totals.point_to_point_bytes, 4 * (2 * 70 + 3 * 100));
        assert_eq!(totals.compute, Picoseconds(1_000 * 2_000));
        let alone = parse("matmul:n=10,tasks=1", 4, None).unwrap().totals();
        assert_eq!((alone.point_to_point_messages, alone.compute), (0, Picoseconds(1_000 * 250_000)));
        assert!(parse("matmul:n=0", 4, None).is_err() && parse("matmul:n=5000", 4, None).is_err());
    }
}
