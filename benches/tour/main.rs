//! A tour of ImmuxDB: a bank's eight tables in an embedded store, then what a store with history can be asked.
//!
//! `cargo run --release -p immuxdb_benches --example tour -- --data DIR` loads the berka99 tables from `DIR`; without it, a generated stand-in.

#![allow(clippy::print_stdout, reason = "the tour's product is what it prints")]

mod load;
mod show;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use immuxdb_benches::data::berka99::Berka99;
use immuxdb_benches::engine;
use libimmuxdb::{Chain, Content, Durability, Grouping, Height, Scan, StoreOptions, Unit};

use crate::load::Loaded;
use crate::show::{by_field, field, heading, print_units, say, time_text};

/// A tour of ImmuxDB: loads a bank's eight tables, then shows scans by index, the history of a unit, and a read of the past
#[derive(Parser)]
struct Arguments {
    /// Folder with the real rows (`berka99/`); without it, a generated stand-in is loaded
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Directory of the store
    #[arg(long, value_name = "DIR", default_value = "immuxdb-data")]
    store: PathBuf,

    /// At most this many rows of the longest table, trans
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let set = Berka99::load(arguments.data.as_deref(), arguments.rows)?;

    let options = StoreOptions { durability: Durability::Process, ..StoreOptions::default() };
    let store = engine::open(&arguments.store, options)
        .with_context(|| format!("the store {} can't be opened", arguments.store.display()))?;
    let chain = std::sync::Arc::clone(&store.chain);

    heading("Loading a bank");
    say(&format!("Eight tables become eight groupings: {}.", set.source));
    let again = chain.height() > Height::ZERO;
    if again {
        say(&format!(
            "The store {} is there already, at height {}. Each row gets another version; nothing that was written is lost.",
            arguments.store.display(),
            chain.height()
        ));
    }
    let loaded = load::load(&store, &set, again)?;
    loaded.print();

    let bank = Bank { chain: &chain };
    let account = bank.scans()?;
    let (loan, mistake) = bank.history()?;
    bank.past(&loaded)?;

    drop(chain);
    store.drain_and_close()?;
    whats_next(&arguments.store, &account, &loan, mistake);
    Ok(())
}

/// The loaded tables.
struct Bank<'c> {
    chain: &'c std::sync::Arc<Chain>,
}

