//! A stand-in for the berka99 tables: the same columns, numbers of rows and traits, with invented values that fit each other. Dates are YYMMDD, a woman's
//! birth number has 50 added to its month, one district has unknown values, accounts of the transactions keep their balances.

use std::fmt::Write as _;

use jiff::ToSpan as _;
use jiff::civil::{Date, date};

use super::Rows;
use super::berka99::WHOLE_TRANS;
use super::table::Table;
use crate::random::Random;

const DISTRICTS: u64 = 77;
const ACCOUNTS: u64 = 4_500;
const CLIENTS: u64 = 5_369;
const CARDS: u64 = 892;
const LOANS: u64 = 682;
const ORDERS: u64 = 6_471;

/// The first day of the bank's records, and the days until their last.
const FIRST_DAY: Date = date(1993, 1, 1);
const DAYS: u64 = 2_190;

const BANKS: [&str; 13] = ["AB", "CD", "EF", "GH", "IJ", "KL", "MN", "OP", "QR", "ST", "UV", "WX", "YZ"];

/// The rows of a table. `trans` is the length of that table.
pub(super) fn table(name: &str, trans: usize) -> Rows {
    match name {
        "district" => district(),
        "account" => account(),
        "client" => client(),
        "disp" => disp(),
        "card" => card(),
        "loan" => loan(),
        "order" => order(),
        "trans" => self::trans(trans),
        _ => unreachable!("the set has eight tables, and {name} is none of them"),
    }
}

/// Makes a table: a header, and a closure that writes the cells of row 0, 1, 2 …
fn make(header: &str, rows: u64, seed: u64, mut cells: impl FnMut(u64, &mut Random, &mut String)) -> Rows {
    let mut table = Table::new(header.split(';'));
    let mut random = Random::new(seed);
    let mut line = String::new();
    for row in 0..rows {
        line.clear();
        cells(row, &mut random, &mut line);
        table.push(line.split(';'));
    }
    table.into_rows()
}

/// Writes into a line of text, which can't fail.
macro_rules! cells {
    ($line:expr, $($format:tt)*) => {
        let _ = write!($line, $($format)*);
    };
}

fn day(number: u64) -> String {
    FIRST_DAY.saturating_add((number as i64).days()).strftime("%y%m%d").to_string()
}

/// Prague is by far the largest; the rest is about equal.
fn some_district(random: &mut Random) -> u64 {
    if random.chance(1, 8) { 1 } else { random.between(1, DISTRICTS) }
}

/// The identifiers of accounts, clients and dispositions have gaps, as in the original.
fn spread_id(number: u64) -> u64 {
    number + 1 + number / 4 * 3 / 2
}

fn district() -> Rows {
    const REGIONS: [&str; 8] = [
        "Prague",
        "central Bohemia",
        "south Bohemia",
        "west Bohemia",
        "north Bohemia",
        "east Bohemia",
        "south Moravia",
        "north Moravia",
    ];
    const HEADER: &str = "A1;A2;A3;A4;A5;A6;A7;A8;A9;A10;A11;A12;A13;A14;A15;A16";
    make(HEADER, DISTRICTS, 1, |row, random, line| {
        let region = REGIONS[if row == 0 { 0 } else { 1 + row as usize * 7 / 77 }.min(7)];
        let people = random.between(40_000, 330_000);
        let crimes = people / random.between(25, 60);
        // One district doesn't know its figures for 1995.
        let known = row != 68;
        cells!(line, "{};Okres {};{region};{people}", row + 1, row + 1);
        cells!(line, ";{};{};{}", random.below(152), random.below(71), random.below(21));
        cells!(line, ";{};{}", random.below(6), random.between(1, 11));
        cells!(line, ";{}.{};{}", random.between(33, 99), random.below(10), random.between(8_110, 12_541));
        if known {
            cells!(line, ";{}.{:02}", random.below(7), random.below(100));
        } else {
            line.push_str(";?");
        }
        cells!(line, ";{}.{:02};{}", random.below(9), random.below(100), random.between(81, 167));
        if known {
            cells!(line, ";{crimes}");
        } else {
            line.push_str(";?");
        }
        cells!(line, ";{}", crimes + random.below(400));
    })
}

fn account() -> Rows {
    const HEADER: &str = "account_id;district_id;frequency;date";
    make(HEADER, ACCOUNTS, 2, |row, random, line| {
        let frequency =
            random.pick_weighted(&[("POPLATEK MESICNE", 4_167), ("POPLATEK TYDNE", 240), ("POPLATEK PO OBRATU", 93)]);
        let opened = day(row * 1_820 / ACCOUNTS);
        // The table is in the order of opening, not of identifiers.
        let id = spread_id(row * 1_667 % ACCOUNTS);
        cells!(line, "{id};{};{frequency};{opened}", some_district(random));
    })
}

fn client() -> Rows {
    const HEADER: &str = "client_id;birth_number;district_id";
    make(HEADER, CLIENTS, 3, |row, random, line| {
        let woman = random.chance(49, 100);
        let month = random.between(1, 12) + if woman { 50 } else { 0 };
        let (year, day) = (random.between(11, 87), random.between(1, 28));
        cells!(line, "{};{year:02}{month:02}{day:02};{}", spread_id(row), some_district(random));
    })
}

fn disp() -> Rows {
    const HEADER: &str = "disp_id;client_id;account_id;type";
    make(HEADER, CLIENTS, 4, |row, random, line| {
        let id = spread_id(row);
        let (account, kind) =
            if row < ACCOUNTS { (spread_id(row), "OWNER") } else { (spread_id(random.below(ACCOUNTS)), "DISPONENT") };
        cells!(line, "{id};{id};{account};{kind}");
    })
}

