//! US Census 1990: persons, with 68 coded answers each and a case number, which is the unit key.
//!
//! The whole set has 2,458,285 rows; a folder of real rows holds its first lines or all of it. Rows that are asked for beyond those are synthetic: each
//! column is drawn from its frequencies, by itself, with a fixed seed. That keeps the sizes of the rows and the numbers of duplicates, not what the
//! answers have to do with each other.

use std::path::Path;

use anyhow::Result;

use super::{Rows, read};
use crate::random::Random;

/// The census, or what was asked for of it.
pub struct Census90 {
    /// A sentence for the user: real rows, or a stand-in.
    pub source: String,
    /// In the order of loading.
    pub rows: Rows,
}

/// The names that the file goes by: the first lines, and the whole set as it is downloaded.
const FILES: [&str; 3] = ["USCensus1990.data.txt", "USCensus1990.csv", "USCensus1990.head.csv"];

/// The case number of the first person.
const FIRST_CASE: u64 = 10_000;

impl Census90 {
    /// The first `count` rows: those of `data/census90`, where it's given, then synthetic ones.
    ///
    /// # Errors
    /// When the folder has no file of the set, or the file isn't what it should be.
    pub fn load(data: Option<&Path>, count: usize) -> Result<Census90> {
        let Some(data) = data else {
            let mut rows = Rows::default();
            draw(&mut rows, count);
            let source = "synthetic rows: each of the 68 columns of US Census 1990 drawn from its frequencies, with a fixed seed; --data DIR loads real ones";
            return Ok(Census90 { source: source.to_owned(), rows });
        };
        let folder = data.join("census90");
        let path = FILES
            .iter()
            .map(|name| folder.join(name))
            .find(|path| path.exists())
            .unwrap_or_else(|| folder.join(FILES[2]));
        let mut rows = read(&path, b',', count)?;
        let real = rows.len();
        draw(&mut rows, count);
        let source = if real == count {
            format!("real rows from {}", path.display())
        } else {
            let synthetic = count - real;
            format!(
                "{real} real rows from {}, and {synthetic} synthetic ones, each column drawn from its frequencies",
                path.display()
            )
        };
        Ok(Census90 { source, rows })
    }
}

/// Adds synthetic rows until there are `count`.
fn draw(rows: &mut Rows, count: usize) {
    let columns: Vec<Vec<String>> = FREQUENCIES.lines().map(answers).collect();
    let mut random = Random::new(1990);
    let mut object = Vec::new();
    for row in rows.len()..count {
        let case = (FIRST_CASE + row as u64).to_string();
        object.clear();
        object.extend_from_slice(b"{\"caseid\":");
        object.extend_from_slice(case.as_bytes());
        for answers in &columns {
            object.extend_from_slice(random.pick(answers).as_bytes());
        }
        object.push(b'}');
        rows.push(case.as_bytes(), &object);
    }
}

/// A line of [`FREQUENCIES`] as the pieces of JSON to pick from, each as often as its frequency says.
fn answers(line: &str) -> Vec<String> {
    let mut words = line.split_whitespace();
    let column = words.next().unwrap_or_default();
    words
        .filter_map(|word| word.split_once(':'))
        .flat_map(|(value, times)| {
            let piece = format!(",\"{column}\":{value}");
            std::iter::repeat_n(piece, times.parse().unwrap_or(0))
        })
        .collect()
}

