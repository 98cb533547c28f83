//! Two-by-two matrices of a chain with two states, separated by whether an error occurred.

/// Entry `[i][j]` leads from state i to state j; 0 is good, 1 is bad.
pub type Matrix = [[f64; 2]; 2];

/// A number of steps of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// The probabilities of going from one state to the other without any error.
    pub clean: Matrix,
    /// The probabilities of going from one state to the other with at least one error.
    pub damaged: Matrix,
}

impl Steps {
    /// No steps.
    pub const NONE: Self = Self { clean: [[1.0, 0.0], [0.0, 1.0]], damaged: [[0.0; 2]; 2] };

    /// Returns these steps followed by those of `next`. Computed from sums and products of probabilities
    /// only, so that rare errors keep all their digits.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self {
            clean: product(&self.clean, &next.clean),
            damaged: sum(&product(&self.damaged, &next.any()), &product(&self.clean, &next.damaged)),
        }
    }

    /// Returns these steps, repeated `times` times.
    #[must_use]
    pub fn repeated(&self, mut times: u64) -> Self {
        let (mut result, mut square) = (Self::NONE, *self);
        while times > 0 {
            if times & 1 == 1 {
                result = result.then(&square);
            }
            square = square.then(&square);
            times >>= 1;
        }
        result
    }

    /// Returns the probabilities of going from one state to the other.
    pub fn any(&self) -> Matrix {
        sum(&self.clean, &self.damaged)
    }
}

/// Returns the row vector `row` times `matrix`.
pub(crate) fn times(row: [f64; 2], matrix: &Matrix) -> [f64; 2] {
    [row[0] * matrix[0][0] + row[1] * matrix[1][0], row[0] * matrix[0][1] + row[1] * matrix[1][1]]
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    [times(a[0], b), times(a[1], b)]
}

fn sum(a: &Matrix, b: &Matrix) -> Matrix {
    [[a[0][0] + b[0][0], a[0][1] + b[0][1]], [a[1][0] + b[1][0], a[1][1] + b[1][1]]]
}