fn card() -> Rows {
    const HEADER: &str = "card_id;disp_id;type;issued";
    make(HEADER, CARDS, 5, |row, random, line| {
        let kind = random.pick_weighted(&[("classic", 659), ("junior", 145), ("gold", 88)]);
        let issued = day(310 + row * (DAYS - 312) / CARDS);
        let holder = spread_id(row * 1_153 % ACCOUNTS);
        cells!(line, "{};{holder};{kind};{issued} 00:00:00", row + 1 + row / 3);
    })
}

fn loan() -> Rows {
    const HEADER: &str = "loan_id;account_id;date;amount;duration;payments;status";
    make(HEADER, LOANS, 6, |row, random, line| {
        let months = *random.pick(&[12, 24, 36, 48, 60]);
        let payment = random.between(304, 9_910);
        let status = random.pick_weighted(&[("C", 403), ("A", 203), ("D", 45), ("B", 31)]);
        let account = spread_id(row * 1_931 % ACCOUNTS);
        let granted = day(185 + row * (DAYS - 210) / LOANS);
        cells!(line, "{};{account};{granted}", 4_959 + row * 3);
        cells!(line, ";{};{months};{payment}.00;{status}", payment * months);
    })
}

fn order() -> Rows {
    const HEADER: &str = "order_id;account_id;bank_to;account_to;amount;k_symbol";
    make(HEADER, ORDERS, 7, |row, random, line| {
        let purpose =
            random.pick_weighted(&[("SIPO", 3_502), (" ", 1_379), ("UVER", 717), ("POJISTNE", 532), ("LEASING", 341)]);
        let account = spread_id(row * 3_758 / ORDERS * ACCOUNTS / 3_758);
        cells!(line, "{};{account};{}", 29_401 + row * 13 / 5, random.pick(&BANKS));
        cells!(line, ";{};{}.{}0", random.between(399, 99_994_199), random.between(1, 14_881), random.below(10));
        cells!(line, ";{purpose}");
    })
}

fn trans(rows: usize) -> Rows {
    const HEADER: &str = "trans_id;account_id;date;type;operation;amount;balance;k_symbol;bank;account";
    let whole = rows.max(WHOLE_TRANS) as f64;
    let dates: Vec<String> = (0..=DAYS).map(day).collect();
    let mut balances = vec![0u64; ACCOUNTS as usize];
    let identifiers = Identifiers::new(rows);
    make(HEADER, rows as u64, 8, |row, random, line| {
        // Accounts are opened over the years, so the transactions of a day become more and more.
        let passed = (row as f64 / whole).sqrt();
        let date = &dates[(passed * DAYS as f64) as usize];
        let open = (1_000.0 + passed * (ACCOUNTS - 1_000) as f64) as u64;
        let account = random.below(open);
        let balance = &mut balances[account as usize];
        // In hundredths of a crown, as tenths are the smallest coin.
        let amount = {
            let most = 1 << random.between(3, 18);
            random.between(1, most) * 10
        };
        let paid_in = *balance < amount + 20_000 || random.chance(3, 10);
        *balance = if paid_in { *balance + amount } else { *balance - amount };
        let (kind, operation, purpose) = if paid_in {
            *random.pick_weighted(&[
                (("PRIJEM", "VKLAD", ""), 9_759),
                (("PRIJEM", "", "UROK"), 9_463),
                (("PRIJEM", "PREVOD Z UCTU", "DUCHOD"), 1_770),
                (("PRIJEM", "PREVOD Z UCTU", ""), 2_002),
            ])
        } else {
            *random.pick_weighted(&[
                (("VYDAJ", "VYBER", ""), 12_900),
                (("VYDAJ", "VYBER", "SLUZBY"), 5_445),
                (("VYDAJ", "PREVOD NA UCET", "SIPO"), 3_719),
                (("VYDAJ", "PREVOD NA UCET", " "), 1_677),
                (("VYDAJ", "PREVOD NA UCET", "POJISTNE"), 644),
                (("VYDAJ", "PREVOD NA UCET", "UVER"), 123),
                (("VYDAJ", "VYBER", "SANKC. UROK"), 64),
                (("VYBER", "VYBER", ""), 651),
            ])
        };
        cells!(line, "{};{};{date};{kind};{operation}", identifiers.get(row), spread_id(account));
        cells!(line, ";{}.{:02};{}.{:02};{purpose}", amount / 100, amount % 100, *balance / 100, *balance % 100);
        if operation.starts_with("PREVOD") {
            cells!(line, ";{};{}", random.pick(&BANKS), random.between(399, 99_994_199));
        } else {
            line.push_str(";;");
        }
    })
}

/// Transactions are not numbered in the order of their dates: a walk through all numbers with a stride that has no divisor in common with their count.
struct Identifiers {
    count: u64,
    stride: u64,
}

impl Identifiers {
    fn new(rows: usize) -> Identifiers {
        // The original numbers leave gaps: 3,682,987 for 1,056,320 rows.
        let count = (rows.max(WHOLE_TRANS) as u64) * 3_682_987 / WHOLE_TRANS as u64;
        let mut stride = count * 618 / 1_000;
        while common_divisor(stride, count) > 1 {
            stride += 1;
        }
        Identifiers { count, stride }
    }

    fn get(&self, row: u64) -> u64 {
        1 + (u128::from(row) * u128::from(self.stride) % u128::from(self.count)) as u64
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