/// A column a line: its name, then each value with how many of the set's first 99 persons have it.
const FREQUENCIES: &str = "\
dAge 1:20 2:4 3:16 4:21 5:12 6:13 7:13
dAncstry1 0:10 1:55 2:4 3:5 8:1 9:5 10:1 11:18
dAncstry2 1:65 2:29 3:2 12:3
iAvail 0:96 3:1 4:2
iCitizen 0:93 3:2 4:4
iClass 0:39 1:37 2:3 3:4 4:3 5:5 6:3 7:5
dDepart 0:56 1:2 2:6 3:17 4:10 5:8
iDisabl1 0:23 1:7 2:69
iDisabl2 0:23 1:5 2:71
iEnglish 0:90 1:6 2:1 3:2
iFeb55 0:98 1:1
iFertil 0:53 1:15 2:6 3:13 4:5 5:4 6:2 7:1
dHispanic 0:98 1:1
dHour89 0:43 1:7 2:4 3:31 4:5 5:9
dHours 0:53 1:6 2:7 3:19 4:3 5:11
iImmigr 0:93 1:2 3:1 5:2 8:1
dIncome1 0:45 1:25 2:16 3:13
dIncome2 0:94 1:5
dIncome3 0:97 1:2
dIncome4 0:78 1:21
dIncome5 0:85 1:14
dIncome6 0:91 1:8
dIncome7 0:97 1:2
dIncome8 0:94 1:5
dIndustry 0:39 1:3 3:4 4:10 5:8 6:2 7:7 8:6 9:13 10:7
iKorean 0:97 1:2
iLang1 0:6 1:9 2:84
iLooking 0:70 1:2 2:27
iMarital 0:48 1:6 2:7 3:2 4:36
iMay75880 0:98 1:1
iMeans 0:53 1:37 2:1 4:1 10:4 11:3
iMilitary 0:23 2:12 3:3 4:61
iMobility 0:6 1:60 2:33
iMobillim 0:22 1:4 2:73
dOccup 0:39 1:15 2:24 3:9 4:2 5:2 6:8
iOthrserv 0:99
iPerscare 0:22 1:4 2:73
dPOB 0:93 3:4 4:1 6:1
dPoverty 0:2 1:9 2:88
dPwgt1 0:16 1:63 2:19 3:1
iRagechld 0:45 1:3 2:12 3:3 4:36
dRearning 0:43 2:25 3:16 4:13 5:2
iRelat1 0:33 1:27 2:27 3:1 4:1 7:1 9:4 10:2 11:1 12:1 13:1
iRelat2 0:98 6:1
iRemplpar 0:75 111:10 112:4 121:6 122:2 211:1 222:1
iRiders 0:62 1:32 2:3 3:1 4:1
iRlabor 0:23 1:46 3:4 6:26
iRownchld 0:75 1:24
dRpincome 0:28 2:38 3:16 4:13 5:4
iRPOB 10:61 21:8 22:11 23:7 24:6 51:2 52:4
iRrelchld 0:75 1:24
iRspouse 0:22 1:47 2:1 3:6 4:7 5:2 6:14
iRvetserv 0:87 1:1 3:1 4:4 7:1 8:2 10:3
iSchool 0:3 1:72 2:20 3:4
iSept80 0:97 1:2
iSex 0:45 1:54
iSubfam1 0:98 2:1
iSubfam2 0:98 1:1
iTmpabsnt 0:70 1:4 3:25
dTravtime 0:56 1:10 2:4 3:7 4:10 5:11 6:1
iVietnam 0:95 1:4
dWeek89 0:43 1:21 2:35
iWork89 0:23 1:56 2:20
iWorklwk 0:22 1:45 2:32
iWWII 0:96 1:3
iYearsch 0:3 1:4 2:2 4:10 5:12 6:3 7:2 8:4 9:1 10:27 11:17 12:1 13:3 14:7 15:3
iYearwrk 0:23 1:50 2:7 3:1 4:2 6:10 7:6
dYrsserv 0:87 1:11 2:1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_frequencies() {
        assert_eq!(FREQUENCIES.lines().count(), 68);
        for line in FREQUENCIES.lines() {
            assert_eq!(answers(line).len(), 99, "{line}");
        }
    }

    #[test]
    fn synthetic_rows_are_named_so_and_always_the_same() {
        let [a, b] = [100, 200].map(|count| Census90::load(None, count).unwrap());
        assert!(a.source.contains("synthetic"));
        assert_eq!((a.rows.len(), b.rows.len()), (100, 200));
        assert!(a.rows.iter().eq(b.rows.iter().take(100)));
        let (key, object) = a.rows.get(99);
        assert_eq!(key, b"10099");
        let object: serde_json::Value = serde_json::from_slice(object).unwrap();
        assert_eq!(object.as_object().unwrap().len(), 69);
        assert_eq!(object["caseid"], 10_099);
    }

    #[test]
    fn real_rows_come_first_and_the_rest_is_synthetic() {
        let folder = tempfile::tempdir().unwrap();
        let census = folder.path().join("census90");
        std::fs::create_dir(&census).unwrap();
        std::fs::write(census.join(FILES[2]), "caseid,dAge\r\n10000,5\r\n10001,6\r\n").unwrap();
        let set = Census90::load(Some(folder.path()), 3).unwrap();
        assert!(set.source.starts_with("2 real rows") && set.source.contains("1 synthetic"), "{}", set.source);
        assert_eq!(set.rows.get(1), (&b"10001"[..], &br#"{"caseid":10001,"dAge":6}"#[..]));
        assert_eq!(set.rows.get(2).0, b"10002");
        let set = Census90::load(Some(folder.path()), 2).unwrap();
        assert!(set.source.starts_with("real rows"));
        assert!(Census90::load(Some(&census), 2).is_err(), "no such file");
    }
}
