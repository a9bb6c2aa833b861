//! The Czech bank: eight tables, each with its unit key in the first column, and indexes on single fields.

use std::path::Path;

use anyhow::Result;

use super::{Rows, berka99_standin, read};

/// A table of the set.
pub struct Table {
    /// The table's name, and the grouping's.
    pub name: &'static str,
    /// The fields that get an index each.
    pub indexes: &'static [&'static str],
    /// The rows, in the order of the file.
    pub rows: Rows,
}

/// The eight tables, or what is asked for of them, and where they come from.
pub struct Berka99 {
    /// A sentence for the user: real rows, or a stand-in.
    pub source: String,
    /// In the order of loading.
    pub tables: Vec<Table>,
}

/// Rows of `trans` in the stand-in, unless another number is asked for: as many as the project's folder of real rows has. The whole table has
/// [`WHOLE_TRANS`].
pub const TRANS: usize = 49_102;
/// Rows of the whole `trans`.
pub const WHOLE_TRANS: usize = 1_056_320;

/// Name, fields with an index.
const TABLES: [(&str, &[&str]); 8] = [
    ("district", &[]),
    ("account", &["district_id", "date"]),
    ("client", &["district_id"]),
    ("disp", &["client_id", "account_id"]),
    ("card", &["disp_id", "issued"]),
    ("loan", &["account_id", "date"]),
    ("order", &["account_id"]),
    ("trans", &["account_id", "date"]),
];

impl Berka99 {
    /// Reads the tables in `data/berka99`, or makes the stand-in when `data` is `None`. `trans` bounds the rows of that table, which is by far the longest.
    ///
    /// # Errors
    /// When a file is missing or isn't what it should be.
    pub fn load(data: Option<&Path>, trans: Option<usize>) -> Result<Berka99> {
        let mut tables = Vec::with_capacity(TABLES.len());
        let source = if let Some(data) = data {
            let folder = data.join("berka99");
            for (name, indexes) in TABLES {
                let limit = trans.filter(|_| name == "trans").unwrap_or(usize::MAX);
                let rows = read(&folder.join(format!("{name}.asc")), b';', limit)?;
                tables.push(Table { name, indexes, rows });
            }
            format!("real rows from {}", folder.display())
        } else {
            for (name, indexes) in TABLES {
                let rows = berka99_standin::table(name, trans.unwrap_or(TRANS));
                tables.push(Table { name, indexes, rows });
            }
            "a generated stand-in for the berka99 tables (same columns and numbers of rows, invented values); --data DIR loads real ones".to_owned()
        };
        Ok(Berka99 { source, tables })
    }

    /// The rows of all tables.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.tables.iter().map(|table| table.rows.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    use super::*;

    fn object(row: (&[u8], &[u8])) -> Value {
        serde_json::from_slice(row.1).unwrap()
    }

    #[test]
    fn the_stand_in_has_the_tables_columns_and_rows() {
        let set = Berka99::load(None, Some(2_000)).unwrap();
        let expected = [
            ("district", 16, 77),
            ("account", 4, 4_500),
            ("client", 3, 5_369),
            ("disp", 4, 5_369),
            ("card", 4, 892),
            ("loan", 7, 682),
            ("order", 6, 6_471),
            ("trans", 10, 2_000),
        ];
        for (table, (name, columns, rows)) in set.tables.iter().zip(expected) {
            assert_eq!(table.name, name);
            assert_eq!(table.rows.len(), rows, "{name}");
            let keys: HashSet<_> = table.rows.iter().map(|row| row.0).collect();
            assert_eq!(keys.len(), rows, "{name}: unit keys are unique");
            for row in table.rows.iter() {
                let object = object(row);
                let fields = object.as_object().unwrap();
                assert_eq!(fields.len(), columns, "{name}");
                for index in table.indexes {
                    assert!(fields.contains_key(*index), "{name}.{index}");
                }
            }
        }
    }

    #[test]
    fn the_stand_in_is_the_same_each_time() {
        let [a, b] = [1, 2].map(|_| Berka99::load(None, Some(100)).unwrap());
        for (a, b) in a.tables.iter().zip(&b.tables) {
            assert!(a.rows.iter().eq(b.rows.iter()), "{}", a.name);
        }
        let longer = Berka99::load(None, Some(200)).unwrap();
        let (shorter, longer) = (&a.tables[7].rows, &longer.tables[7].rows);
        assert!(shorter.iter().eq(longer.iter().take(100)), "a longer trans goes on from a shorter one");
    }

    #[test]
    fn the_stand_in_keeps_the_known_traits() {
        let set = Berka99::load(None, Some(5_000)).unwrap();
        let table = |name| &set.tables.iter().find(|t| t.name == name).unwrap().rows;
        let unknown =
            table("district").iter().filter(|row| object(*row).as_object().unwrap().values().any(|v| v == "?"));
        assert_eq!(unknown.count(), 1);
        let women = table("client").iter().filter(|row| {
            let birth = &object(*row)["birth_number"];
            let digits = birth.as_str().map_or_else(|| birth.to_string(), str::to_owned);
            (51..=62).contains(&digits[2..4].parse::<u32>().unwrap())
        });
        assert!((2_400..2_900).contains(&women.count()));
        let dates: Vec<_> = table("trans").iter().map(|row| object(row)["date"].as_u64().unwrap()).collect();
        assert!(dates.is_sorted(), "trans is in the order of its dates");
        assert_eq!(dates[0], 930_101);
        assert!(object(table("card").get(0))["issued"].as_str().unwrap().ends_with(" 00:00:00"));
    }
}