impl Bank<'_> {
    fn table(&self, name: &str) -> Result<Grouping> {
        Ok(self.chain.grouping(name)?)
    }

    /// Follows a loan to its account, its owner, and its transactions, by indexes. Returns the account.
    fn scans(&self) -> Result<String> {
        heading("Scans by index");
        say("The latest loans, by the index on their date, from its end:");
        let latest: Vec<Unit> =
            self.table("loan")?.scan(Scan::index("date").backward().limit(3))?.collect::<Result<_, _>>()?;
        print_units(&latest, 3);

        let trans = self.table("trans")?;
        let account = self.account_of_a_loan(&trans)?;
        say(&format!(
            "Account {account} has a loan. Who may use it? The index on disp.account_id leads to the clients:"
        ));
        for disp in self.table("disp")?.scan(by_field("account_id", &account)?)? {
            let disp = disp?;
            let client = field(&disp, "client_id").context("a disposition without a client")?;
            let client = self.table("client")?.get(client.as_bytes())?.context("a client is missing")?;
            print_units(&[disp, client], 2);
        }

        let count = trans.count(by_field("account_id", &account)?)?;
        say(&format!(
            "And its transactions: {count} of {}. An index keeps equal values in the order in which they were written; the first three:",
            trans.count(Scan::units())?
        ));
        let first: Vec<Unit> = trans.scan(by_field("account_id", &account)?.limit(3))?.collect::<Result<_, _>>()?;
        print_units(&first, 3);
        Ok(account)
    }

    /// The account of the first loan, by date, that has transactions; or else of the first loan.
    fn account_of_a_loan(&self, trans: &Grouping) -> Result<String> {
        let mut first = None;
        for loan in self.table("loan")?.scan(Scan::index("date"))? {
            let account = field(&loan?, "account_id").context("a loan without an account")?;
            if trans.count(by_field("account_id", &account)?.limit(1))? > 0 {
                return Ok(account);
            }
            first.get_or_insert(account);
        }
        first.context("there is no loan")
    }

    /// Changes a loan, reads it at both heights, and takes the change back. Returns the loan's key, and the height of the change.
    fn history(&self) -> Result<(String, Height)> {
        heading("The history of a unit");
        let loans = self.table("loan")?;
        let loan = self.loan_in_debt(&loans)?;
        let key = String::from_utf8_lossy(&loan.key).into_owned();
        say(&format!("Loan {key} is in debt (status D), as written at height {}:", loan.height));
        print_units(std::slice::from_ref(&loan), 1);

        let text = String::from_utf8_lossy(&loan.content);
        let paid = text.replace(r#""status":"D""#, r#""status":"C""#);
        let changed = loans.put(&loan.key, Content::json(&paid))?.height;
        say(&format!(
            "Now somebody marks it as healthy (status C). That's a new version, at height {changed}. Both can be read:"
        ));
        for height in [loan.height, changed] {
            let unit = self.chain.snapshot_at(height)?.get("loan", &loan.key)?.context("the loan is missing")?;
            let status = field(&unit, "status").unwrap_or_default();
            println!("    at height {height:>7}   status {status}");
        }
        println!();
        let reverted = loans.revert(&loan.key, loan.height)?.height;
        say(&format!(
            "It was a mistake, so the loan is reverted to height {}. That's one more version; the mistake stays on record:",
            loan.height
        ));
        println!("    {:>9}   {:<27}   status", "height", "time (UTC)");
        for version in loans.inspect(&loan.key)?.take(6) {
            let version = version?;
            let mark = if version.height == reverted { "   <- now" } else { "" };
            println!(
                "    {:>9}   {:<27}   {}{mark}",
                version.height.0,
                time_text(version.time),
                show::json_field(&version.content, "status").unwrap_or_default(),
            );
        }
        println!();
        Ok((key, changed))
    }

    fn loan_in_debt(&self, loans: &Grouping) -> Result<Unit> {
        for loan in loans.scan(Scan::units())? {
            let loan = loan?;
            if field(&loan, "status").as_deref() == Some("D") {
                return Ok(loan);
            }
        }
        anyhow::bail!("no loan is in debt")
    }

    /// Reads the whole bank as it was in the middle of loading.
    fn past(&self, loaded: &Loaded) -> Result<()> {
        heading("A read of the past");
        let then = self.chain.snapshot_at(loaded.halfway)?;
        let now = self.chain.snapshot()?;
        say(&format!(
            "A snapshot is a height. This is the bank at height {} ({}), halfway through the last table, beside now{}:",
            then.height(),
            time_text(then.time()?),
            if loaded.again { " (rows of earlier loadings are counted too)" } else { "" }
        ));
        println!("    {:<10}{:>12}{:>12}", "", "then", "now");
        for name in ["account", "loan", "trans"] {
            let [then, now] = [&then, &now].map(|snapshot| snapshot.count(name, Scan::units()));
            println!("    {name:<10}{:>12}{:>12}", then?, now?);
        }
        println!();
        say("The latest transaction of that moment, by the index on the date as it was then:");
        let latest: Vec<Unit> =
            then.scan("trans", Scan::index("date").backward().limit(1))?.collect::<Result<_, _>>()?;
        print_units(&latest, 1);
        Ok(())
    }
}

fn whats_next(store: &Path, account: &str, loan: &str, mistake: Height) {
    heading("What to try next");
    let root =
        if store == Path::new("immuxdb-data") { String::new() } else { format!(" --data-root {}", store.display()) };
    say(&format!("The store stays in {}. The command line works on it:", store.display()));
    println!("    cargo build --release && alias immuxdb=target/release/immuxdb");
    println!("    immuxdb groupings{root}");
    println!("    immuxdb scan trans --index account_id --value {account} --limit 5{root}");
    println!("    immuxdb history loan {loan}{root}");
    println!("    immuxdb get loan {loan} --at {mistake}{root}");
    println!("    immuxdb stats{root}");
    println!();
    say("How fast it is, and that it stays so as it grows: cargo bench --bench census90 -- --rows 1000000 --indexes 3");
}
