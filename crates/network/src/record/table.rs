//! Tables by columns, the output of a run.

use serde::Serialize;

/// A typed column. The values have a fixed width, so the column can be passed on as one buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    I64(Vec<i64>),
    /// Real numbers; NaN if there is no value.
    F64(Vec<f64>),
}

/// A named set of columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The table's name.
    pub name: &'static str,
    /// Names and values, in a fixed order.
    pub columns: Vec<(&'static str, Column)>,
}

impl Column {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Returns whether the column is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    /// Sorts the rows by the time in a column, then by the first column; otherwise the order is kept.
    pub(crate) fn sorted_by(mut self, time: &str) -> Self {
        let times = self.reals(time);
        let firsts = self.columns.first().map_or(&[][..], |(name, _)| self.integers(name));
        let key = |row: usize| (times[row], firsts[row]);
        let order = |one: &usize, other: &usize| {
            let ((time, first), (other_time, other_first)) = (key(*one), key(*other));
            time.total_cmp(&other_time).then(first.cmp(&other_first))
        };
        let mut rows: Vec<usize> = (0..times.len()).collect();
        if rows.is_sorted_by(|one, other| order(one, other).is_le()) {
            return self;
        }
        rows.sort_by(order);
        for (_, column) in &mut self.columns {
            match column {
                Column::I64(values) => *values = rows.iter().map(|&row| values[row]).collect(),
                Column::F64(values) => *values = rows.iter().map(|&row| values[row]).collect(),
            }
        }
        self
    }

    /// Returns the column with that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(given, _)| *given == name).map(|(_, column)| column)
    }

    /// Returns the real numbers in the column with that name; empty if there is no such column.
    pub fn reals(&self, name: &str) -> &[f64] {
        match self.column(name) {
            Some(Column::F64(values)) => values,
            _ => &[],
        }
    }

    /// Returns the integers in the column with that name; empty if there is no such column.
    pub fn integers(&self, name: &str) -> &[i64] {
        match self.column(name) {
            Some(Column::I64(values)) => values,
            _ => &[],
        }
    }
}

impl From<Vec<i64>> for Column {
    fn from(values: Vec<i64>) -> Self {
        Self::I64(values)
    }
}

impl From<Vec<f64>> for Column {
    fn from(values: Vec<f64>) -> Self {
        Self::F64(values)
    }
}

/// The description of a table.
#[derive(Clone, Debug, Serialize)]
pub struct TableDescription {
    /// Its name.
    pub name: &'static str,
    /// Meaning of one row.
    pub rows: &'static str,
    /// Whether the table can be absent from an outcome; results contain it only if it has rows.
    pub optional: bool,
    /// Its columns, in order.
    pub columns: Vec<ColumnDescription>,
}

/// The description of a column.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnDescription {
    /// Its name, ending in the unit if it has one.
    pub name: &'static str,
    /// `i64` or `f64`.
    pub engine_type: &'static str,
    /// Meaning of the column.
    pub description: &'static str,
    /// Kind of its values.
    #[serde(flatten)]
    pub values: Values,
}

/// The kind of the values of a column.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Numbers in this unit, which is empty for plain numbers.
    Unit(&'static str),
    /// Codes: the position of each of these names.
    Names(&'static [&'static str]),
    /// Codes whose names come with each run, in the list of this name.
    NamesOfRun(&'static str),
}

/// Declares a table: a row type, a builder that stores it by columns, and the description of both.
macro_rules! table {
    (
        $(#[doc = $rows:literal])+
        $name:literal, $row:ident, $builder:ident, optional: $optional:literal {
            $($(#[doc = $description:literal])+ $field:ident: $type:ident = $values:expr),+ $(,)?
        }
    ) => {
        $(#[doc = $rows])+
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $row { $($(#[doc = $description])+ pub(crate) $field: $type),+ }

        #[derive(Debug, Default)]
        pub(crate) struct $builder { $($field: Vec<$type>),+ }

        impl $builder {
            pub(crate) fn push(&mut self, row: $row) { $(self.$field.push(row.$field);)+ }

            pub(crate) fn finish(self) -> $crate::record::Table {
                $crate::record::Table {
                    name: $name,
                    columns: vec![$((stringify!($field), self.$field.into())),+],
                }
            }

            fn description() -> $crate::record::TableDescription {
                $crate::record::TableDescription {
                    name: $name,
                    rows: concat!($($rows),+).trim_start(),
                    optional: $optional,
                    columns: vec![$($crate::record::ColumnDescription {
                        name: stringify!($field),
                        engine_type: stringify!($type),
                        description: concat!($($description),+).trim_start(),
                        values: $values,
                    }),+],
                }
            }
        }

        impl FromIterator<$row> for $builder {
            fn from_iter<Rows: IntoIterator<Item = $row>>(rows: Rows) -> Self {
                let rows = rows.into_iter();
                let mut table = Self { $($field: Vec::with_capacity(rows.size_hint().0)),+ };
                rows.for_each(|row| table.push(row));
                table
            }
        }
    };
}
pub(crate) use table;
