//! Quantities that algorithms report by name.

/// Names, numbered in the order of their first appearance.
#[derive(Debug, Default)]
pub(crate) struct QuantityNames(Vec<String>);

impl QuantityNames {
    /// Returns the number of a name.
    pub(crate) fn number(&mut self, name: &str) -> usize {
        self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }

    /// Returns the names in the order of their numbers.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.0
    }
}

/// The last value of each quantity that one flow's algorithms reported in the current interval.
#[derive(Debug, Default)]
pub(crate) struct LastValues(Vec<(usize, f64)>);

impl LastValues {
    /// Records the current value of a quantity, given by number.
    pub(crate) fn set(&mut self, quantity: usize, value: f64) {
        match self.0.iter_mut().find(|(known, _)| *known == quantity) {
            Some((_, last)) => *last = value,
            None => self.0.push((quantity, value)),
        }
    }

    /// Returns the reported values and starts a new interval.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (usize, f64)> {
        self.0.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_index_and_the_last_value() {
        let mut names = QuantityNames::default();
        let (first, second) = (names.number("w_max"), names.number("x1"));
        assert_eq!((first, second, names.number("w_max")), (0, 1, 0));
        let mut values = LastValues::default();
        values.set(second, 1.0);
        values.set(first, 2.0);
        values.set(second, 3.0);
        assert_eq!(values.drain().collect::<Vec<_>>(), [(1, 3.0), (0, 2.0)]);
        assert_eq!(values.drain().count(), 0);
        assert_eq!(names.into_names(), ["w_max", "x1"]);
    }
}
