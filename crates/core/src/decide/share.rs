//! Who of several workers looks at a run first.
//!
//! All of them hear of it at the same moment, and only one can continue with it: if all tried, the more workers there are the more of the
//! store's time would go into refusing.
//!
//! **Invariant:** engines that know the same workers give the same answer, and a worker that comes or goes changes nothing between the others.

use crate::id::RunId;

/// The worker that looks at a run before the others do.
pub fn goes_first<'w>(run: &RunId, workers: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    workers.into_iter().max_by_key(|worker| (weight(run, worker), *worker))
}

fn weight(run: &RunId, worker: &str) -> [u8; 8] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(run.as_str().as_bytes()).update(&[0]).update(worker.as_bytes());
    let mut weight = [0; 8];
    weight.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    weight
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const WORKERS: [&str; 5] = ["alpha-1", "alpha-2", "bravo-1", "charlie-1", "delta-1"];

    fn runs() -> impl Iterator<Item = RunId> {
        (0..500).map(|number| RunId::new(format!("run-{number}")).unwrap())
    }

    #[test]
    fn every_worker_has_about_its_share_whatever_the_order_in_which_they_are_known() {
        let mut shares: HashMap<&str, usize> = HashMap::new();
        for run in runs() {
            let first = goes_first(&run, WORKERS).unwrap();
            assert_eq!(goes_first(&run, WORKERS.into_iter().rev()), Some(first));
            *shares.entry(first).or_default() += 1;
        }
        assert!(WORKERS.iter().all(|worker| (60..=140).contains(&shares[worker])), "{shares:?}");
    }

    #[test]
    fn a_worker_that_goes_leaves_the_shares_of_the_others_as_they_are() {
        for run in runs() {
            let (before, after) = (goes_first(&run, WORKERS), goes_first(&run, WORKERS.into_iter().skip(1)));
            assert!(before == after || before == Some(WORKERS[0]), "{run}");
        }
        assert_eq!(goes_first(&runs().next().unwrap(), []), None);
    }
}
