//! The search for lists of operations that break rules.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, RngSeed, TestError, TestRng, TestRunner};

use crate::{Contract, Failing, Operation, Rule, Subject, examine, operations};

/// Maximum number of lists that are tried to shorten one.
const MOST_SHORTER: u32 = 20_000;

/// Checks a contract with random lists of operations: 256 lists, the same in every run, unless
/// `PROPTEST_CASES` and `PROPTEST_RNG_SEED` are set.
///
/// # Errors
/// If the controller breaks the contract. The error contains the shortest list found.
pub fn check(contract: Contract, subject: &impl Subject) -> Result<(), Failing> {
    let mut config = quiet();
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    let outcome = TestRunner::new(config)
        .run(&operations(), |operations| fail_if(!examine(contract, subject, &operations).is_empty()));
    match outcome {
        Err(TestError::Fail(_, operations)) => {
            first_of(contract, subject, operations, |_| true).map_or(Ok(()), Err)
        }
        // No list is rejected.
        Ok(()) | Err(TestError::Abort(_)) => Ok(()),
    }
}

fn quiet() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

fn fail_if(is_broken: bool) -> Result<(), TestCaseError> {
    if is_broken { Err(TestCaseError::fail("")) } else { Ok(()) }
}

/// Returns the list with the first rule that it breaks and `counts` accepts.
fn first_of(
    contract: Contract,
    subject: &impl Subject,
    operations: Vec<Operation>,
    counts: impl Fn(Rule) -> bool,
) -> Option<Failing> {
    let breach = examine(contract, subject, &operations).into_iter().find(|breach| counts(breach.rule))?;
    Some(Failing { breach, operations })
}

/// The rules that a controller breaks, over any number of random lists of operations.
///
/// The lists are numbered. A list depends only on the seed and its number.
#[derive(Clone, Debug)]
pub struct Examination {
    contract: Contract,
    seed: u64,
    lists: u64,
    broken: BTreeMap<Rule, Broken>,
}

/// Statistics of a broken rule.
#[derive(Clone, Copy, Debug)]
struct Broken {
    lists: u64,
    /// Number of the list with the earliest breach, and the number of operations up to it.
    list: u64,
    operations: usize,
}

impl Examination {
    /// Creates an examination without any list yet.
    pub const fn new(contract: Contract, seed: u64) -> Self {
        Self { contract, seed, lists: 0, broken: BTreeMap::new() }
    }

    /// Returns the contract.
    pub const fn contract(&self) -> Contract {
        self.contract
    }

    /// Returns the number of examined lists.
    pub const fn lists(&self) -> u64 {
        self.lists
    }

    /// Returns the number of lists that broke a rule.
    pub fn broken(&self, rule: Rule) -> u64 {
        self.broken.get(&rule).map_or(0, |broken| broken.lists)
    }

    /// Returns a list by its number.
    pub fn operations(&self, number: u64) -> Vec<Operation> {
        self.list(number).1.current()
    }

    /// Examines the next lists.
    pub fn examine(&mut self, subject: &impl Subject, lists: u64) {
        for _ in 0..lists {
            let list = self.lists;
            self.lists += 1;
            for breach in examine(self.contract, subject, &self.operations(list)) {
                let operations = breach.operation.map_or(0, |operation| operation + 1);
                let new = Broken { lists: 0, list, operations };
                let broken = self.broken.entry(breach.rule).or_insert(new);
                if operations < broken.operations {
                    (broken.list, broken.operations) = (list, operations);
                }
                broken.lists += 1;
            }
        }
    }

    /// Returns a short list that breaks a rule; `None` if no examined list does. Without any one of its
    /// operations it would not break the rule.
    pub fn shortest(&self, subject: &impl Subject, rule: Rule) -> Option<Failing> {
        let (mut runner, tree) = self.list(self.broken.get(&rule)?.list);
        let breaks = |operations: &[Operation]| {
            examine(self.contract, subject, operations).iter().any(|breach| breach.rule == rule)
        };
        let outcome = runner.run_one(tree, |operations| fail_if(breaks(&operations)));
        let Err(TestError::Fail(_, mut operations)) = outcome else { return None };
        // The first pass deletes operations before it simplifies others. After the simplification more may be
        // superfluous.
        let mut index = operations.len();
        while index > 0 {
            index -= 1;
            let mut shorter = operations.clone();
            shorter.remove(index);
            if breaks(&shorter) {
                index = shorter.len();
                operations = shorter;
            }
        }
        first_of(self.contract, subject, operations, |broken| broken == rule)
    }

    /// Returns a list as generated by proptest, and its runner.
    fn list(&self, number: u64) -> (TestRunner, impl ValueTree<Value = Vec<Operation>> + use<>) {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        seed[8..16].copy_from_slice(&number.to_le_bytes());
        let config = ProptestConfig { max_shrink_iters: MOST_SHORTER, ..quiet() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
        let tree = operations().new_tree(&mut runner).expect("no list is rejected");
        (runner, tree)
    }
}
